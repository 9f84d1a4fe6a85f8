"""Which sets of heads are ablated: every head alone, sets of core heads, the user's own, and matched controls."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, combinations, count, islice, product
from math import comb, prod

import numpy as np
import pandas as pd

from heuristic_core.analysis.frames import frame
from heuristic_core.common.draws import numpy_generator
from heuristic_core.common.errors import InputError
from heuristic_core.models.components import ComponentGrid
from heuristic_core.tables.identity import Identity


@dataclass(frozen=True)
class AblationSet:
    """Heads that are ablated together.

    name: "none", "2.5", "2.5+3.7", "core-all" or "control 3 of layers 2+3". role, layers: as in table "ablation_sets".
    heads: ascending component indices. every_kind: ablated in every kind, not in the first alone.
    """

    name: str
    role: str
    heads: tuple[int, ...]
    layers: str
    every_kind: bool = True


def chosen_heads(names: Sequence[Sequence[str]], grid: ComponentGrid) -> list[tuple[int, ...]]:
    """The sets of setting `analysis.ablation_sets` as ascending component indices. Raises InputError on other names."""
    heads = {component.name: component.index for component in grid if component.kind == "head"}
    for one in names:
        if unknown := [name for name in one if name not in heads]:
            raise InputError(
                f"analysis.ablation_sets: {list(one)}: no head {unknown[0]!r}; heads are named layer.head, "
                f"in this model from {min(heads, key=heads.get)} to {max(heads, key=heads.get)}"
            )
        if not one:
            raise InputError("analysis.ablation_sets: an empty set; name at least one head, such as ['0.1']")
    return [tuple(sorted({heads[name] for name in one})) for one in names]


def single_sets(
    core_heads: Sequence[int], grid: ComponentGrid, chosen: Sequence[tuple[int, ...]] = ()
) -> list[AblationSet]:
    """The empty set "none", then every head of the model by itself.

    core_heads: component indices. chosen: the user's sets, whose heads are ablated in every kind, as core heads are.
    """
    compared = {*core_heads, *chain(*chosen)}
    sets = [AblationSet("none", "none", (), "")]
    for c in grid:
        if c.kind == "head":
            role = "core" if c.index in core_heads else "non-core"
            sets.append(AblationSet(c.name, role, (c.index,), str(c.layer), c.index in compared))
    return sets


def strongest(heads: Sequence[int], drops: Mapping[int, float]) -> tuple[int, ...]:
    """The three heads with the largest drops, as ascending component indices; of equal ones the first."""
    return tuple(sorted(sorted(heads, key=lambda head: (-drops[head], head))[:3]))


def joint_sets(
    core_heads: Sequence[int],
    single_ood_drop: Mapping[int, float],
    grid: ComponentGrid,
    control_draws: int,
    pair_control_draws: int,
    seed: int,
    chosen: Sequence[tuple[int, ...]] = (),
) -> list[AblationSet]:
    """Sets of two and more heads: of the core, the user's own, and controls of them all.

    Of the core: all heads, the three whose single ablation costs most out-of-domain accuracy, and all pairs. No set
    occurs twice: a pair that the user names is the user's. A control has as many heads in each layer, drawn at random
    from all of the layer, the core's among them: sets of the few others would overlap one another and not the core, and
    a core like any set of heads would seem special too often. None is the whole core itself. Sets with the same layers
    share theirs. Of the strongest three and of the whole core there are
    `control_draws`, ablated in every kind, of other sets `pair_control_draws`; where no more exist, each occurs once.

    core_heads: component indices. single_ood_drop: points lost by ablating each of them. chosen: the user's sets.
    Raises ValueError where a core head has no single drop.
    """
    core_heads, components = tuple(sorted(core_heads)), list(grid)
    if unknown := [components[head].name for head in core_heads if head not in single_ood_drop]:
        raise ValueError(f"no single ablation of core head {', '.join(unknown)}")
    whole = {0: "none", 1: "core", 2: "pair", 3: "strongest"}.get(len(core_heads), "core-all")
    wanted = [(whole, core_heads), ("strongest", strongest(core_heads, single_ood_drop))]
    wanted += [("chosen", one) for one in chosen]
    wanted += [("pair", pair) for pair in combinations(core_heads, 2)]
    sets: dict[tuple[int, ...], AblationSet] = {}
    for role, heads in wanted:
        if len(heads) > 1 and heads not in sets:
            name = role if role == "core-all" else "+".join(components[head].name for head in heads)
            layers = "+".join(str(components[head].layer) for head in heads)
            sets[heads] = AblationSet(name, role, heads, layers)
    every = [c.index for c in grid if c.kind == "head"]
    everywhere = {one.layers for one in sets.values() if one.role == "strongest" or one.heads == core_heads}
    controls = [
        AblationSet(f"control {k} of layers {layers}", "control", heads, layers, layers in everywhere)
        for layers in dict.fromkeys(one.layers for one in sets.values())
        for draws in [control_draws if layers in everywhere else pair_control_draws]
        for k, heads in enumerate(matched_sets(layers, every, grid.heads, draws, seed, core_heads), start=1)
    ]
    return [*sets.values(), *controls]


def matched_sets(
    layers: str, heads: Sequence[int], per_layer: int, draws: int, seed: int, core: tuple[int, ...]
) -> Iterator[tuple[int, ...]]:
    """At most `draws` distinct random sets of `heads` in these layers, other than `core`; fewer where no more exist.

    layers: of each head of a set, such as "0+1+1". per_layer: the number of heads of a layer of the model.
    """
    needed = Counter(map(int, layers.split("+")))
    pools = [([head for head in heads if head // per_layer == layer], count) for layer, count in needed.items()]
    if prod(comb(len(pool), count) for pool, count in pools) <= draws + 1:
        choices = (tuple(chain(*parts)) for parts in product(*(combinations(pool, count) for pool, count in pools)))
        return islice((one for one in choices if one != core), draws)
    return iter(_distinct(pools, draws, numpy_generator(seed, "controls", layers), core))


def _distinct(
    pools: list[tuple[list[int], int]], draws: int, rng: np.random.Generator, core: tuple[int, ...]
) -> list[tuple[int, ...]]:
    """`draws` different sets, each with `count` heads of every pool. One more than that must be possible."""
    found: dict[tuple[int, ...], None] = {}
    while len(found) < draws:
        parts = [sorted(rng.choice(pool, count, replace=False).tolist()) for pool, count in pools]
        if (one := tuple(chain(*parts))) != core:
            found[one] = None
    return list(found)


def ablated(sets: Sequence[AblationSet], kinds: Sequence[str]) -> list[tuple[str, AblationSet]]:
    """Every ablation that is made of `sets`, by kind: all of them with the first kind, some with the others too."""
    return [(kind, one) for kind in kinds for one in sets if one.every_kind or kind == kinds[0]]


def with_draws(ablations: Iterable[tuple[str, AblationSet]], draws: int) -> Iterator[tuple[str, AblationSet, int]]:
    """Every ablation, (kind, set), with the draw of donors that it is made with, from 0.

    Where activations are resampled, a set has all `draws`; a control has one, in turn, as it is averaged over controls
    anyway. All others, "none" among them, have draw 0 alone.
    """
    turn = count()
    for kind, one in ablations:
        resampled = kind == "resample" and one.heads
        if resampled and one.role.startswith("control"):
            yield kind, one, next(turn) % draws
        else:
            yield from ((kind, one, draw) for draw in range(draws if resampled else 1))


def set_table(sets: Sequence[AblationSet], kinds: Sequence[str], full_model: Identity) -> pd.DataFrame:
    """Table "ablation_sets": the sets that are ablated from the model `full_model` names."""
    run = full_model._asdict()
    rows = [run | asdict(one) | {"kind": kind, "ablation": one.name} for kind, one in ablated(sets, kinds)]
    return frame("ablation_sets", rows)
