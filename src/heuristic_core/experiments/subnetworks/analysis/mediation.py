"""How much of the core's effect runs through later heads (causal mediation: Pearl 2001; Vig et al. 2020).

Let M be a measure, C the core, ablated by its means, and G a set of later heads. Then
restored = M(C ablated, G as in the clean run) - M(C ablated), and
transmitted = M - M(G as in the run with C ablated).
Both are in points (or nats), and also shares of the cost of ablating the core, M - M(C ablated).

All later heads together restore nearly everything by construction: only the core's direct path to the logits and MLPs
is missing. A set is therefore compared with random sets of as many heads in the same layers, and all later heads are
compared with the later heads of random heads that replace the core.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.ablation_sets import draw_matched_sets
from heuristic_core.experiments.subnetworks.analysis.accuracy import MIN_VALUES
from heuristic_core.experiments.subnetworks.analysis.contrasts import ACCURACY, LOG_ODDS, Level, Levels
from heuristic_core.models.components import ComponentGrid
from heuristic_core.stats.frames import make_frame
from heuristic_core.tables.identity import Identity

LEARNED = "learned"
SINGLE, LAYER, ALL_LATER, COUNTER_HEURISTIC, RANDOM = (
    "single",
    "layer",
    "all later",
    "counter-heuristic",
    "random",
)  # roles of sets
DIRECTIONS = ("restored", "transmitted")
BLOCK = 128  # interventions with their draws in memory at once


class PatchedSet(NamedTuple):
    """A set of heads whose outputs are patched.

    Attributes:
        name: Name of the set, or of its single head.
        role: One of `SINGLE`, `LAYER`, `ALL_LATER`, `COUNTER_HEURISTIC`, `RANDOM`.
        heads: Component indices.
        layers: Layer of each head, such as "1+2".
    """

    name: str
    role: str
    heads: tuple[int, ...]
    layers: str


class Core(NamedTuple):
    """Heads to ablate, and the sets to patch while they are ablated.

    Attributes:
        name: `LEARNED`, or the name of a random set that replaces the core.
        heads: Component indices.
        sets: Sets to patch.
    """

    name: str
    heads: tuple[int, ...]
    sets: list[PatchedSet]


def plan_mediation(
    core: Sequence[int], counter: Sequence[int], grid: ComponentGrid, random_sets: int, seed: int
) -> list[Core]:
    """Plan the heads to ablate and the sets to patch.

    For the learned core these sets are: each head above its lowest layer that is outside the core, the heads of each
    layer among these, all of them, those in `counter`, and random sets with as many heads in the same layers as the
    last one. For random heads that replace the core: all later heads, and those in `counter`.

    Args:
        core: Component indices of core heads.
        counter: Component indices of counter-heuristic heads.
        grid: Components of the model.
        random_sets: Largest number of random sets, and of random cores.
        seed: Seed of the random sets.

    Returns:
        The learned core, then random ones; empty if the core is empty or in the last layer.
    """
    core = tuple(sorted(core))
    if not (later := _later_heads(core, grid)):
        return []
    sets = _build_sets(core, counter, grid)
    names = [component.name for component in grid]
    singles = [PatchedSet(names[head], SINGLE, (head,), _layer_label((head,), grid)) for head in later]
    if counter_sets := [patched for patched in sets if patched.role == COUNTER_HEURISTIC]:
        draws = draw_matched_sets(counter_sets[0].layers, later, grid.heads, random_sets, seed, counter_sets[0].heads)
        sets += [
            PatchedSet(f"random {k}", RANDOM, heads, counter_sets[0].layers) for k, heads in enumerate(draws, start=1)
        ]
    all_heads = [component.index for component in grid if component.kind == "head"]
    random_cores = enumerate(
        draw_matched_sets(_layer_label(core, grid), all_heads, grid.heads, random_sets, seed, core), start=1
    )
    return [
        Core(LEARNED, core, [*singles, *sets]),
        *(
            Core(f"random {k}", heads, _build_sets(heads, counter, grid, (ALL_LATER, COUNTER_HEURISTIC)))
            for k, heads in random_cores
        ),
    ]


def compute_mediation(
    run: Identity,
    cores: Sequence[Core],
    levels: Levels,
    full: Mapping[str, np.ndarray],
    core_values: Iterable[tuple[Mapping, Mapping, Mapping]],
) -> pd.DataFrame:
    """Make table "mediation" of one run.

    Args:
        run: Identity of the run.
        cores: Heads ablated, from :func:`plan`.
        levels: Levels of the pairs.
        full: Values of the full model by measure ("accuracy", percent; "log_odds", nats), [pairs, 1].
        core_values: For each of `cores`, three mappings like `full`: values without the core, [pairs, 1], and
            restored and transmitted values, [pairs, sets].

    Returns:
        Rows by core, direction, measure, level and set. Single heads and random sets have levels of groups only.
    """
    rows = []
    for core, (ablated, *patched) in zip(cores, core_values, strict=True):
        identity = {"study": run.study, "model": run.model, "task": run.task, "ft_seed": run.ft_seed, "step": run.step}
        identity |= {"core": core.name, "core_heads": list(core.heads)}
        for direction, values in zip(DIRECTIONS, patched, strict=True):
            for measure in (ACCURACY, LOG_ODDS):
                for first in range(0, len(core.sets), BLOCK):
                    block = slice(first, first + BLOCK)
                    values_by_state = full[measure], ablated[measure], values[measure][:, block]
                    rows += [
                        identity | {"direction": direction, "measure": measure} | row
                        for row in _measure_rows(levels, core.sets[block], direction, measure, *values_by_state)
                    ]
    return make_frame("mediation", rows)


def _measure_rows(levels: Levels, sets, direction, measure, full, ablated, patched) -> Iterable[dict]:
    """Yield the rows of one direction and measure. full, ablated: [pairs, 1]; patched: [pairs, sets]."""
    states = levels.means(np.concatenate([full, ablated, patched], axis=1))
    cost = levels.resample(full - ablated)
    gain = levels.resample(patched - ablated if direction == "restored" else full - patched)
    for level in levels.levels:
        if not level.supports(measure):
            continue
        full_value, ablated_value, *patched_values = level.weights @ states + (
            level.offset if measure == ACCURACY else 0
        )
        points = levels.estimate_effects(level, gain, measure)
        if measure == ACCURACY:
            limit = 100 - MIN_VALUES.get(level.identity["group"], 0)
            points = [np.clip(values, -limit, limit) for values in points]
        _, (low,), (high,) = levels.estimate_effects(level, cost, measure)
        clear = low > 0 or high < 0
        share = levels.estimate_ratios(level, gain, cost, measure) if clear else ()
        for k, patched_set in enumerate(sets):
            if _is_reported(level, patched_set):
                columns = {"full": full_value, "ablated": ablated_value, "patched": patched_values[k]}
                columns |= _interval_columns("points", points, k) | _interval_columns("share", share, k)
                yield (
                    level.identity
                    | _set_columns(patched_set)
                    | columns
                    | {"reason": None if clear else _reason(low, high)}
                )


def _is_reported(level: Level, patched_set: PatchedSet) -> bool:
    """Return whether a set has rows on a level; single heads and random sets have rows on groups only."""
    return patched_set.role not in (SINGLE, RANDOM) or (
        level.identity["subset"] is None and level.identity["family"] is None
    )


def _reason(low: float, high: float) -> str:
    """Return why shares are undefined."""
    return f"what ablating the core costs is not clear of 0: [{low:z.2f}, {high:z.2f}]"


def _interval_columns(name: str, values: Sequence[np.ndarray], k: int) -> dict:
    """Return the columns of a value and the ends of its interval for set `k`; empty without values."""
    return {f"{name}{end}": value[k] for end, value in zip(("", "_low", "_high"), values, strict=bool(values))}


def _set_columns(patched_set: PatchedSet) -> dict:
    """Return the columns that describe a set."""
    return {
        "set": patched_set.name,
        "role": patched_set.role,
        "heads": list(patched_set.heads),
        "size": len(patched_set.heads),
        "layers": patched_set.layers,
    }


def _build_sets(
    core: Sequence[int],
    counter: Sequence[int],
    grid: ComponentGrid,
    roles: Collection[str] = (LAYER, ALL_LATER, COUNTER_HEURISTIC),
) -> list[PatchedSet]:
    """Build the nonempty sets with one of `roles`: later heads by layer, all of them, the counter-heuristic ones."""
    later = _later_heads(core, grid)
    by_layer = {layer: tuple(h for h in later if h // grid.heads == layer) for layer in range(grid.layers)}
    named_sets = [(f"layer {layer}", LAYER, heads) for layer, heads in by_layer.items()]
    named_sets += [
        (ALL_LATER, ALL_LATER, tuple(later)),
        (COUNTER_HEURISTIC, COUNTER_HEURISTIC, tuple(head for head in later if head in counter)),
    ]
    named_sets = [named for named in named_sets if named[2] and named[1] in roles]
    return [PatchedSet(name, role, heads, _layer_label(heads, grid)) for name, role, heads in named_sets]


def _later_heads(core: Sequence[int], grid: ComponentGrid) -> list[int]:
    """Return the heads above the lowest layer of a core that are outside the core."""
    lowest = min((head // grid.heads for head in core), default=grid.layers)
    above = range((lowest + 1) * grid.heads, grid.layers * grid.heads)
    return [head for head in above if head not in core]


def _layer_label(heads: Sequence[int], grid: ComponentGrid) -> str:
    """Return the layers of heads, such as "1+2"."""
    return "+".join(str(head // grid.heads) for head in heads)
