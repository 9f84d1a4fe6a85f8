"""Squares of integers: the smallest experiment."""

from heuristic_core.experiments.made import tables  # noqa: F401  registers the schemas
