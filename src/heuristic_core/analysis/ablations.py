"""What ablating sets of heads costs, and what it costs beyond the sum of its heads (paper, section 6)."""

from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd

from heuristic_core.analysis.accuracy import chosen, group_means, percent_correct
from heuristic_core.analysis.frames import frame, generator
from heuristic_core.tables import RUN, STEP, SUBSET

MODEL = [*RUN, *STEP]
SINGLE = ("core", "non-core")


def ablations(
    predictions: pd.DataFrame,
    sets: pd.DataFrame,
    subsets: Collection[str] | None = None,
    bootstrap: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Table "ablations" from tables "ablation_predictions" and "ablation_sets".

    An ablation has one row for each subset, and one for each group (subset null): the unweighted mean over its
    subsets, restricted to `subsets` where given, with n the pairs of them all. Changes are against "none".
    bootstrap: resamples of a subset's pairs, the same for the ablated and the full model; none for controls.
    Raises ValueError where "none" or pairs of an ablation are absent, or an ablation stands in no set.
    """
    cells = percent_correct(predictions, [*MODEL, "ablation", *SUBSET])
    rows = pd.concat([cells, _groups(cells, subsets)])
    # `position` keeps the order of the sets, in which controls follow what they match.
    described = sets.assign(size=sets["heads"].map(len), position=range(len(sets)))
    rows = rows.merge(described, on=[*MODEL, "ablation"], how="left")
    if rows["position"].isna().any():
        raise ValueError(f"no set is named {rows.loc[rows['position'].isna(), 'ablation'].iloc[0]!r}")
    by_subset = rows.groupby([*MODEL, "subset", "group"], dropna=False)
    rows = pd.concat([_against_full(cell) for _, cell in by_subset])
    without_controls = sets.loc[sets["role"] != "control", "ablation"]
    intervals = _intervals(predictions[predictions["ablation"].isin(without_controls)], bootstrap, seed)
    rows = rows.merge(intervals, on=[*MODEL, "ablation", "subset", "group"], how="left")
    return frame("ablations", rows.sort_values([*MODEL, "position", "subset", "group"]))


def single_ood_drops(
    predictions: pd.DataFrame, sets: pd.DataFrame, subsets: Collection[str] | None = None
) -> dict[int, float]:
    """Points of out-of-domain accuracy that each head's single ablation costs, by component index.

    predictions, sets: tables "ablation_predictions" and "ablation_sets" of one model.
    """
    groups = _groups(percent_correct(predictions, [*MODEL, "ablation", *SUBSET]), subsets)
    ood = groups[groups["group"] == "ood"].set_index("ablation")["accuracy"]
    singles = sets[sets["role"].isin(SINGLE)]
    named = zip(singles["heads"], singles["ablation"], strict=True)
    return {int(heads[0]): float(ood["none"] - ood[name]) for heads, name in named}


def _groups(cells: pd.DataFrame, subsets: Collection[str] | None) -> pd.DataFrame:
    """`cells`, accuracies by ablation and subset, averaged over groups: with their columns, subset and family null."""
    keys = [*MODEL, "ablation", "group"]
    pairs = chosen(cells, subsets).groupby(keys, as_index=False)["n"].sum()
    return group_means(cells, subsets).merge(pairs, on=keys).assign(subset=None, family=None)


def _against_full(cell: pd.DataFrame) -> pd.DataFrame:
    """`cell`, all ablations of one model on one subset or group, with columns change and interaction."""
    accuracy = cell.set_index("ablation")["accuracy"]
    if "none" not in accuracy:
        raise ValueError("no predictions of ablation 'none', against which the others are compared")
    pairs = cell.set_index("ablation")["n"]
    if len(different := pairs[pairs != pairs["none"]]):
        name, n = different.index[0], different.iloc[0]
        subset = cell["subset"].iloc[0]
        raise ValueError(f"ablation {name!r} has predictions of {n} pairs of {subset}, 'none' of {pairs['none']}")
    cell = cell.assign(change=cell["accuracy"] - accuracy["none"])
    single = cell[cell["role"].isin(SINGLE)]
    single_drop = {int(row.heads[0]): -row.change for row in single.itertuples()}
    return cell.assign(interaction=[_interaction(row, single_drop) for row in cell.itertuples()])


def _interaction(row, single_drop: Mapping[int, float]) -> float:
    """The drop of a set minus the sum of its heads' single drops, points: positive is super-additive."""
    if row.role == "control" or row.size < 2 or not set(row.heads) <= set(single_drop):
        return np.nan
    return -row.change - sum(single_drop[head] for head in row.heads)


def _intervals(predictions: pd.DataFrame, bootstrap: int, seed: int) -> pd.DataFrame:
    """Columns of the model, ablation, subset, group, change_low and change_high."""
    rows = []
    for (*model, subset, group), cell in predictions.groupby([*MODEL, "subset", "group"]):
        correct = cell.pivot(index="example", columns="ablation", values="correct")
        if len(incomplete := correct.columns[correct.isna().any()]):
            raise ValueError(f"ablation {incomplete[0]!r} lacks predictions of pairs of {subset}")
        correct = correct.astype(int)
        for name in correct:
            rng = generator(seed, *map(int, model[-2:]), name, subset, group)
            low, high = paired_interval((correct[name] - correct["none"]).to_numpy(), bootstrap, rng)
            rows.append((*model, name, subset, group, low, high))
    return pd.DataFrame(rows, columns=[*MODEL, "ablation", "subset", "group", "change_low", "change_high"])


def paired_interval(difference: np.ndarray, bootstrap: int, rng: np.random.Generator) -> tuple[float, float]:
    """The 2.5th and 97.5th percentile of 100 * the mean of `difference` over resamples of pairs, points.

    difference: ablated minus full, -1, 0 or 1 per pair.
    """
    # A resample of the pairs matters only through how many of each outcome it holds. That is multinomial, so
    # the counts can be drawn themselves: exact, and without indices.
    n = len(difference)
    shares = [(difference == outcome).mean() for outcome in (1, -1, 0)]
    counts = rng.multinomial(n, shares, size=bootstrap)
    low, high = np.percentile(100 * (counts[:, 0] - counts[:, 1]) / n, [2.5, 97.5])
    return float(low), float(high)
