"""HTML pages: the report of one study, and the comparison of two. Each is one file that needs no network."""
