"""Effective size: how much of a model its smallest faithful subnetwork keeps (paper, section 5).

A subnetwork is faithful on a group of subsets if its accuracy is above the full model's minus a margin: strict
and one-sided. Effective size is 100 * (1 - the largest faithful sparsity), 100 % where none is faithful.
No size can be below that of the grid's largest sparsity, its floor: a size there is an upper bound.
Three orders exist:

per-seed    threshold every pruning seed, then average (the authors' script);
mean-first  average accuracies over seeds, then threshold (the paper's text);
upward      per seed, from the densest subnetwork on, stopping at the first that fails. Very sparse subnetworks
            may reject every overlap, and so be right out of domain without being what the model does; this
            order does not reach them.
"""

from collections.abc import Callable, Collection, Iterator, Sequence

import pandas as pd

from heuristic_core.analysis.accuracy import chosen, group_means
from heuristic_core.analysis.frames import frame
from heuristic_core.tables import RUN

# Accuracies are ratios and their means are sums of floats: equality holds up to rounding only.
ROUNDING = 1e-9


def effective_size(
    accuracy: pd.DataFrame, margin: float, seeds: Sequence[int], subsets: Collection[str] | None = None
) -> pd.DataFrame:
    """Table "effective_size" from table "accuracy".

    margin: points. seeds: the pruning seeds of the curve. subsets: those that enter group means; default all.
    Group "mixed" is the plain mean over all in-domain and out-of-domain subsets (the authors' script).
    Failed subnetworks, absent or with a null accuracy, are left out. Effective size is undefined where the full
    model itself does not exceed the margin, and missing where the full model, a seed, or a sparsity that other
    steps of the run have is absent; both are nulls with a reason.
    """
    means = _means(accuracy, subsets)
    rows = []
    for run, of_run in means.groupby([*RUN]):
        sparsities = sorted(of_run.loc[of_run["seed"].isin(seeds), "sparsity"].unique())
        floor = _percent_kept(sparsities[-1]) if sparsities else None
        for (step, group), cells in of_run.groupby(["step", "group"]):
            full = cells.loc[cells["seed"].isna(), "accuracy"].dropna()
            full = full.iloc[0] if len(full) else None
            curves = cells[cells["seed"].isin(seeds)].pivot(index="sparsity", columns="seed", values="accuracy")
            curves = curves.reindex(index=sparsities, columns=list(seeds))
            identity = dict(zip(RUN, run, strict=True)) | {"step": step, "group": group}
            identity |= {"margin": margin, "full_accuracy": full, "floor": floor}
            rows += [identity | row for row in _sizes(curves, full, margin)]
    return frame("effective_size", rows)


def _means(accuracy: pd.DataFrame, subsets: Collection[str] | None) -> pd.DataFrame:
    """Means per group, "mixed" among them where there are in-domain and out-of-domain subsets."""
    rows = chosen(accuracy, subsets)
    if {"id", "ood"} <= set(rows["group"]):
        rows = pd.concat([rows, rows[rows["group"].isin(["id", "ood"])].assign(group="mixed")])
    return group_means(rows)


def _sizes(curves: pd.DataFrame, full: float | None, margin: float) -> Iterator[dict]:
    """One summary row for each order, and one for each seed in the orders that go seed by seed.

    curves: accuracy, percent; sparsities (ascending) x seeds, null where a subnetwork is missing.
    """
    reason = _reason(curves, full, margin)
    present = curves.dropna(axis="columns", how="all")
    for order, largest in (("per-seed", _largest_faithful), ("upward", _last_before_failure)):
        sizes = {} if reason else {seed: _size(present[seed], full, margin, largest) for seed in present}
        for seed in curves:
            absent = None if seed in present else f"no subnetworks of pruning seed {seed}"
            row = {"order": order, "seed": seed, "effective_size": sizes.get(seed)}
            yield row | {"n_seeds": int(absent is None), "reason": reason or absent}
        values = pd.Series(sizes, dtype=float)
        summary = {"order": order, "effective_size": values.mean(), "sd": values.std()}
        yield summary | {"n_seeds": present.shape[1], "reason": reason}
    size = None if reason else _size(present.mean(axis="columns"), full, margin, _largest_faithful)
    yield {"order": "mean-first", "effective_size": size, "n_seeds": present.shape[1], "reason": reason}


def _reason(curves: pd.DataFrame, full: float | None, margin: float) -> str | None:
    """Why no effective size can be given for this checkpoint and group; None if it can."""
    if full is None:
        return "the full model was not evaluated"
    if full <= margin + ROUNDING:
        return f"full model at {full:.1f} %, below the margin of {margin:g} points"
    missing = curves.index[curves.isna().all(axis="columns")]
    if len(missing) == len(curves):
        return f"no subnetworks of pruning seeds {', '.join(map(str, curves))}"
    if len(missing):
        return f"no subnetworks at sparsity {', '.join(f'{sparsity:g}' for sparsity in missing)}"
    return None


def _size(curve: pd.Series, full: float, margin: float, largest: Callable[[pd.Series], float]) -> float:
    """Effective size, percent of components, from accuracies by ascending sparsity."""
    faithful = curve.dropna() - (full - margin) > ROUNDING
    return _percent_kept(largest(faithful))


def _percent_kept(sparsity: float) -> float:
    return round(100 * (1 - sparsity), 6)


def _largest_faithful(faithful: pd.Series) -> float:
    return max(faithful.index[faithful], default=0.0)


def _last_before_failure(faithful: pd.Series) -> float:
    return _largest_faithful(faithful.cummin())
