"""Effective size: how much of a model its smallest faithful subnetwork keeps (paper, section 4).

Effective size is 100 * (1 - the largest faithful sparsity); `faithful` says what that means. Between two sparsities of
the grid, the last faithful and the next, it is where the straight line between their values crosses the threshold. On
a coarse grid sizes that are rounded to the grid would seem to jump. At the two ends of the grid a size is a bound, no
number: where every subnetwork fails it is above what the densest one keeps, as nothing was pruned between that one and
the full model; where the sparsest subnetwork is faithful it is at most what that one keeps, the *floor*. A mean over
seeds with a bound among them is a bound. `analysis.effective_size: grid` rounds, as the authors do: the last faithful
sparsity itself, and 100 % where none is. These are numbers, and their means are the authors'; `least` and `most` say
what the sizes may be all the same. Three orders:

per-seed    threshold every pruning seed, then average (the authors' script);
mean-first  average over seeds, then threshold (the paper's text);
upward      per seed, from the densest subnetwork on, stopping at the first that fails. Very sparse subnetworks
            may reject every overlap, and so be right out of domain without being what the model does; this
            order does not reach them.

A missing subnetwork is skipped, in all of them: its seed's grid is without this sparsity, and so is the grid of the
mean over seeds, which would otherwise be over fewer seeds there than beside it.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from heuristic_core.analysis.faithful import ROUNDING, Criterion
from heuristic_core.analysis.frames import frame
from heuristic_core.experiments.heuristic_core.analysis.accuracy import (
    AUC,
    ID,
    OOD,
    J,
    both_sides,
    chosen,
    condensed,
    interval_of_j,
    interval_of_mean,
    j_means,
)
from heuristic_core.experiments.heuristic_core.analysis.bounds import interval_between
from heuristic_core.experiments.heuristic_core.analysis.faithful import criteria
from heuristic_core.experiments.heuristic_core.analysis.outcomes import with_collapses
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.experiments.heuristic_core.config.context import Context
from heuristic_core.tables.columns import RUN

VALUES = ["accuracy", "agreement", "kl", "square"]  # of a model; square: of half an interval of its change
CURVE = [*RUN, "step", "sparsity", "seed"]
DEFINED, BOUNDED, UNDEFINED, MISSING = "defined", "bounded", "undefined", "missing"
CHANCE = 50.0  # the AUC of a model that cannot tell classes apart
UNITS = {J: "points", AUC: "points above 50"}


class Size(NamedTuple):
    """An effective size, percent of components; null where it is a bound. least, most: between which it lies.

    low, high: its 95 % interval, of a seed over evaluation pairs: the sizes of the subnetworks' values at both ends of
    the intervals of their change from the full model.
    """

    effective_size: float
    least: float
    most: float
    low: float = np.nan
    high: float = np.nan


NONE = Size(np.nan, np.nan, np.nan)


def effective_size(
    accuracy: pd.DataFrame,
    analysis: Analysis,
    context: Context,
    runs: pd.DataFrame | None = None,
    groups: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Table "effective_size" from table "accuracy".

    groups: table "group_accuracy", which has the AUC of each model; None: sizes on AUC are not asked for.
    runs: table "runs", of which collapsed subnetworks are never faithful: a constant class may be as right
    out-of-domain as the full model, and be all that the full model is not. None where it is not known.
    analysis: margin, margins, recovery, agreement, kl, effective_size, and the subsets that enter group means. context:
    the curve's pruning seeds and which of their runs, and the steps.
    Group "mixed" is the plain mean over all in-domain and out-of-domain subsets (the authors' script), "mixed-1:1"
    weighs both halves equally (the paper's text), "j" is J, its margin points of J, and "auc" is AUC minus 50, so that
    margins and shares are of what exceeds chance. Failed subnetworks, absent or with a null, are skipped; steps without
    any subnetwork have no rows, and so have criteria that the whole table has no values for, and criteria of J and AUC
    other than of their values.
    Effective size is a bound at the ends of the grid: then it is null, with its bounds in `least` and `most`.
    It is undefined where the full model is not surely above the margin, by the lower end of its interval if
    it has one: just above the margin, any subnetwork passes. It is missing where the full model, a seed, or a sparsity
    that other steps of the run have is absent. All are nulls, which `state` tells apart by their reason.
    Raises ValueError on an unknown subset.
    """
    rows = chosen(accuracy, analysis.subsets)
    if groups is not None:
        rows = pd.concat([rows, _above_chance(groups[groups["group"] == AUC])])
    of_curve = rows["seed"].isin(context.curve_seeds) & (rows["repeat"] == context.curve_repeat)
    rows = rows.assign(square=((rows["change_high"] - rows["change_low"]) / 2) ** 2)
    means = _group_values(rows[rows["step"].isin(context.checkpoints) & (rows["seed"].isna() | of_curve)])
    means = with_collapses(means.assign(repeat=context.curve_repeat), runs)
    pruned = means[means["seed"].notna()]
    full = means[means["seed"].isna()].set_index([*RUN, "step", "group"])["accuracy"].dropna()
    lows = _lows(rows[rows["seed"].isna()])
    known = [criterion for criterion in criteria(analysis) if pruned[criterion.column].notna().any()]
    rows = []
    for run, of_run in pruned.groupby([*RUN]):
        sparsities = sorted(of_run["sparsity"].unique())
        for (step, group), cells in of_run.groupby(["step", "group"]):
            identity = dict(zip(RUN, run, strict=True)) | {"step": step, "group": group}
            identity |= {"full_accuracy": full.get((*run, step, group)), "floor": _kept(sparsities[-1])}
            for criterion in known:
                if group in UNITS and criterion.column != "accuracy":
                    continue
                curves = cells.pivot(index="sparsity", columns="seed", values=criterion.column)
                curves = curves.reindex(index=sparsities, columns=list(context.curve_seeds)).astype(float)
                collapsed = cells.pivot(index="sparsity", columns="seed", values="collapsed").reindex_like(curves)
                reach = cells.pivot(index="sparsity", columns="seed", values="square").reindex_like(curves) ** 0.5
                about = identity | {"criterion": criterion.name, "threshold": criterion.threshold}
                between = analysis.effective_size == "interpolated"
                full_here, low = identity["full_accuracy"], lows.get((*run, step, group), np.nan)
                reason = _reason(curves, full_here, low, criterion, UNITS.get(group, "%"))
                sizes = _sizes(curves, reach, collapsed.eq(True), full_here, criterion, reason, between)
                rows += [about | row for row in sizes]
    return frame("effective_size", rows)


def of_study(sizes: pd.DataFrame, context: Context) -> pd.DataFrame:
    """The rows of table "effective_size" that figure 6, claims and comparisons take: by accuracy at the study's margin,
    in the study's order. Only the orders that go seed by seed have rows of pruning seeds."""
    of_margin = (sizes["criterion"] == "accuracy") & (sizes["threshold"] == context.margin)
    return sizes[of_margin & (sizes["order"] == context.size_order)]


def state(sizes: pd.DataFrame) -> pd.Series:
    """What every row of table "effective_size" is: "defined", "bounded" (no more is known than `least` and `most`),
    "undefined" (the full model does not exceed the margin, so that there is nothing to be faithful to) or "missing"
    (something was not run, or failed)."""
    known = sizes["least"].notna()
    found = sizes["reason"].str.partition(":")[0].where(~known, DEFINED)
    return found.mask(known & (sizes["least"] < sizes["most"]), BOUNDED).astype(str)


def bound(least: float, most: float) -> str:
    """What is known of a size that is a bound, such as "above 80 %", "at most 20 %" or "60 to 67 %"."""
    low, high = (f"{round(end, 1):g}" for end in (least, most))
    if least == 0:
        return f"at most {high} %"
    return f"above {low} %" if most == 100 else f"{low} to {high} %"


def _lows(full: pd.DataFrame) -> dict[tuple, float]:
    """Lower ends of the full models' intervals, by the columns of a run, step and group; NaN where unknown."""
    model = [*RUN, "step"]
    groups = full.groupby([*model, "group"], observed=True)
    of_j = both_sides(full, model).groupby(model, observed=True)
    found = {key: interval_of_mean(rows)[0] for key, rows in groups}
    return found | {(*key, J): interval_of_j(rows)[0] for key, rows in of_j}


def _above_chance(auc: pd.DataFrame) -> pd.DataFrame:
    values = ["accuracy", "low", "high"]  # not of changes, which are the same
    return auc.assign(**auc[values] - CHANCE)


def _group_values(rows: pd.DataFrame) -> pd.DataFrame:
    """Means by group of every model; J and mixtures where a model has subsets of both groups that enter them."""
    keys = [*CURVE, "group"]
    groups = _means(rows, keys)
    both, halves = (table[table["group"].isin([ID, OOD])] for table in (rows, groups))
    mixed = [both.assign(group="mixed"), halves.assign(group="mixed-1:1")] if halves["group"].nunique() == 2 else []
    sides = both_sides(rows, CURVE)
    squares = condensed(sides.assign(square=sides["weight"] ** 2 * sides["square"]), CURVE, ["square"], "sum")
    j = j_means(rows, CURVE).merge(squares, on=CURVE, how="left")
    return pd.concat([groups, j, *(_means(one, keys) for one in mixed)], ignore_index=True)


def _means(rows: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Means of `VALUES`, of independent parts: half-widths of intervals add up as squares (Newcombe 1998)."""
    means = condensed(rows, keys, VALUES)
    return means.assign(square=means["square"] / rows.groupby(keys, dropna=False).size().to_numpy())


def _sizes(
    curves: pd.DataFrame,
    reach: pd.DataFrame,
    collapsed: pd.DataFrame,
    full: float | None,
    criterion: Criterion,
    reason: str | None,
    between: bool,
) -> Iterator[dict]:
    """One summary row for each order, and one for each seed in the orders that go seed by seed.

    curves: what the criterion judges; sparsities (ascending) x seeds, null where a subnetwork is missing. reach,
    collapsed: of the same form; how far a value may be off by its pairs, null where unknown, and whether the run
    collapsed. A mean over seeds is not faithful where most of them collapsed. reason: why there is no size, where there
    is none. between: sizes are interpolated between sparsities.
    """
    values, sparsities = curves.to_numpy(), curves.index.to_numpy()
    reach = reach.to_numpy() if criterion.column == "accuracy" else np.full(curves.shape, np.nan)
    present_at = ~np.isnan(values)
    present = present_at.any(axis=0)
    about = {"n_seeds": int(present.sum()), "reason": reason}

    def size(of_grid: np.ndarray, lost: np.ndarray, upward: bool = False, off: float | np.ndarray = 0.0) -> Size:
        known = ~np.isnan(of_grid)
        slack = np.array([criterion.slack_of_full(full), *(criterion.slack(of_grid, full) + off)[known]])
        faithful = criterion.holds(slack) & ~np.array([False, *lost[known]])
        return _crossing(np.array([0.0, *sparsities[known]]), slack, faithful, upward, between)

    for order in ("per-seed", "upward"):
        sizes = []
        for k, seed in enumerate(curves):
            absent = None if present[k] else f"{MISSING}: no subnetworks of pruning seed {seed}"
            one, of_seed = NONE, (values[:, k], collapsed.to_numpy()[:, k], order == "upward")
            if reason is None and present[k]:
                best, worst = (size(*of_seed, off) for off in (reach[:, k], -reach[:, k]))
                known = not np.isnan(reach[present_at[:, k], k]).any()
                one = size(*of_seed)._replace(**({"low": best.least, "high": worst.most} if known else {}))
                sizes.append(one)
            yield {"order": order, "seed": seed, "n_seeds": int(present[k])} | _told(one, reason or absent)
        sd = pd.Series([one.effective_size for one in sizes]).std(skipna=False)
        yield {"order": order, "sd": sd} | about | _told(_mean(sizes), reason)
    mean, most = values[:, present].mean(axis=1), collapsed.to_numpy()[:, present].mean(axis=1) > 0.5
    if reason is None and np.isnan(mean).all():
        reason = f"{MISSING}: at every sparsity a pruning seed has no subnetwork"
    whole = size(mean, most) if reason is None else NONE
    yield {"order": "mean-first"} | about | _told(whole, reason)


def _mean(sizes: list[Size]) -> Size:
    """The mean over seeds, null where one is, with its interval over seeds and pairs."""
    if not sizes:
        return NONE
    found = pd.DataFrame(sizes)
    low, high = interval_between(found["least"], found["most"], reach_of(found))
    means = found[["effective_size", "least", "most"]].mean(skipna=False)
    return Size(*means, low=np.maximum(low, 0), high=np.minimum(high, 100))


def reach_of(sizes: pd.DataFrame) -> pd.Series:
    """Half of what the interval of a seed over pairs adds to what is known of its size; 0 where unknown."""
    return ((sizes["high"] - sizes["low"] - sizes["most"] + sizes["least"]) / 2).fillna(0)


def _told(size: Size, reason: str | None) -> dict:
    """The columns of a size. A null that is a bound has the bound for its reason."""
    if reason is None and np.isnan(size.effective_size):
        reason = f"{BOUNDED}: {bound(size.least, size.most)}"
    return size._asdict() | {"reason": reason}


def _crossing(sparsities: np.ndarray, slack: np.ndarray, faithful: np.ndarray, upward: bool, between: bool) -> Size:
    """Effective size. sparsities: ascending from 0, the full model. slack, faithful: there."""
    faithful[0] = True
    last = int(np.argmin(faithful)) - 1 if upward and not faithful.all() else int(np.flatnonzero(faithful)[-1])
    largest = sparsities[last]
    if last in (0, len(sparsities) - 1):  # nothing was pruned beyond: above the densest, or at most the sparsest
        least, most = (_kept(sparsities[1]), 100.0) if last == 0 else (0.0, _kept(largest))
        return Size(np.nan if between else _kept(largest), least, most)
    if between and slack[last + 1] <= ROUNDING:
        share = slack[last] / (slack[last] - slack[last + 1])
        largest += np.clip(share, 0, 1) * (sparsities[last + 1] - largest)
    return Size(*[_kept(largest)] * 3)


def _reason(curves: pd.DataFrame, full: float | None, low: float, criterion: Criterion, unit: str) -> str | None:
    """Why no effective size can be given for this checkpoint and group; None if it can."""
    if full is None:
        return f"{MISSING}: the full model was not evaluated"
    if why := criterion.undefined(full, low, unit):
        return f"{UNDEFINED}: {why}"
    missing = curves.index[curves.isna().all(axis="columns")]
    if len(missing) == len(curves):
        return f"{MISSING}: no subnetworks of pruning seeds {', '.join(map(str, curves))}"
    if len(missing):
        return f"{MISSING}: no subnetworks at sparsity {', '.join(f'{sparsity:g}' for sparsity in missing)}"
    return None


def _kept(sparsity):
    return float(np.round(100 * (1 - sparsity), 6))
