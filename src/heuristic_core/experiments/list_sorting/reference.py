"""Text of the page about the settings: see :mod:`heuristic_core.config.reference`."""

from heuristic_core.config.reference import ReferencePage
from heuristic_core.experiments.list_sorting.study import SortingStudy

HEAD = """# Settings of list sorting

This page is written by `make docs` from the pydantic models of the experiment and of the library. Do not edit it.
What a file of a study is, what *none* and `required` mean and how files override each other is in the
[configuration reference](configuration.md).
[List sorting](list-sorting.md) has the measures that the settings are of.
"""
REFERENCE = ReferencePage("configuration-list-sorting.md", HEAD, SortingStudy)
