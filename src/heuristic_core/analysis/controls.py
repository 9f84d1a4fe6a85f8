"""Learned subnetworks against subnetworks found without learning: random ones, and those of gradient importance."""

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from heuristic_core.analysis.accuracy import RULES, chosen
from heuristic_core.analysis.frames import frame
from heuristic_core.analysis.seeds import mean_interval
from heuristic_core.components import ComponentGrid
from heuristic_core.config.context import Context
from heuristic_core.tables import RUN, STEP, SUBSET

CONTROLS = ("learned", "random", "importance")


def permuted(kept: Sequence[int], grid: ComponentGrid, rng: np.random.Generator) -> list[int]:
    """Ascending component indices: as many heads as `kept` has in every layer, drawn at random, and the same MLPs."""
    components, found = list(grid), [index for index in kept if index >= grid.layers * grid.heads]
    for layer in range(grid.layers):
        count = sum(components[index].kind == "head" and components[index].layer == layer for index in kept)
        found += (layer * grid.heads + rng.permutation(grid.heads)[:count]).tolist()
    return sorted(found)


def controls(
    predictions: pd.DataFrame,
    accuracy: pd.DataFrame,
    context: Context,
    subsets: Collection[str] | None = None,
    rule: str = "argmax-first",
) -> pd.DataFrame:
    """Table "controls" from tables "control_predictions" and "accuracy".

    Of the last checkpoint's mid and high sparsity, by subset and by group (subset null): the unweighted mean over its
    subsets, restricted to `subsets` where given. A random subnetwork is compared with the learned one whose heads it
    permutes, the one of importance with every learned one. Failed runs (accuracy null) are left out.
    rule: ``analysis.class_rule``.
    """
    cell = [*RUN, *STEP, "sparsity", "seed"]
    by_subnetwork = predictions.groupby([*cell, "control", *SUBSET], dropna=False, observed=True)
    found = (100 * by_subnetwork[RULES[rule]].mean()).rename("accuracy").reset_index()
    spread = (accuracy["step"] == context.last) & accuracy["sparsity"].isin([context.mid, context.high])
    spread &= accuracy["seed"].isin(context.seeds) & (accuracy["repeat"] == 0)
    learned = accuracy.loc[spread, [*cell, *SUBSET, "accuracy"]].assign(control="learned")
    subnetworks = pd.concat([learned, found])
    of_group = chosen(subnetworks, subsets).groupby([*cell, "control", "group"], dropna=False)["accuracy"]
    groups = of_group.agg(lambda values: values.mean(skipna=False)).reset_index()
    rows = []
    keys = [*RUN, *STEP, "sparsity", *SUBSET]
    for key, of_key in pd.concat([subnetworks, groups]).groupby(keys, dropna=False):
        by_control = {name: rows.set_index("seed")["accuracy"].dropna() for name, rows in of_key.groupby("control")}
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
