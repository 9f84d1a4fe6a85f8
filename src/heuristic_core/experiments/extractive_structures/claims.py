"""The claims of the extractive-structures paper, judged on a study over its seeds."""

from heuristic_core.experiments.extractive_structures import (  # noqa: F401  importing registers the statistics
    statistics,
    statistics_sharing,
)
from heuristic_core.experiments.extractive_structures.evidence import Evidence
from heuristic_core.study.claims import make_judge

CLAIM_LABELS = {"model": "language model", "task": "implications of facts", "ft_seed": None}
judge_claims = make_judge(Evidence, CLAIM_LABELS)
