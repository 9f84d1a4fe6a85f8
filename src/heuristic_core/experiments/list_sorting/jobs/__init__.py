"""Functions behind the scripts of this experiment, from files to files."""
