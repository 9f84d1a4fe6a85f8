"""The core's three strongest heads, judged fairly: chosen on one half of the pairs, and tested on the other.

The paper ablates three strong core heads together, never the whole core (table 3). Heads that are chosen by what they
cost seem to cost more on the pairs that chose them than on others, and more than random heads that nobody chose. So
random sets as large as the core, of the same layers, choose their own strongest three in the same way. They are drawn
from all heads, the core's among them: only then is a core like any set of heads found special as rarely as p says. Sets
from the few other heads of a layer overlap one another, but not the core.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from heuristic_core.analysis.frames import frame
from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.heuristic_core.analysis.ablation_cells import MODEL, Cells, cells_of
from heuristic_core.experiments.heuristic_core.analysis.ablation_sets import AblationSet, strongest
from heuristic_core.experiments.heuristic_core.analysis.ablations import ablations
from heuristic_core.models.components import ComponentGrid
from heuristic_core.tables.columns import ABLATION, RUN, STEP

TRIPLE, CONTROL = "triple", "control-triple"
READ = ("none", "core", TRIPLE, CONTROL)  # roles that table "triples" is made from


def triple_sets(
    core_heads: Sequence[int], drops: Mapping[int, float], grid: ComponentGrid, draws: int, seed: int
) -> list[AblationSet]:
    """The triples of the core and of `draws` random sets; none of a core of three heads or fewer.

    core_heads: component indices. drops: points that each head's single ablation costs on the choosing half, by index.
    """
    if len(core_heads) <= 3:
        return []
    rng, layers = numpy_generator(seed, "triples"), Counter(head // grid.heads for head in core_heads)
    wholes = [tuple(core_heads)]
    for _ in range(draws):
        parts = (layer * grid.heads + rng.permutation(grid.heads)[:count] for layer, count in sorted(layers.items()))
        wholes.append(tuple(int(head) for part in parts for head in part))
    found = []
    for k, whole in enumerate(wholes):
        heads = strongest(whole, drops)
        name, role = (f"{TRIPLE} of random set {k}", CONTROL) if k else (TRIPLE, TRIPLE)
        found.append(
            AblationSet(name, role, heads, "+".join(str(head // grid.heads) for head in heads), every_kind=False)
        )
    return found


def choosing(predictions: pd.DataFrame) -> np.ndarray:
    """Which rows are of the half of the pairs that chooses: every other pair of each subset, template by template.

    predictions: table "ablation_predictions", the pairs of every ablation in the same order, and text as categories:
    templates are in the order in which they appear, for the job that chooses and for the job that tests.
    """
    keys = [name for name in (*RUN, *STEP, *ABLATION, "draw", "subset") if name in predictions]
    rows = predictions[[*keys, "template"]].reset_index(drop=True).sort_values("template", kind="stable")
    place = rows.groupby(keys, dropna=False, observed=True).cumcount()
    return place.sort_index().to_numpy() % 2 == 0


def triples(
    predictions: pd.DataFrame | Mapping[tuple, Cells],
    sets: pd.DataFrame,
    subsets: Collection[str] | None,
    rule: str,
    bootstrap: int,
    seed: int,
) -> pd.DataFrame:
    """Table "triples" from tables "ablation_predictions" and "ablation_sets", on the half that did not choose.

    Runs whose core has three heads or fewer have no rows. Arguments as of :func:`ablations`.
    """
    found = []
    for model, of_model in (cells_of(predictions) if isinstance(predictions, pd.DataFrame) else predictions).items():
        own = sets[(sets[MODEL] == list(model)).all(axis=1)]
        kinds = own.loc[own["role"] == TRIPLE, "kind"].unique()  # the first; none without a triple
        own = own[own["role"].isin(READ) & own["kind"].isin(kinds)]
        tested = {model: replace(of_model, select=partial(_testing, own))}
        rows = ablations(tested, own, subsets, rule, bootstrap, seed) if len(kinds) else own
        found.append(rows[rows["role"].isin((TRIPLE, CONTROL))])
    return frame("triples", pd.concat(found) if found else [])


def _testing(sets: pd.DataFrame, cell: pd.DataFrame) -> pd.DataFrame:
    """The predictions of `sets` on the half that did not choose."""
    cell = cell[cell["ablation"].isin(sets["ablation"]) & cell["kind"].isin(sets["kind"])]
    return cell[~choosing(cell)]
