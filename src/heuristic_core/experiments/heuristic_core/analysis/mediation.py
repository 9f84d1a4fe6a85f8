"""How much of what the core does runs through later heads (causal mediation: Pearl 2001; Vig et al. 2020).

With M a measure, C the core, ablated by its means, and G a set of later heads:
restored = M(C ablated, G as in the clean run) - M(C ablated), and transmitted = M - M(G as where C is ablated); both in
points (or nats), and as shares of what ablating the core costs, M - M(C ablated).
All later heads together restore nearly everything by construction: only the core's direct path to the logits and MLPs
is missing. So a set speaks for itself only beside random sets of as many heads of the same layers, and all later heads
only beside what later heads do of random heads in the core's place.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from heuristic_core.analysis.frames import frame
from heuristic_core.experiments.heuristic_core.analysis.ablation_sets import matched_sets
from heuristic_core.experiments.heuristic_core.analysis.contrasts import ACCURACY, LOG_ODDS, Level, Levels
from heuristic_core.models.components import ComponentGrid
from heuristic_core.tables.identity import Identity

LEARNED = "learned"
SINGLE, LAYER, ALL, COUNTER, RANDOM = "single", "layer", "all later", "counter-heuristic", "random"  # roles of sets
DIRECTIONS = ("restored", "transmitted")
BLOCK = 128  # interventions whose draws are in memory at once


class PatchedSet(NamedTuple):
    """A set of heads whose outputs are exchanged. layers: of each head, such as "1+2"."""

    name: str
    role: str
    heads: tuple[int, ...]
    layers: str


class Core(NamedTuple):
    """What is ablated: the learned core, or a random set in its place, and the sets that are looked at then."""

    name: str
    heads: tuple[int, ...]
    sets: list[PatchedSet]


def plan(core: Sequence[int], counter: Sequence[int], grid: ComponentGrid, random_sets: int, seed: int) -> list[Core]:
    """What is ablated and which sets are exchanged; nothing where the core is empty or in the last layer.

    Of the learned core: every head above its lowest layer that is not in it, all of these of each layer, all
    of them, those among them that are in `counter`, and at most `random_sets` random sets with as many heads in the
    same layers. With as many random sets of heads in the core's place: all later heads, and those in `counter`.
    """
    core = tuple(sorted(core))
    if not (later := _later(core, grid)):
        return []
    sets = _sets(core, counter, grid)
    names = [component.name for component in grid]
    singles = [PatchedSet(names[head], SINGLE, (head,), _layers((head,), grid)) for head in later]
    if own := [one for one in sets if one.role == COUNTER]:
        draws = matched_sets(own[0].layers, later, grid.heads, random_sets, seed, own[0].heads)
        sets += [PatchedSet(f"random {k}", RANDOM, heads, own[0].layers) for k, heads in enumerate(draws, start=1)]
    every = [component.index for component in grid if component.kind == "head"]
    others = enumerate(matched_sets(_layers(core, grid), every, grid.heads, random_sets, seed, core), start=1)
    return [
        Core(LEARNED, core, [*singles, *sets]),
        *(Core(f"random {k}", heads, _sets(heads, counter, grid, (ALL, COUNTER))) for k, heads in others),
    ]


def mediation(
    run: Identity,
    cores: Sequence[Core],
    levels: Levels,
    full: Mapping[str, np.ndarray],
    found: Iterable[tuple[Mapping, Mapping, Mapping]],
) -> pd.DataFrame:
    """Table "mediation" of one run.

    levels: of the pairs. full: by measure ("accuracy", percent; "log_odds", nats), values by pair, [pairs, 1]. found:
    for each of `cores`, in the same form, values without the core, [pairs, 1], and [pairs, sets] of every set, restored
    and transmitted. Single heads and random sets have levels of groups alone.
    """
    rows = []
    for core, (ablated, *patched) in zip(cores, found, strict=True):
        identity = {"study": run.study, "model": run.model, "task": run.task, "ft_seed": run.ft_seed, "step": run.step}
        identity |= {"core": core.name, "core_heads": list(core.heads)}
        for direction, values in zip(DIRECTIONS, patched, strict=True):
            for measure in (ACCURACY, LOG_ODDS):
                for first in range(0, len(core.sets), BLOCK):
                    block = slice(first, first + BLOCK)
                    of_block = full[measure], ablated[measure], values[measure][:, block]
                    rows += [
                        identity | {"direction": direction, "measure": measure} | one
                        for one in _measured(levels, core.sets[block], direction, measure, *of_block)
                    ]
    return frame("mediation", rows)


def _measured(levels: Levels, sets, direction, measure, full, ablated, patched) -> Iterable[dict]:
    """Rows of one direction and measure. full, ablated: [pairs, 1]; patched: [pairs, sets]."""
    states = levels.means(np.concatenate([full, ablated, patched], axis=1))
    cost = levels.drawn(full - ablated)
    gained = levels.drawn(patched - ablated if direction == "restored" else full - patched)
    for level in levels.levels:
        if not level.has(measure):
            continue
        of_full, of_ablated, *of_sets = level.weights @ states + (level.base if measure == ACCURACY else 0)
        points = levels.effect(level, gained, measure)
        _, (low,), (high,) = levels.effect(level, cost, measure)
        clear = low > 0 or high < 0
        share = levels.ratio(level, gained, cost, measure) if clear else ()
        for k, one in enumerate(sets):
            if _wanted(level, one):
                columns = {"full": of_full, "ablated": of_ablated, "patched": of_sets[k]}
                columns |= _with_ends("points", points, k) | _with_ends("share", share, k)
                yield level.identity | _described(one) | columns | {"reason": None if clear else _why(low, high)}


def _wanted(level: Level, one: PatchedSet) -> bool:
    return one.role not in (SINGLE, RANDOM) or (level.identity["subset"] is None and level.identity["family"] is None)


def _why(low: float, high: float) -> str:
    return f"what ablating the core costs is not clear of 0: [{low:.2f}, {high:.2f}]"


def _with_ends(name: str, values: Sequence[np.ndarray], k: int) -> dict:
    return {f"{name}{end}": value[k] for end, value in zip(("", "_low", "_high"), values, strict=bool(values))}


def _described(one: PatchedSet) -> dict:
    return {"set": one.name, "role": one.role, "heads": list(one.heads), "size": len(one.heads), "layers": one.layers}


def _sets(
    core: Sequence[int], counter: Sequence[int], grid: ComponentGrid, roles: Collection[str] = (LAYER, ALL, COUNTER)
) -> list[PatchedSet]:
    """Of `roles`: later heads by layer, all of them, and the counter-heuristic ones."""
    later = _later(core, grid)
    by_layer = {layer: tuple(h for h in later if h // grid.heads == layer) for layer in range(grid.layers)}
    found = [(f"layer {layer}", LAYER, heads) for layer, heads in by_layer.items()]
    found += [(ALL, ALL, tuple(later)), (COUNTER, COUNTER, tuple(head for head in later if head in counter))]
    found = [one for one in found if one[2] and one[1] in roles]
    return [PatchedSet(name, role, heads, _layers(heads, grid)) for name, role, heads in found]


def _later(core: Sequence[int], grid: ComponentGrid) -> list[int]:
    """Heads above the lowest layer of a core that are not in the core."""
    lowest = min((head // grid.heads for head in core), default=grid.layers)
    every = range((lowest + 1) * grid.heads, grid.layers * grid.heads)
    return [head for head in every if head not in core]


def _layers(heads: Sequence[int], grid: ComponentGrid) -> str:
    return "+".join(str(head // grid.heads) for head in heads)
