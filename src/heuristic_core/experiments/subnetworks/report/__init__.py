"""The report of a study, and the comparison of two studies."""
