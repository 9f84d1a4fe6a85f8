"""How a transformer of one attention layer comes to sort lists (after Urdshals and Urdshals, arXiv 2501.18666)."""

from heuristic_core.experiments.list_sorting import tables  # noqa: F401  registers the schemas
