"""Which heads subnetworks of fine-tuned language models share, and how they generalise (Bhaskar et al., ACL 2024)."""

from heuristic_core.experiments.subnetworks.tables import schemas  # noqa: F401  registers the schemas

PAPER = "arXiv:2403.03942"
