"""Choose the heads to close in further pruning runs: the core, or a random set."""

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.ablation_sets import draw_matched_sets
from heuristic_core.models.components import ComponentGrid


def list_core_heads(core: pd.DataFrame) -> tuple[int, ...]:
    """Return the component indices of the core, in ascending order.

    Args:
        core: Table "core" of one fine-tuning run.
    """
    return tuple(sorted(int(component) for component in core.loc[core["in_core"], "component"]))


def draw_control_sets(core: Sequence[int], grid: ComponentGrid, count: int, seed: int) -> list[tuple[int, ...]]:
    """Draw distinct random sets with as many heads in each layer as the core, as in ablations.

    All heads of a layer may be drawn, but never exactly the core. Core heads are not excluded: a core found by chance
    could hold the only head of a layer that matters, and random sets could then never hold it. Core and random sets
    would not be exchangeable, and the permutation test over them would reject too often.

    Args:
        core: Component indices of the core, ascending.
        grid: Components of the model.
        count: Number of sets; fewer are returned if fewer exist.
        seed: Seed of the draws.

    Returns:
        Component indices of each set, ascending; an empty list if the core is empty.
    """
    if not core:
        return []
    layers = "+".join(str(head // grid.heads) for head in core)
    return list(draw_matched_sets(layers, range(grid.layers * grid.heads), grid.heads, count, seed, tuple(core)))


def explain_missing_set(core: Sequence[int], number: int, available: int) -> str:
    """Return why no pruning run closed a set.

    Args:
        core: Component indices of the core.
        number: Number of the set; 0 is the core.
        available: Number of random sets that exist.
    """
    if not core:
        return "was not run: the core is empty"
    return f"was not run: random set {number}, but only {available} other sets have the core's layers"


def draw_matched_set(heads: Collection[int], grid: ComponentGrid, rng: np.random.Generator) -> tuple[int, ...]:
    """Draw a random set with as many heads in each layer as `heads`.

    Args:
        heads: Component indices of heads; they may be drawn as well.
        grid: Components of the model.
        rng: Generator of the draws.

    Returns:
        Component indices, ascending.
    """
    matched: list[int] = []
    for layer, count in sorted(Counter(head // grid.heads for head in heads).items()):
        matched += (layer * grid.heads + rng.permutation(grid.heads)[:count]).tolist()
    return tuple(sorted(matched))
