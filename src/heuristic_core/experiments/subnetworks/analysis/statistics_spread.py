"""Statistics of claims over pruning seeds: how many subnetworks reach a value, and how much two of them differ.

Accuracies of subnetworks gather at a floor or a ceiling, and single runs may be far off. The mean and the standard
deviation then hang on runs that a dozen seeds may not show, and no interval of them is right. Shares of subnetworks and
median differences have intervals that hold for any distribution.
"""

import numpy as np
import pandas as pd
from scipy import stats

from heuristic_core.experiments.subnetworks.analysis.accuracy import ID, LABELS
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence, require_rows
from heuristic_core.stats.differences import median_difference_interval
from heuristic_core.stats.estimates import DoesNotApply, Estimate, TooFewUnits, statistic
from heuristic_core.stats.replicates import compute_share_interval
from heuristic_core.stats.seeds import PRUNING_SEEDS

MIN_FOR_SHARE = 6  # of five of five, the exact interval includes one half
MIN_FOR_DIFFERENCE = 9  # coverage is simulated from nine on


@statistic
def seed_difference(evidence: Evidence, group: str, sparsity: str) -> Estimate:
    """Estimate the median difference of two subnetworks' accuracy on a group, points."""
    rows = _require(evidence.spread("group_accuracy", group, sparsity), MIN_FOR_DIFFERENCE)
    values = rows["accuracy"].to_numpy(dtype=float)
    errors = (rows["high"] - rows["low"]).astype(float) / (2 * stats.norm.ppf(0.975))
    median, low, high = median_difference_interval(values, np.nan_to_num(errors))
    detail = f"{LABELS[evidence.resolve_group(group)]} from {values.min():.1f} to {values.max():.1f}"
    detail += f", standard deviation {values.std(ddof=1):.1f}"
    return Estimate(median, low, high, len(values), PRUNING_SEEDS, detail, minimum=0)


@statistic
def share_below(evidence: Evidence, group: str, sparsity: str, points: float) -> Estimate:
    """Estimate the share of subnetworks with less than `points` on a group, percent."""
    rows = _require(evidence.spread("group_accuracy", group, sparsity), MIN_FOR_SHARE)
    values, label = rows["accuracy"], LABELS[evidence.resolve_group(group)]
    low, high = _or_value(rows["low"], values), _or_value(rows["high"], values)
    detail = f"{label} from {values.min():.1f} to {values.max():.1f}"
    return _share(values < points, high < points, low < points, detail)


@statistic
def share_near_full(
    evidence: Evidence, group: str, sparsity: str, points: float = 0.0, percent: float = 100.0
) -> Estimate:
    """Estimate the share of subnetworks whose accuracy on a group exceeds a part of the full model's, percent.

    The part is `percent` of the full model's accuracy (ID: above chance) minus `points`.
    """
    full, accuracy = evidence.full(group), evidence.full(group)["accuracy"]
    chance = accuracy - evidence.above_chance(accuracy) if group == ID and percent < 100 else 0.0
    if accuracy <= chance:
        raise DoesNotApply(f"the full model is {accuracy - chance:.1f} points above chance on {group}")
    rows = _require(evidence.spread("group_accuracy", group, sparsity), MIN_FOR_SHARE)
    change = rows["accuracy"] - accuracy
    low, high = _or_value(rows["change_low"], change), _or_value(rows["change_high"], change)
    values = [accuracy if pd.isna(value) else value for value in (accuracy, full["low"], full["high"])]
    losses = [points + (1 - percent / 100) * (value - chance) for value in values]
    exceed = (part > -loss for part, loss in zip((change, low, high), losses, strict=True))
    detail = f"full model {accuracy:.1f} %, subnetworks {0 - change.max():.1f} to {0 - change.min():.1f} points below"
    return _share(*exceed, detail + (f", chance {chance:.1f} %" if chance else ""))


@statistic
def share_keeping_mlps(evidence: Evidence, sparsity: str, percent: float) -> Estimate:
    """Estimate the share of subnetworks that lack less than `percent` of the MLPs, percent."""
    rows = require_rows(evidence.cell("components", sparsity), f"subnetworks at {sparsity} sparsity")
    removed = (100 * (1 - rows["kept"].astype(float))).groupby([rows["kind"], rows["seed"]]).mean()
    if "mlp" not in removed:
        raise DoesNotApply("MLPs are no components of these subnetworks")
    mlps = _require(removed["mlp"], MIN_FOR_SHARE)
    keep = mlps < percent
    detail = f"lacking {mlps.mean():.1f} % of MLPs on average, at most {mlps.max():.1f} %"
    return _share(keep, keep, keep, f"{detail}, and {removed['head'].mean():.1f} % of heads")


def _share(known: pd.Series, certain: pd.Series, possible: pd.Series, detail: str) -> Estimate:
    """Estimate a share, percent, with its exact interval (Clopper and Pearson 1934).

    Evaluation pairs are a sample: the lower end is of the subnetworks that certainly count, the upper end of those that
    possibly do.

    Args:
        known: Whether each subnetwork counts, by its value.
        certain: Whether it counts wherever in its interval over pairs the value is.
        possible: Whether it counts somewhere in this interval.
        detail: The values.
    """
    n, counts = len(known), [int(part.sum()) for part in (known, certain, possible)]
    low, high = compute_share_interval(counts[1], n)[0], compute_share_interval(counts[2], n)[1]
    words = f"{counts[0]} of {n}" + (f", {counts[1]} certainly, {counts[2]} possibly" if len(set(counts)) > 1 else "")
    return Estimate(
        100 * counts[0] / n, 100 * low, 100 * high, n, PRUNING_SEEDS, f"{words}; {detail}", minimum=0, maximum=100
    )


def _or_value(ends: pd.Series, values: pd.Series) -> pd.Series:
    """Return the ends of intervals; without intervals, the values."""
    return ends.astype(float).fillna(values)


def _require(rows: pd.DataFrame | pd.Series, least: int):
    """Return `rows`, one for each subnetwork.

    Raises:
        TooFewUnits: If there are fewer than `least`.
    """
    if len(rows) < least:
        raise TooFewUnits(f"{len(rows)} sound subnetworks, and an interval over them needs {least}")
    return rows
