"""The claims of the list-sorting paper, judged on a study over its training seeds."""

from heuristic_core.experiments.list_sorting import (  # noqa: F401  each registers its statistics
    statistics_ablation,
    statistics_llc,
    statistics_modes,
)
from heuristic_core.experiments.list_sorting.evidence import Evidence
from heuristic_core.study.claims import make_judge

MODEL_COLUMNS = {"model": "one-layer transformer", "task": "sorting of lists", "ft_seed": None}
judge_claims = make_judge(Evidence, MODEL_COLUMNS)
