"""Which components of a language model store, query and extract a fact.

After Feng, Russell and Steinhardt, arXiv 2412.04614.
"""

from heuristic_core.experiments.extractive_structures import tables  # noqa: F401  registers the schemas
