"""Judge the claims of claims.yaml on a study."""

import pandas as pd

from heuristic_core.config.claims import Claim
from heuristic_core.experiments.subnetworks.analysis import (  # noqa: F401  importing a module registers its statistics
    statistics_accuracy,
    statistics_completeness,
    statistics_further_runs,
    statistics_heads,
    statistics_learned_masks,
    statistics_overlap,
    statistics_preconditions,
    statistics_single_heads,
    statistics_sizes,
    statistics_sparsity,
    statistics_spread,
    statistics_subcases,
)
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence, list_runs, select_run
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.stats.judging import check_claims, judge
from heuristic_core.stats.seeds import FINE_TUNING_SEEDS


def judge_claims(context: Context, tables: dict[str, pd.DataFrame], claims: list[Claim]) -> pd.DataFrame:
    """Compute table "claims": a row for each claim over the study, and one for each claim and fine-tuning run.

    Args:
        context: Facts about the study.
        tables: Tables of the study by schema name.
        claims: Claims of claims.yaml.

    Raises:
        InputError: If a claim names an unknown statistic, or an option that its statistic lacks.
    """
    check_claims(claims)
    identities = list_runs(tables)
    evidence = [Evidence(context, select_run(tables, run)) for run in identities]
    unit = f"{FINE_TUNING_SEEDS} of one pre-trained model"  # the verdict of all is of this model alone
    return judge(claims, evidence, identities[0] | {"ft_seed": None}, identities, unit)
