"""Pages for reading in a browser: the report of one study, and the comparison of two. One file each, no network."""
