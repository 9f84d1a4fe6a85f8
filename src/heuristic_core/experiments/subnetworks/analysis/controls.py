"""Compare learned subnetworks with controls: random subnetworks, and subnetworks chosen by gradient importance."""

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from heuristic_core.data.sampling import sample_subset
from heuristic_core.experiments.subnetworks.analysis.accuracy import RULES, select_subsets
from heuristic_core.models.components import ComponentGrid
from heuristic_core.stats.frames import make_frame
from heuristic_core.stats.seeds import mean_interval
from heuristic_core.tables.columns import RUN, STEP, SUBSET

CONTROLS = ("learned", "random", "importance")
SUBNETWORK = [*RUN, *STEP, "sparsity", "seed", "control"]


def permute_heads(kept: Sequence[int], grid: ComponentGrid, rng: np.random.Generator) -> list[int]:
    """Draw a random subnetwork with the MLPs of `kept` and as many heads in each layer; ascending component indices."""
    components, permuted_indices = list(grid), [index for index in kept if index >= grid.layers * grid.heads]
    for layer in range(grid.layers):
        count = sum(components[index].kind == "head" and components[index].layer == layer for index in kept)
        permuted_indices += (layer * grid.heads + rng.permutation(grid.heads)[:count]).tolist()
    return sorted(permuted_indices)


def compute_drawn_accuracy(
    predictions: pd.DataFrame, pairs: int | None = None, seed: int = 0, rule: str = "argmax-first"
) -> pd.DataFrame:
    """Compute the accuracy, percent, of each subnetwork on drawn pairs of each subset.

    Controls and learned subnetworks are evaluated on the same pairs: :func:`sample_subset` draws both.

    Args:
        predictions: Table "control_predictions", or "predictions" of learned subnetworks, with pairs in the order of
            their set.
        pairs: Number of pairs of each subset; None for all.
        seed: ``analysis.seed``.
        rule: ``analysis.class_rule``.

    Returns:
        The columns `SUBNETWORK` and those of a subset, and accuracy.
    """
    rows = predictions if "control" in predictions else predictions.assign(control="learned")
    keys = [*SUBNETWORK, *SUBSET]
    parts = [part for _, part in rows.groupby(keys, dropna=False)]
    drawn = [part.iloc[sample_subset(part["label"], part["subset"].iloc[0], pairs, seed)] for part in parts]
    means = 100 * pd.concat([rows.head(0), *drawn]).groupby(keys, dropna=False)[RULES[rule]].mean()
    return means.rename("accuracy").reset_index()


def compute_controls(accuracy: pd.DataFrame, subsets: Collection[str] | None = None) -> pd.DataFrame:
    """Compute table "controls" by subset and by group (subset null), an unweighted mean over the group's subsets.

    A random subnetwork is compared with the learned subnetwork whose heads it permutes, the subnetwork chosen by
    importance with all learned subnetworks. Failed runs have no rows.

    Args:
        accuracy: Accuracies of learned subnetworks and controls from :func:`compute_drawn_accuracy`.
        subsets: Subsets that enter group means; None for all.
    """
    groups = (
        select_subsets(accuracy, subsets).groupby([*SUBNETWORK, "group"], dropna=False)["accuracy"].mean().reset_index()
    )
    rows = []
    keys = [*RUN, *STEP, "sparsity", *SUBSET]
    for key, cell in pd.concat([accuracy, groups]).groupby(keys, dropna=False):
        by_control = {name: rows.set_index("seed")["accuracy"] for name, rows in cell.groupby("control")}
        rows += [dict(zip(keys, key, strict=True)) | row for row in _control_rows(by_control)]
    return make_frame("controls", rows)


def _control_rows(accuracy: dict[str, pd.Series]) -> list[dict]:
    """Return the rows of one subset or group; `accuracy` is by control, then by pruning seed."""
    rows = []
    for name in CONTROLS:
        if name not in accuracy:
            continue
        values = accuracy[name]
        row = {"control": name, "n": len(values), "accuracy": values.mean(), "sd": values.std()}
        if name != "learned" and "learned" in accuracy:
            reference = values.mean() if name == "importance" else values
            difference, low, high = mean_interval((accuracy["learned"] - reference).dropna())
            row |= {"difference": difference, "difference_low": low, "difference_high": high}
        rows.append(row)
    return rows
