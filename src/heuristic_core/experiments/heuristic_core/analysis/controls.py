"""Learned subnetworks against subnetworks found without learning: at random, and by gradient importance."""

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from heuristic_core.analysis.frames import frame
from heuristic_core.analysis.seeds import mean_interval
from heuristic_core.experiments.heuristic_core.analysis.accuracy import RULES, chosen
from heuristic_core.models.components import ComponentGrid
from heuristic_core.tables.columns import RUN, STEP, SUBSET
from heuristic_core.tasks.sampling import of_subset

CONTROLS = ("learned", "random", "importance")
SUBNETWORK = [*RUN, *STEP, "sparsity", "seed", "control"]


def permuted(kept: Sequence[int], grid: ComponentGrid, rng: np.random.Generator) -> list[int]:
    """Ascending component indices: as many heads as `kept` has in every layer, drawn at random, and the same MLPs."""
    components, found = list(grid), [index for index in kept if index >= grid.layers * grid.heads]
    for layer in range(grid.layers):
        count = sum(components[index].kind == "head" and components[index].layer == layer for index in kept)
        found += (layer * grid.heads + rng.permutation(grid.heads)[:count]).tolist()
    return sorted(found)


def on_drawn_pairs(
    predictions: pd.DataFrame, pairs: int | None = None, seed: int = 0, rule: str = "argmax-first"
) -> pd.DataFrame:
    """Accuracy, percent, of every subnetwork on every subset, over `pairs` drawn pairs of it; all for None.

    The pairs of learned subnetworks are those on which controls are evaluated: both are drawn by :func:`of_subset`.

    predictions: table "control_predictions", or "predictions" of learned subnetworks, pairs in the order of their set.
    seed, rule: ``analysis.seed`` and ``analysis.class_rule``. Columns: `SUBNETWORK`, the subset's, accuracy.
    """
    rows = predictions if "control" in predictions else predictions.assign(control="learned")
    keys = [*SUBNETWORK, *SUBSET]
    parts = [part for _, part in rows.groupby(keys, dropna=False)]
    drawn = [part.iloc[of_subset(part["label"], part["subset"].iloc[0], pairs, seed)] for part in parts]
    means = 100 * pd.concat([rows.head(0), *drawn]).groupby(keys, dropna=False)[RULES[rule]].mean()
    return means.rename("accuracy").reset_index()


def controls(accuracy: pd.DataFrame, subsets: Collection[str] | None = None) -> pd.DataFrame:
    """Table "controls" from the accuracies of learned subnetworks and controls, as :func:`on_drawn_pairs` gives.

    By subset and by group (subset null): the unweighted mean over its subsets, restricted to `subsets` where given. A
    random subnetwork is compared with the learned one whose heads it permutes, the one of importance with every learned
    one. Failed runs are absent.
    """
    groups = chosen(accuracy, subsets).groupby([*SUBNETWORK, "group"], dropna=False)["accuracy"].mean().reset_index()
    rows = []
    keys = [*RUN, *STEP, "sparsity", *SUBSET]
    for key, of_key in pd.concat([accuracy, groups]).groupby(keys, dropna=False):
        by_control = {name: rows.set_index("seed")["accuracy"] for name, rows in of_key.groupby("control")}
        rows += [dict(zip(keys, key, strict=True)) | row for row in _compared(by_control)]
    return frame("controls", rows)


def _compared(accuracy: dict[str, pd.Series]) -> list[dict]:
    """The rows of one subset or group. accuracy: by control, then by pruning seed."""
    rows = []
    for name in CONTROLS:
        if name not in accuracy:
            continue
        values = accuracy[name]
        row = {"control": name, "n": len(values), "accuracy": values.mean(), "sd": values.std()}
        if name != "learned" and "learned" in accuracy:
            against = values.mean() if name == "importance" else values
            difference, low, high = mean_interval((accuracy["learned"] - against).dropna())
            row |= {"difference": difference, "difference_low": low, "difference_high": high}
        rows.append(row)
    return rows
