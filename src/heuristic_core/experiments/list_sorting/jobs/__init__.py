"""The functions behind the scripts of list sorting, from files to files."""
