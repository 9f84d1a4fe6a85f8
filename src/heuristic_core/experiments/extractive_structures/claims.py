"""The claims of the extractive-structures paper, judged on a study over its seeds."""

import pandas as pd

from heuristic_core.config.claims import Claim
from heuristic_core.experiments.extractive_structures import (  # noqa: F401  importing registers the statistics
    statistics,
    statistics_sharing,
)
from heuristic_core.experiments.extractive_structures.evidence import Evidence
from heuristic_core.stats.judging import check_claims, judge
from heuristic_core.stats.training_seeds import TRAINING_SEEDS

CLAIM_LABELS = {"model": "language model", "task": "implications of facts", "ft_seed": None}


def judge_claims(study: str, tables: dict[str, pd.DataFrame], stated: list[Claim]) -> pd.DataFrame:
    """Judge all claims and return table "claims", one row for each claim.

    There are no rows for single seeds, because each statistic is computed over seeds.

    Args:
        study: Name of the study.
        tables: The study's tables by schema name.
        stated: The claims of claims.yaml.

    Raises:
        InputError: On an unknown statistic, or on an option that a statistic lacks.
    """
    check_claims(stated)
    return judge(stated, [Evidence(tables)], {"study": study} | CLAIM_LABELS, [], TRAINING_SEEDS)
