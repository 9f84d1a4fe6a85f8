"""Shares of subnetworks or pruning seeds, whose exact intervals are valid for any distribution of their values."""

import pandas as pd

from heuristic_core.stats.estimates import Estimate
from heuristic_core.stats.replicates import compute_share_interval
from heuristic_core.stats.seeds import PRUNING_SEEDS

MIN_FOR_SHARE = 6  # the exact interval of five out of five includes 1/2


def estimate_share(known: pd.Series, certain: pd.Series, possible: pd.Series, detail: str) -> Estimate:
    """Estimate a share, in percent, with its exact interval (Clopper and Pearson 1934).

    The lower end is computed from the subnetworks that certainly count given the sampling of evaluation pairs, the
    upper end from those that possibly count.

    Args:
        known: Whether each subnetwork counts, by its value.
        certain: Whether it counts for all values in its interval over pairs.
        possible: Whether it counts for some value in this interval.
        detail: Text about the values.
    """
    n, counts = len(known), [int(part.sum()) for part in (known, certain, possible)]
    low, high = compute_share_interval(counts[1], n)[0], compute_share_interval(counts[2], n)[1]
    words = f"{counts[0]} of {n}" + (f", {counts[1]} certainly, {counts[2]} possibly" if len(set(counts)) > 1 else "")
    return Estimate(
        100 * counts[0] / n, 100 * low, 100 * high, n, PRUNING_SEEDS, f"{words}; {detail}", minimum=0, maximum=100
    )
