"""What experiments are built from: an experiment, its tables, its figures and printed tables, and their paths."""
