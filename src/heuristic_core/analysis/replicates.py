"""On how many training seeds a claim holds, over studies that differ in their pre-trained model alone."""

from collections.abc import Sequence

import pandas as pd
import scipy  # loads scipy.stats where it is used, as in `seeds`

from heuristic_core.analysis.estimates import DOES_NOT_APPLY, NOT_RUN
from heuristic_core.analysis.frames import frame
from heuristic_core.analysis.seeds import mean_interval
from heuristic_core.analysis.verdicts import CONTRADICTED, SUPPORTED, is_test


def share_interval(holding: int, of: int) -> tuple[float, float]:
    """The 95 % interval of the share of seeds on which a claim holds, 0-1 (Clopper and Pearson 1934).

    Seeds of one pre-trained model may be more alike than those of two. Of the mean share of these models the interval
    holds in any case: a sum of Bernoulli variables with different probabilities spreads less than one with their mean
    (Hoeffding 1956). It says nothing of other models.
    """
    ends = scipy.stats.binomtest(holding, of).proportion_ci(0.95, method="exact")
    return float(ends.low), float(ends.high)


def replicates(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Table "replicates" from table "claims" of each study, which has another pre-trained model and the same claims.

    A seed to which a claim does not apply, or that did not run what it needs, does not count; one that is not clear,
    has too few runs or failed ones does. Of claims on a value,
    beside it: the mean over models of their means over seeds, with Student's t interval over models.
    """
    rows = []
    for claim, claim_rows in pd.concat(tables, keys=range(len(tables)), names=["model"]).groupby("claim", sort=False):
        models = [part for _, part in claim_rows.groupby(level="model")]
        seeds = [_seed_rows(part) for part in models]
        counted = pd.concat(seeds)
        holding = int((counted["verdict"] == SUPPORTED).sum())
        fields = claim_rows.iloc[0][["sentence", "paper", "family", "threshold"]].to_dict()
        row = {"claim": claim, **fields, "models": len(models), "seeds": len(counted), "supported": holding}
        row["contradicted"] = int((counted["verdict"] == CONTRADICTED).sum())
        row["by_model"] = ", ".join(f"{(part['verdict'] == SUPPORTED).sum()} of {len(part)}" for part in seeds)
        if len(counted):
            row["low"], row["high"] = share_interval(holding, len(counted))
        if not is_test(fields["threshold"]):
            means = [part["estimate"].mean() for part in seeds if part["estimate"].notna().any()]
            row["mean"], row["mean_low"], row["mean_high"] = mean_interval(means)
        rows.append(row)
    return frame("replicates", rows)


def _seed_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of one study's seeds to which the claim applies; a study of one seed has the row of the whole alone."""
    seeds = rows[rows["ft_seed"].notna()] if rows["ft_seed"].notna().any() else rows
    return seeds[~seeds["verdict"].isin([DOES_NOT_APPLY, NOT_RUN])]
