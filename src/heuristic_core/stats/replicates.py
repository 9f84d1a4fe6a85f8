"""Count the training seeds on which a claim holds, over studies that differ only in their pre-trained model."""

from collections.abc import Sequence
from functools import cache

import pandas as pd
import scipy  # loads scipy.stats on first use, as in `seeds`

from heuristic_core.stats.estimates import DOES_NOT_APPLY, NOT_RUN, TOO_FEW
from heuristic_core.stats.frames import make_frame
from heuristic_core.stats.verdicts import CONTRADICTED, SUPPORTED, is_test


@cache
def compute_share_interval(holding: int, total: int) -> tuple[float, float]:
    """Compute the 95 % interval of the share of seeds on which a claim holds (Clopper and Pearson 1934).

    Seeds of the same pre-trained model may be more alike than seeds of different models. The interval is nevertheless
    valid for the mean share of these models: a sum of Bernoulli variables with different probabilities varies less than
    one whose probabilities all equal their mean (Hoeffding 1956). It does not generalise to other models.

    Args:
        holding: Number of seeds on which the claim holds.
        total: Number of seeds.

    Returns:
        Lower and upper end, 0-1.
    """
    ends = scipy.stats.binomtest(holding, total).proportion_ci(0.95, method="exact")
    return float(ends.low), float(ends.high)


def count_replicates(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Compute table "replicates" from table "claims" of each study.

    `seeds` excludes seeds to which a claim does not apply, that did not run what it needs, or that have too few runs,
    sets or heads to decide it. It includes seeds whose verdict is "not clear" or "failed runs". Claims that are not
    tests also get the mean over models of each model's mean over seeds, and the lowest and highest of these model
    means.

    Args:
        tables: Table "claims" of each study. Studies have different pre-trained models and the same claims.
    """
    rows = []
    for claim, claim_rows in pd.concat(tables, keys=range(len(tables)), names=["model"]).groupby("claim", sort=False):
        models = [part for _, part in claim_rows.groupby(level="model")]
        applicable = [_seed_rows(part) for part in models]
        claim_seeds = pd.concat(applicable)
        seeds = [part[part["verdict"] != TOO_FEW] for part in applicable]
        counted = pd.concat(seeds)
        holding = int((counted["verdict"] == SUPPORTED).sum())
        fields = claim_rows.iloc[0][["sentence", "paper", "family", "threshold"]].to_dict()
        row = {"claim": claim, **fields, "models": len(models), "seeds": len(counted), "supported": holding}
        row["too_few"] = int((claim_seeds["verdict"] == TOO_FEW).sum())
        row["contradicted"] = int((counted["verdict"] == CONTRADICTED).sum())
        row["by_model"] = ", ".join(f"{(part['verdict'] == SUPPORTED).sum()} of {len(part)}" for part in seeds)
        if len(counted):
            row["low"], row["high"] = compute_share_interval(holding, len(counted))
        if not is_test(fields["threshold"]):
            means = [part["estimate"].mean() for part in seeds if part["estimate"].notna().any()]
            if means:
                row |= {"mean": sum(means) / len(means), "mean_lowest": min(means), "mean_highest": max(means)}
        rows.append(row)
    return make_frame("replicates", rows)


def _seed_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of seeds that the claim applies to and that ran; a study of one seed has only its overall row."""
    seeds = rows[rows["ft_seed"].notna()] if rows["ft_seed"].notna().any() else rows
    return seeds[~seeds["verdict"].isin([DOES_NOT_APPLY, NOT_RUN])]
