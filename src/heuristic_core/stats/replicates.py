"""On how many training seeds a claim holds, over studies that differ in their pre-trained model alone."""

from collections.abc import Sequence

import pandas as pd
import scipy  # loads scipy.stats where it is used, as in `seeds`

from heuristic_core.stats.estimates import DOES_NOT_APPLY, NOT_RUN, TOO_FEW
from heuristic_core.stats.frames import make_frame
from heuristic_core.stats.verdicts import CONTRADICTED, SUPPORTED, is_test


def compute_share_interval(holding: int, of: int) -> tuple[float, float]:
    """The 95 % interval of the share of seeds on which a claim holds, 0-1 (Clopper and Pearson 1934).

    Seeds of one pre-trained model may be more alike than those of two. Of the mean share of these models the interval
    holds in any case: a sum of Bernoulli variables with different probabilities spreads less than one with their mean
    (Hoeffding 1956). It says nothing of other models.
    """
    ends = scipy.stats.binomtest(holding, of).proportion_ci(0.95, method="exact")
    return float(ends.low), float(ends.high)


def count_replicates(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Table "replicates" from table "claims" of each study, which has another pre-trained model and the same claims.

    Seeds to which a claim does not apply, that did not run what it needs or that have too few runs, sets or heads to
    decide it are not counted among `seeds`; seeds that are not clear or have failed runs are. Claims on a value also
    have the mean over models of their means over seeds, and the lowest and highest mean of a model.
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
    """The rows of one study's seeds to which the claim applies; a study of one seed has the row of the whole alone."""
    seeds = rows[rows["ft_seed"].notna()] if rows["ft_seed"].notna().any() else rows
    return seeds[~seeds["verdict"].isin([DOES_NOT_APPLY, NOT_RUN])]
