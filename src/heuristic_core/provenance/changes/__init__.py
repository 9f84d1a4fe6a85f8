"""Reasons why jobs would run, for `make changes`."""
