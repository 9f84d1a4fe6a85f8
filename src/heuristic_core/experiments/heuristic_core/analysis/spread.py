"""How subnetworks spread: over pruning seeds, over fine-tuning seeds, and over two runs of the same pruning seed."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from heuristic_core.analysis.frames import frame
from heuristic_core.analysis.seeds import FINE_TUNING_SEEDS, PRUNING_SEEDS, mean_interval
from heuristic_core.experiments.heuristic_core.analysis.accuracy import LEAST
from heuristic_core.experiments.heuristic_core.config.context import Context
from heuristic_core.tables.columns import RUN, STEP, SUBSET

STUDY = [name for name in RUN if name != "ft_seed"]


def spread_rows(accuracy: pd.DataFrame, group_accuracy: pd.DataFrame, context: Context) -> pd.DataFrame:
    """The spread's accuracies (first runs) and the full model's: rows of subsets, then of groups (subset null)."""
    rows = pd.concat([accuracy, group_accuracy.assign(subset=None, family=None)])
    of_spread = rows["sparsity"].isin([context.mid, context.high]) & rows["seed"].isin(list(context.seeds))
    here = (rows["step"] == context.last) & (rows["repeat"] == 0) & (of_spread | rows["seed"].isna())
    return rows[here]


def summary(accuracy: pd.DataFrame, group_accuracy: pd.DataFrame, context: Context) -> pd.DataFrame:
    """Table "summary" of the last checkpoint's subnetworks at mid and high sparsity.

    Over pruning seeds, one row for each fine-tuning seed; over fine-tuning seeds, which are the unit of what is claimed
    about a way of training, one row for each of full model, mid and high. Failed runs are left out of n.
    """
    rows = spread_rows(accuracy, group_accuracy, context).dropna(subset="accuracy")
    cell = [*STEP, "sparsity", *SUBSET]
    over_pruning = _condensed(rows[rows["seed"].notna()], [*RUN, *cell], PRUNING_SEEDS)
    full = rows[rows["seed"].isna()].rename(columns={"accuracy": "mean"})
    over_tuning = pd.concat([over_pruning, full])[[*RUN, *cell, "mean"]].rename(columns={"mean": "accuracy"})
    over_tuning = _condensed(over_tuning, [*STUDY, *cell], FINE_TUNING_SEEDS)
    return frame("summary", pd.concat([over_pruning, over_tuning]))


def _condensed(rows: pd.DataFrame, keys: list[str], over: str) -> pd.DataFrame:
    values = rows.groupby(keys, dropna=False, sort=False)["accuracy"]
    table = values.agg(n="size", sd="std", min="min", max="max").reset_index()
    table["mean"], table["low"], table["high"] = zip(*(mean_interval(v) for _, v in values), strict=True)
    least = table["group"].map(LEAST).fillna(0)
    bounded = {end: table[end].clip(least, 100) for end in ("low", "high")}  # few seeds reach beyond what can be
    return table.assign(over=over, **bounded)


def variance(accuracy: pd.DataFrame, group_accuracy: pd.DataFrame, context: Context, components=None) -> pd.DataFrame:
    """Table "variance": how much pruning seeds differ, and how much two runs of one seed do.

    Two runs of a seed that share configuration and seed differ only by what the seed does not decide: the order of
    floating-point sums (on a GPU, or where seeds share a pass), or, in published results, another rule for the mask.
    within_sd: for differences d_i of n repeated seeds, sqrt(sum d_i^2 / 2n), the standard deviation of a single run.
    components: table "components", to tell whether both runs kept the same; None where unknown.
    """
    rows = pd.concat([accuracy, group_accuracy.assign(subset=None, family=None)])
    here = (rows["step"] == context.last) & rows["sparsity"].isin([context.mid, context.high])
    rows = rows[here & rows["seed"].isin(list(context.seeds))]
    same = _same_masks(components, context) if components is not None else {}
    found = []
    for keys, cell in rows.groupby([*RUN, *STEP, "sparsity", *SUBSET], dropna=False, sort=False):
        runs = cell.pivot(index="seed", columns="repeat", values="accuracy").reindex(columns=[0, 1])
        difference = (runs[1] - runs[0]).dropna()
        identity = dict(zip([*RUN, *STEP, "sparsity", *SUBSET], keys, strict=True))
        found.append(
            identity
            | {
                "between_sd": runs[0].std(),
                "seeds": runs[0].count(),
                "within_sd": np.sqrt((difference**2).mean() / 2) if len(difference) else None,
                "repeated": len(difference),
                "same_masks": same.get((identity["ft_seed"], identity["sparsity"])),
            }
        )
    return frame("variance", found)


def _same_masks(components: pd.DataFrame, context: Context) -> dict[tuple, int]:
    """How many repeated seeds kept the same components both times, by fine-tuning seed and sparsity."""
    here = (components["step"] == context.last) & components["seed"].isin(list(context.repeats))
    return {
        key: sum(_same_twice(cell)) for key, cell in components[here].groupby(["ft_seed", "sparsity"]) if _twice(cell)
    }


def _twice(cell: pd.DataFrame) -> bool:
    return cell["repeat"].nunique() > 1


def _same_twice(cell: pd.DataFrame) -> Iterator[bool]:
    for _, runs in cell.groupby("seed"):
        kept = runs.pivot(index="component", columns="repeat", values="kept")
        yield kept.shape[1] == 2 and bool((kept[0] == kept[1]).all())
