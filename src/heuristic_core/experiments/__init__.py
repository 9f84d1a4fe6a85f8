"""Experiments: each folder is one, with its settings, data, models and measures on the shared library."""
