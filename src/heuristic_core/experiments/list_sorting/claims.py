"""Judge the claims of the list-sorting paper on a study, over its training seeds."""

import pandas as pd

from heuristic_core.config.claims import Claim
from heuristic_core.experiments.list_sorting import (  # noqa: F401  each registers its statistics
    statistics_ablation,
    statistics_llc,
    statistics_modes,
)
from heuristic_core.experiments.list_sorting.evidence import Evidence
from heuristic_core.stats.judging import check_claims, judge
from heuristic_core.stats.training_seeds import TRAINING_SEEDS

MODEL_COLUMNS = {"model": "one-layer transformer", "task": "sorting of lists", "ft_seed": None}


def judge_claims(study: str, tables: dict[str, pd.DataFrame], stated: list[Claim]) -> pd.DataFrame:
    """Return table "claims" with a row for each claim.

    Statistics are over training seeds, so no seed has a row.

    Args:
        study: Name of the study.
        tables: Frames by schema name.
        stated: The claims of claims.yaml.

    Raises:
        InputError: A statistic is unknown, or lacks an option.
    """
    check_claims(stated)
    return judge(stated, [Evidence(tables)], {"study": study} | MODEL_COLUMNS, [], TRAINING_SEEDS)
