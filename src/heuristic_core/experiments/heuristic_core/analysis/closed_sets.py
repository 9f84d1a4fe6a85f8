"""Which heads are closed in further pruning runs: the core, and random sets in its place."""

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from heuristic_core.experiments.heuristic_core.analysis.ablation_sets import matched_sets
from heuristic_core.models.components import ComponentGrid


def core_heads(core: pd.DataFrame) -> tuple[int, ...]:
    """Ascending component indices of the core, from table "core" of one fine-tuning run."""
    return tuple(sorted(int(component) for component in core.loc[core["in_core"], "component"]))


def sets_beside(core: Sequence[int], grid: ComponentGrid, count: int, seed: int) -> list[tuple[int, ...]]:
    """At most `count` different random sets with as many heads of each layer as the core, but none of the core.

    core, and each set: ascending component indices. A set that held a core head would be a control that has part of
    what it controls for. Fewer sets come where no more exist, none beside an empty core.
    """
    if not core:
        return []
    layers = "+".join(str(head // grid.heads) for head in core)
    others = [head for head in range(grid.layers * grid.heads) if head not in core]
    return list(matched_sets(layers, others, grid.heads, count, seed, tuple(core)))


def why_no_set(core: Sequence[int], grid: ComponentGrid, number: int, found: int) -> str:
    """Why a pruning run with set `number` closed (0: the core) did not take place, where `found` sets exist."""
    if not core:
        return "was not run: the core is empty"
    for layer, of_core in Counter(head // grid.heads for head in core).items():
        if of_core > (others := grid.heads - of_core):
            return f"was not run: layer {layer} has {others} heads beside the core's {of_core}"
    return f"was not run: random set {number} of {found}, all that the core's layers have beside the core"


def matched_set(heads: Collection[int], grid: ComponentGrid, rng: np.random.Generator) -> tuple[int, ...]:
    """A random set with as many heads of each layer as `heads`, drawn from all heads of the layer, those included."""
    drawn: list[int] = []
    for layer, number in sorted(Counter(head // grid.heads for head in heads).items()):
        drawn += (layer * grid.heads + rng.permutation(grid.heads)[:number]).tolist()
    return tuple(sorted(drawn))
