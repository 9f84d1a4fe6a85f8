"""The claims of the extractive-structures paper, judged on a study over its seeds."""

import pandas as pd

from heuristic_core.analysis.judging import check, judge
from heuristic_core.analysis.training_seeds import SEEDS
from heuristic_core.config.claims import Claim
from heuristic_core.experiments.extractive_structures import (  # noqa: F401  each registers its statistics
    statistics,
    statistics_sharing,
)
from heuristic_core.experiments.extractive_structures.evidence import Evidence

NAMED = {"model": "language model", "task": "implications of facts", "ft_seed": None}


def claims(study: str, tables: dict[str, pd.DataFrame], stated: list[Claim]) -> pd.DataFrame:
    """Table "claims": a row for each claim. Statistics are over seeds already, so that no seed has its own.

    study: its name. tables: pandas frames by schema name. stated: the claims of claims.yaml.
    Raises InputError on an unknown statistic, and on options that a statistic does not have.
    """
    check(stated)
    return judge(stated, [Evidence(tables)], {"study": study} | NAMED, [], SEEDS)
