"""Statistics for claims about the spread over pruning seeds: shares of subnetworks and differences between them.

Accuracies of subnetworks cluster at a floor or a ceiling, with occasional outliers. The mean and the standard deviation
then depend on rare runs that a sample of a dozen seeds may lack, and no interval for them is valid. Shares of
subnetworks and median differences have intervals that are valid for any distribution.
"""

import numpy as np
import pandas as pd
from scipy import stats

from heuristic_core.experiments.subnetworks.analysis.accuracy import ID, LABELS
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence, require_rows
from heuristic_core.experiments.subnetworks.analysis.shares import MIN_FOR_SHARE, estimate_share
from heuristic_core.stats.differences import median_difference_interval
from heuristic_core.stats.estimates import DoesNotApply, Estimate, TooFewUnits, statistic
from heuristic_core.stats.seeds import PRUNING_SEEDS

MIN_FOR_DIFFERENCE = 9  # smallest sample for which coverage was simulated


@statistic
def seed_difference(evidence: Evidence, group: str, sparsity: str) -> Estimate:
    """Estimate the median difference between two subnetworks' accuracies on a group, in points.

    Args:
        evidence: Tables of one fine-tuning run.
        group: Group of subsets, or J.
        sparsity: Target sparsity of the subnetworks, "mid" or "high".

    Raises:
        TooFewUnits: If there are fewer than `MIN_FOR_DIFFERENCE` sound subnetworks.
    """
    rows = _require(evidence.spread("group_accuracy", group, sparsity), MIN_FOR_DIFFERENCE)
    values = rows["accuracy"].to_numpy(dtype=float)
    errors = (rows["high"] - rows["low"]).astype(float) / (2 * stats.norm.ppf(0.975))
    median, low, high = median_difference_interval(values, np.nan_to_num(errors))
    detail = f"{LABELS[group]} from {values.min():z.1f} to {values.max():z.1f}"
    detail += f", standard deviation {values.std(ddof=1):.1f}"
    return Estimate(median, low, high, len(values), PRUNING_SEEDS, detail, minimum=0)


@statistic
def share_below(evidence: Evidence, group: str, sparsity: str, points: float) -> Estimate:
    """Estimate the share of subnetworks whose accuracy on a group is below a threshold, in percent.

    Args:
        evidence: Tables of one fine-tuning run.
        group: Group of subsets, or J.
        sparsity: Target sparsity of the subnetworks, "mid" or "high".
        points: Threshold, percent (J: points).

    Raises:
        TooFewUnits: If there are fewer than `MIN_FOR_SHARE` sound subnetworks.
    """
    rows = _require(evidence.spread("group_accuracy", group, sparsity), MIN_FOR_SHARE)
    values, label = rows["accuracy"], LABELS[group]
    low, high = _or_value(rows["low"], values), _or_value(rows["high"], values)
    detail = f"{label} from {values.min():z.1f} to {values.max():z.1f}"
    return estimate_share(values < points, high < points, low < points, detail)


@statistic
def share_near_full(
    evidence: Evidence, group: str, sparsity: str, points: float = 0.0, percent: float = 100.0
) -> Estimate:
    """Estimate the share of subnetworks whose accuracy on a group is near the full model's, in percent.

    Accuracy is near if it exceeds `percent` of the full model's accuracy (ID: above chance) minus `points`. Collapsed
    runs count as not near, even on a group that one class gets right.

    Args:
        evidence: Tables of one fine-tuning run.
        group: Group of subsets, or J.
        sparsity: Target sparsity of the subnetworks, "mid" or "high".
        points: Tolerance in points.
        percent: Percentage of the full model's accuracy.

    Raises:
        DoesNotApply: If the full model's accuracy is not above 0 (ID, with `percent` below 100: above chance).
        TooFewUnits: If there are fewer than `MIN_FOR_SHARE` subnetworks that neither failed nor missed their target.
    """
    full, accuracy = evidence.full(group), evidence.full(group)["accuracy"]
    chance = accuracy - evidence.above_chance(accuracy) if group == ID and percent < 100 else 0.0
    if accuracy <= chance:
        raise DoesNotApply(f"the full model is {accuracy - chance:.1f} points above chance on {group}")
    rows = _require(evidence.spread_with_collapses("group_accuracy", group, sparsity), MIN_FOR_SHARE)
    change, collapsed = rows["accuracy"] - accuracy, rows["collapsed"]
    low, high = _or_value(rows["change_low"], change), _or_value(rows["change_high"], change)
    values = [accuracy if pd.isna(value) else value for value in (accuracy, full["low"], full["high"])]
    losses = [points + (1 - percent / 100) * (value - chance) for value in values]
    exceed = ((part > -loss) & ~collapsed for part, loss in zip((change, low, high), losses, strict=True))
    detail = f"full model {accuracy:.1f} %, subnetworks {0 - change.max():.1f} to {0 - change.min():.1f} points below"
    detail += f", chance {chance:.1f} %" if chance else ""
    return estimate_share(*exceed, detail + (f", {collapsed.sum()} collapsed" if collapsed.any() else ""))


@statistic
def share_keeping_mlps(evidence: Evidence, sparsity: str, percent: float) -> Estimate:
    """Estimate the share of subnetworks that lack less than `percent` of the MLPs, in percent.

    Args:
        evidence: Tables of one fine-tuning run.
        sparsity: Target sparsity of the subnetworks, "mid" or "high".
        percent: Threshold, percent of the MLPs.

    Raises:
        DoesNotApply: If MLPs are not components of the subnetworks.
        TooFewUnits: If there are fewer than `MIN_FOR_SHARE` sound subnetworks.
    """
    rows = require_rows(evidence.cell("components", sparsity), f"subnetworks at {sparsity} sparsity")
    removed = (100 * (1 - rows["kept"].astype(float))).groupby([rows["kind"], rows["seed"]]).mean()
    if "mlp" not in removed:
        raise DoesNotApply("MLPs are not components of these subnetworks")
    mlps = _require(removed["mlp"], MIN_FOR_SHARE)
    keep = mlps < percent
    detail = f"lacking {mlps.mean():.1f} % of MLPs on average, at most {mlps.max():.1f} %"
    return estimate_share(keep, keep, keep, f"{detail}, and {removed['head'].mean():.1f} % of heads")


def _or_value(ends: pd.Series, values: pd.Series) -> pd.Series:
    """Return the ends of intervals, replaced by the values where there is no interval."""
    return ends.astype(float).fillna(values)


def _require(rows: pd.DataFrame | pd.Series, least: int):
    """Return `rows`, one per subnetwork; raise TooFewUnits if there are fewer than `least`."""
    if len(rows) < least:
        raise TooFewUnits(f"{len(rows)} sound subnetworks, and an interval over them needs {least}")
    return rows
