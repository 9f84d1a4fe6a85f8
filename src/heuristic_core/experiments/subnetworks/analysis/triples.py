"""The three strongest heads of the core, chosen on one half of the pairs and tested on the other.

The paper ablates three strong core heads together, never the whole core (table 3). Heads that are chosen by their cost
appear to cost more on the pairs that chose them than on other pairs, and more than random heads. Random sets as large
as the core, in the same layers, therefore choose their own strongest three in the same way. They are drawn from all
heads, core heads included: only then is a random set found to be special as rarely as p says. Sets drawn from the few
other heads of a layer would overlap each other, but not the core.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.subnetworks.analysis.ablation_cells import (
    MODEL_KEYS,
    ModelPredictions,
    split_by_model,
)
from heuristic_core.experiments.subnetworks.analysis.ablation_sets import AblationSet, select_strongest
from heuristic_core.experiments.subnetworks.analysis.ablations import compute_ablations
from heuristic_core.models.components import ComponentGrid
from heuristic_core.stats.frames import make_frame
from heuristic_core.tables.columns import ABLATION, RUN, STEP

TRIPLE, CONTROL = "triple", "control-triple"
SOURCE_ROLES = ("none", "core", TRIPLE, CONTROL)  # roles that table "triples" is made from


def choose_triples(
    core_heads: Sequence[int], drops: Mapping[int, float], grid: ComponentGrid, draws: int, seed: int
) -> list[AblationSet]:
    """Choose the triples of the core and of random sets.

    Args:
        core_heads: Component indices of core heads.
        drops: Cost of ablating each head alone on the choosing half, points, by component index.
        grid: Components of the model.
        draws: Number of random sets.
        seed: Seed of the random sets.

    Returns:
        The core's triple, then those of random sets; empty if the core has three heads or fewer.
    """
    if len(core_heads) <= 3:
        return []
    rng, layers = numpy_generator(seed, "triples"), Counter(head // grid.heads for head in core_heads)
    head_sets = [tuple(core_heads)]
    for _ in range(draws):
        heads_by_layer = (
            layer * grid.heads + rng.permutation(grid.heads)[:count] for layer, count in sorted(layers.items())
        )
        head_sets.append(tuple(int(head) for layer_heads in heads_by_layer for head in layer_heads))
    triples_of_sets = []
    for k, head_set in enumerate(head_sets):
        heads = select_strongest(head_set, drops)
        name, role = (f"{TRIPLE} of random set {k}", CONTROL) if k else (TRIPLE, TRIPLE)
        triples_of_sets.append(
            AblationSet(name, role, heads, "+".join(str(head // grid.heads) for head in heads), all_kinds=False)
        )
    return triples_of_sets


def mark_choosing_half(predictions: pd.DataFrame) -> np.ndarray:
    """Mark the rows of the choosing half: every other pair of each subset, template by template.

    Args:
        predictions: Table "ablation_predictions", with pairs in the same order for each ablation, and text as
            categories, so that the choosing and the testing job order templates equally, by first appearance.

    Returns:
        bool [rows].
    """
    keys = [name for name in (*RUN, *STEP, *ABLATION, "draw", "subset") if name in predictions]
    rows = predictions[[*keys, "template"]].reset_index(drop=True).sort_values("template", kind="stable")
    rank = rows.groupby(keys, dropna=False, observed=True).cumcount()
    return rank.sort_index().to_numpy() % 2 == 0


def compute_triples(
    predictions: pd.DataFrame | Mapping[tuple, ModelPredictions],
    sets: pd.DataFrame,
    subsets: Collection[str] | None,
    rule: str,
    bootstrap: int,
    seed: int,
) -> pd.DataFrame:
    """Make table "triples" from tables "ablation_predictions" and "ablation_sets", on the testing half.

    Args:
        predictions: Table "ablation_predictions", or its cells by model.
        sets: Table "ablation_sets".
        subsets: As for :func:`compute_ablations`.
        rule: As for :func:`compute_ablations`.
        bootstrap: As for :func:`compute_ablations`.
        seed: As for :func:`compute_ablations`.

    Returns:
        A row for each triple and level; none for runs whose core has three heads or fewer.
    """
    parts = []
    for model, cells in (split_by_model(predictions) if isinstance(predictions, pd.DataFrame) else predictions).items():
        run_sets = sets[(sets[MODEL_KEYS] == list(model)).all(axis=1)]
        kinds = run_sets.loc[run_sets["role"] == TRIPLE, "kind"].unique()  # the first; none without a triple
        run_sets = run_sets[run_sets["role"].isin(SOURCE_ROLES) & run_sets["kind"].isin(kinds)]
        tested = {model: replace(cells, select=partial(_select_testing_half, run_sets))}
        rows = compute_ablations(tested, run_sets, subsets, rule, bootstrap, seed) if len(kinds) else run_sets
        parts.append(rows[rows["role"].isin((TRIPLE, CONTROL))])
    return make_frame("triples", pd.concat(parts) if parts else [])


def _select_testing_half(sets: pd.DataFrame, cell: pd.DataFrame) -> pd.DataFrame:
    """Select the predictions of `sets` on the testing half."""
    cell = cell[cell["ablation"].isin(sets["ablation"]) & cell["kind"].isin(sets["kind"])]
    return cell[~mark_choosing_half(cell)]
