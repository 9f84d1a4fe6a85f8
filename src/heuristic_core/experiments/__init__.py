"""Experiments: each a folder with what belongs to it alone."""
