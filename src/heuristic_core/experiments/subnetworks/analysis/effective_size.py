"""Compute effective size: the share of a model that its smallest faithful subnetwork keeps (paper, section 4).

Effective size is 100 * (1 - the largest faithful sparsity); :mod:`.faithful` defines faithful. Between the last
faithful sparsity of the grid and the next one, it is where the straight line between their values crosses the
threshold; rounding to a coarse grid would make sizes jump. At the ends of the grid a size is only bounded. Where all
subnetworks fail, it is above the share that the densest one keeps, as nothing was pruned between that and the full
model. Where the sparsest subnetwork is faithful, it is at most the share that this one keeps, the *floor*. A mean over
seeds that includes a bound is a bound. `analysis.effective_size: grid` rounds as the authors do: to the last faithful
sparsity, and to 100 % where none is faithful; `least` and `most` still give the bounds. There are three orders:

per-seed    threshold each pruning seed, then average (the authors' script);
mean-first  average over seeds, then threshold (the paper's text);
upward      per seed, from the densest subnetwork on, stopping at the first that fails. Very sparse subnetworks may
            reject all overlap pairs, and so be right out of domain without doing what the model does; this order does
            not reach them.

All orders skip missing subnetworks: the sparsity is removed from the grid of its seed, and from the grid of the mean
over seeds, which would otherwise average fewer seeds there than at other sparsities.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.accuracy import (
    AUC,
    ID,
    OOD,
    J,
    aggregate,
    compute_j,
    compute_j_interval,
    compute_mean_interval,
    select_j_rows,
    select_subsets,
)
from heuristic_core.experiments.subnetworks.analysis.faithful import list_criteria
from heuristic_core.experiments.subnetworks.analysis.outcomes import with_actual_sparsity, with_collapses
from heuristic_core.experiments.subnetworks.analysis.size_states import BOUNDED, MISSING, UNDEFINED, format_bound
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.stats.bounds import compute_bounded_interval
from heuristic_core.stats.faithful import ROUNDING, Criterion
from heuristic_core.stats.frames import make_frame
from heuristic_core.tables.columns import RUN

VALUES = ["accuracy", "agreement", "kl", "square"]  # square: squared half width of the interval of the change
CURVE_KEYS = [*RUN, "step", "sparsity", "seed"]

AUC_AT_CHANCE = 50.0  # percent; AUC of a model that cannot tell classes apart
UNITS = {J: "points", AUC: "points above 50"}


class Size(NamedTuple):
    """An effective size, percent of components.

    Attributes:
        effective_size: The size; NaN where it is only bounded.
        least, most: Bounds of the size.
        low, high: Ends of the 95 % interval. For one seed it is over evaluation pairs: the sizes where all changes from
            the full model are at an end of their intervals.
    """

    effective_size: float
    least: float
    most: float
    low: float = np.nan
    high: float = np.nan


NO_SIZE = Size(np.nan, np.nan, np.nan)


def compute_effective_size(
    accuracy: pd.DataFrame,
    analysis: Analysis,
    context: Context,
    runs: pd.DataFrame | None = None,
    groups: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Compute table "effective_size" from table "accuracy".

    Group "mixed" is the plain mean over all in-domain and out-of-domain subsets (the authors' script), "mixed-1:1"
    gives both halves equal weight (the paper's text), "j" is J with margins in points, and "auc" is AUC - 50, so that
    margins and shares refer to what exceeds chance. J and AUC only have criteria of accuracy. Failed subnetworks are
    skipped. Steps without subnetworks and criteria without values have no rows.

    Sizes at the ends of the grid are null, with bounds in `least` and `most`. Sizes are undefined where the lower end
    of the full model's interval is not above the margin, since any subnetwork passes just above it. They are missing
    where the full model, a seed, or a sparsity that other steps have is missing. :func:`classify_sizes` tells these
    nulls apart.

    Args:
        accuracy: Table "accuracy".
        analysis: Criteria, `effective_size`, and the subsets that enter group means.
        context: Pruning seeds and repeat of the curve, and the checkpoints.
        runs: Table "runs"; None if unknown. Collapsed subnetworks are never faithful: a constant class may be as
            accurate out of domain as the full model while behaving unlike it. Interpolated sizes are of actual
            sparsities, sizes of the grid of targets.
        groups: Table "group_accuracy", which has AUC; None to leave out AUC.

    Raises:
        ValueError: If a subset is unknown.
    """
    rows = select_subsets(accuracy, analysis.subsets)
    if groups is not None:
        rows = pd.concat([rows, _subtract_chance(groups[groups["group"] == AUC])])
    on_curve = rows["seed"].isin(context.curve_seeds) & (rows["repeat"] == context.curve_repeat)
    rows = rows.assign(square=((rows["change_high"] - rows["change_low"]) / 2) ** 2)
    means = _group_values(rows[rows["step"].isin(context.checkpoints) & (rows["seed"].isna() | on_curve)])
    interpolate = analysis.effective_size == "interpolated"
    means = with_collapses(means.assign(repeat=context.curve_repeat), runs)
    means = with_actual_sparsity(means, runs if interpolate else None)
    pruned = means[means["seed"].notna()]
    full = means[means["seed"].isna()].set_index([*RUN, "step", "group"])["accuracy"].dropna()
    lower_ends = _lower_ends(rows[rows["seed"].isna()])
    measured_criteria = [criterion for criterion in list_criteria(analysis) if pruned[criterion.column].notna().any()]
    rows = []
    for run, run_rows in pruned.groupby([*RUN]):
        sparsities = sorted(run_rows["sparsity"].unique())
        for (step, group), cells in run_rows.groupby(["step", "group"]):
            identity = dict(zip(RUN, run, strict=True)) | {"step": step, "group": group}
            identity |= {"full_accuracy": full.get((*run, step, group)), "floor": _kept(sparsities[-1])}
            for criterion in measured_criteria:
                if group in UNITS and criterion.column != "accuracy":
                    continue
                curves = cells.pivot(index="sparsity", columns="seed", values=criterion.column)
                curves = curves.reindex(index=sparsities, columns=list(context.curve_seeds)).astype(float)
                actual, collapsed, square = (
                    cells.pivot(index="sparsity", columns="seed", values=column).reindex_like(curves)
                    for column in ("actual_sparsity", "collapsed", "square")
                )
                columns = identity | {"criterion": criterion.name, "threshold": criterion.threshold}
                full_value, lower_end = identity["full_accuracy"], lower_ends.get((*run, step, group), np.nan)
                reason = _reason(curves, full_value, lower_end, criterion, UNITS.get(group, "%"))
                sizes = _sizes(
                    curves, actual, square**0.5, collapsed.eq(True), full_value, criterion, reason, interpolate
                )
                rows += [columns | row for row in sizes]
    return make_frame("effective_size", rows)


def select_study_sizes(sizes: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Select the rows of table "effective_size" for figure 6, claims and comparisons: accuracy at the study's margin.

    Args:
        sizes: Table "effective_size".
        context: Margin and order of the study. Only orders that treat seeds separately have rows of pruning seeds.
    """
    at_margin = (sizes["criterion"] == "accuracy") & (sizes["threshold"] == context.margin)
    return sizes[at_margin & (sizes["order"] == context.size_order)]


def _lower_ends(full: pd.DataFrame) -> dict[tuple, float]:
    """Return the lower ends of full models' intervals by (*run, step, group); NaN where unknown."""
    model = [*RUN, "step"]
    groups = full.groupby([*model, "group"], observed=True)
    j_rows = select_j_rows(full, model).groupby(model, observed=True)
    lower_ends = {key: compute_mean_interval(rows)[0] for key, rows in groups}
    return lower_ends | {(*key, J): compute_j_interval(rows)[0] for key, rows in j_rows}


def _subtract_chance(auc: pd.DataFrame) -> pd.DataFrame:
    values = ["accuracy", "low", "high"]  # changes are unaffected
    return auc.assign(**auc[values] - AUC_AT_CHANCE)


def _group_values(rows: pd.DataFrame) -> pd.DataFrame:
    """Average each model by group; add J and mixtures for models with subsets of both groups that enter them."""
    keys = [*CURVE_KEYS, "group"]
    groups = _means(rows, keys)
    subsets, halves = (table[table["group"].isin([ID, OOD])] for table in (rows, groups))
    mixed = [subsets.assign(group="mixed"), halves.assign(group="mixed-1:1")] if halves["group"].nunique() == 2 else []
    sides = select_j_rows(rows, CURVE_KEYS)
    squares = aggregate(sides.assign(square=sides["weight"] ** 2 * sides["square"]), CURVE_KEYS, ["square"], "sum")
    j = compute_j(rows, CURVE_KEYS).merge(squares, on=CURVE_KEYS, how="left")
    return pd.concat([groups, j, *(_means(part, keys) for part in mixed)], ignore_index=True)


def _means(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Average `VALUES` over independent subsets: squared half widths of intervals add up (Newcombe 1998)."""
    means = aggregate(rows, keys, VALUES)
    return means.assign(square=means["square"] / rows.groupby(keys, dropna=False).size().to_numpy())


def _sizes(
    curves: pd.DataFrame,
    actual: pd.DataFrame,
    half_widths: pd.DataFrame,
    collapsed: pd.DataFrame,
    full: float | None,
    criterion: Criterion,
    reason: str | None,
    interpolate: bool,
) -> Iterator[dict]:
    """Yield a row for each order, and for each seed in the orders that treat seeds separately.

    Args:
        curves: Values of the criterion, [sparsities, seeds], sparsities ascending; null if a subnetwork is missing.
        actual: Sparsity of each subnetwork, in the same form.
        half_widths: Half-width of each value's interval over pairs in the same form; null if unknown.
        collapsed: Whether each run collapsed, in the same form. A mean over seeds is not faithful if most runs did.
        full: Value of the full model.
        criterion: Criterion of faithful subnetworks.
        reason: Why there is no size; None if there is.
        interpolate: Whether to interpolate between sparsities.
    """
    values, sparsities = curves.to_numpy(), actual.to_numpy(dtype=float)
    half_widths = half_widths.to_numpy() if criterion.column == "accuracy" else np.full(curves.shape, np.nan)
    present_at = ~np.isnan(values)
    present = present_at.any(axis=0)
    columns = {"n_seeds": int(present.sum()), "reason": reason}

    def size(
        at: np.ndarray, curve: np.ndarray, lost: np.ndarray, upward: bool = False, shift: float | np.ndarray = 0.0
    ):
        known = np.flatnonzero(~np.isnan(curve))
        known = known[np.argsort(at[known], kind="stable")]
        slack = np.array([criterion.full_model_slack(full), *(criterion.slack(curve, full) + shift)[known]])
        faithful = criterion.is_met(slack) & ~np.array([False, *lost[known]])
        return _crossing(np.array([0.0, *at[known]]), slack, faithful, upward, interpolate)

    for order in ("per-seed", "upward"):
        sizes = []
        for k, seed in enumerate(curves):
            missing = None if present[k] else f"{MISSING}: no subnetworks of pruning seed {seed}"
            seed_size, lost = NO_SIZE, collapsed.to_numpy()[:, k]
            arguments = sparsities[:, k], values[:, k], lost, order == "upward"
            if reason is None and present[k]:
                best, worst = (size(*arguments, shift) for shift in (half_widths[:, k], -half_widths[:, k]))
                known = not np.isnan(half_widths[present_at[:, k], k]).any()
                seed_size = size(*arguments)._replace(**({"low": best.least, "high": worst.most} if known else {}))
                sizes.append(seed_size)
            yield {"order": order, "seed": seed, "n_seeds": int(present[k])} | _size_columns(
                seed_size, reason or missing
            )
        sd = pd.Series([seed_size.effective_size for seed_size in sizes]).std(skipna=False)
        yield {"order": order, "sd": sd} | columns | _size_columns(_average_sizes(sizes), reason)
    mean, mostly_collapsed = values[:, present].mean(axis=1), collapsed.to_numpy()[:, present].mean(axis=1) > 0.5
    if reason is None and np.isnan(mean).all():
        reason = f"{MISSING}: at every sparsity a pruning seed has no subnetwork"
    mean_size = size(sparsities[:, present].mean(axis=1), mean, mostly_collapsed) if reason is None else NO_SIZE
    yield {"order": "mean-first"} | columns | _size_columns(mean_size, reason)


def _average_sizes(sizes: list[Size]) -> Size:
    """Average sizes over seeds, null where any is null, with the interval over seeds (six or more) and pairs."""
    if not sizes:
        return NO_SIZE
    table = pd.DataFrame(sizes)
    low, high = compute_bounded_interval(table["least"], table["most"], extra_half_width(table))
    means = table[["effective_size", "least", "most"]].mean(skipna=False)
    return Size(*means, low=low, high=high)


def extra_half_width(sizes: pd.DataFrame) -> pd.Series:
    """Return half of the width that a seed's interval over pairs adds to the bounds of its size; 0 where unknown."""
    return ((sizes["high"] - sizes["low"] - sizes["most"] + sizes["least"]) / 2).fillna(0)


def _size_columns(size: Size, reason: str | None) -> dict:
    """Return the columns of a size; the reason of a bounded size states its bounds."""
    if reason is None and np.isnan(size.effective_size):
        reason = f"{BOUNDED}: {format_bound(size.least, size.most)}"
    return size._asdict() | {"reason": reason}


def _crossing(sparsities: np.ndarray, slack: np.ndarray, faithful: np.ndarray, upward: bool, interpolate: bool) -> Size:
    """Compute an effective size from slack and faithfulness at ascending sparsities, from 0 (the full model) on."""
    faithful[0] = True
    last = int(np.argmin(faithful)) - 1 if upward and not faithful.all() else int(np.flatnonzero(faithful)[-1])
    largest = sparsities[last]
    if last in (0, len(sparsities) - 1):  # at an end of the grid: above the densest, or at most the sparsest
        least, most = (_kept(sparsities[1]), 100.0) if last == 0 else (0.0, _kept(largest))
        return Size(np.nan if interpolate else _kept(largest), least, most)
    if interpolate and slack[last + 1] <= ROUNDING:
        share = slack[last] / (slack[last] - slack[last + 1])
        largest += np.clip(share, 0, 1) * (sparsities[last + 1] - largest)
    return Size(*[_kept(largest)] * 3)


def _reason(curves: pd.DataFrame, full: float | None, lower_end: float, criterion: Criterion, unit: str) -> str | None:
    """Return why a checkpoint and group have no effective size, or None if they have one."""
    if full is None:
        return f"{MISSING}: the full model was not evaluated"
    if why := criterion.undefined_reason(full, lower_end, unit):
        return f"{UNDEFINED}: {why}"
    missing = curves.index[curves.isna().all(axis="columns")]
    if len(missing) == len(curves):
        return f"{MISSING}: no subnetworks of pruning seeds {', '.join(map(str, curves))}"
    if len(missing):
        return f"{MISSING}: no subnetworks at sparsity {', '.join(f'{sparsity:g}' for sparsity in missing)}"
    return None


def _kept(sparsity):
    return float(np.round(100 * (1 - sparsity), 6))
