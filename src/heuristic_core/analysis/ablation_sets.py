"""Which sets of heads are ablated: every head alone, sets of core heads, and matched random controls."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import chain, combinations, product
from math import comb, prod

import numpy as np
import pandas as pd

from heuristic_core.analysis.frames import frame, generator
from heuristic_core.components import ComponentGrid, Identity


@dataclass(frozen=True)
class AblationSet:
    """Heads that are ablated together.

    name: "none", "2.5", "2.5+3.7", "core-all" or "control 3 of 2.5+3.7". role: as in table "ablation_sets".
    heads: ascending component indices. matches: for a control, the name of the set it matches.
    """

    name: str
    role: str
    heads: tuple[int, ...]
    matches: str | None = None


def single_sets(core_heads: list[int], grid: ComponentGrid) -> list[AblationSet]:
    """The empty set "none", then every head of the model by itself. core_heads: component indices."""
    heads = [component for component in grid if component.kind == "head"]
    singles = [AblationSet(c.name, "core" if c.index in core_heads else "non-core", (c.index,)) for c in heads]
    return [AblationSet("none", "none", ()), *singles]


def joint_sets(
    core_heads: list[int],
    single_ood_drop: Mapping[int, float],
    grid: ComponentGrid,
    control_draws: int,
    seed: int,
) -> list[AblationSet]:
    """Sets of two and more core heads, the largest followed by controls.

    All pairs; the three heads whose single ablation costs most out-of-domain accuracy; all core heads, where
    that is none of the sets before. A control has as many heads outside the core in each same layer, drawn at
    random. Where a layer has too few heads outside the core there is none; where no more than `control_draws`
    exist, each stands once. Pairs, of which there are many, have controls only where there is no larger set, and a
    core of a single head has them for that head.

    core_heads: component indices. single_ood_drop: points lost by ablating each of them.
    Raises ValueError where a core head has no single drop.
    """
    names = [component.name for component in grid]
    core_heads = sorted(core_heads)
    if unknown := [names[head] for head in core_heads if head not in single_ood_drop]:
        raise ValueError(f"no single ablation of core head {', '.join(unknown)}")

    def named(role: str, heads: tuple[int, ...]) -> AblationSet:
        return AblationSet("+".join(names[head] for head in heads), role, heads)

    sets = [named("pair", pair) for pair in combinations(core_heads, 2)]
    if len(core_heads) >= 3:
        costliest = sorted(core_heads, key=lambda head: (-single_ood_drop[head], head))[:3]
        sets.append(named("strongest", tuple(sorted(costliest))))
    if len(core_heads) > 3:
        sets.append(AblationSet("core-all", "core-all", tuple(core_heads)))
    others = [c.index for c in grid if c.kind == "head" and c.index not in core_heads]
    alone = [named("core", (head,)) for head in core_heads]
    controlled = [one for one in sets if one.role != "pair"] or sets or alone
    controls = [c for one in controlled for c in _controls(one, others, grid.heads, control_draws, seed)]
    return [*sets, *controls]


def _controls(matched: AblationSet, others: list[int], per_layer: int, draws: int, seed: int) -> Iterator[AblationSet]:
    """Distinct random sets of `others` with as many heads in each layer as `matched`."""
    needed = sorted(Counter(head // per_layer for head in matched.heads).items())
    pools = [([head for head in others if head // per_layer == layer], count) for layer, count in needed]
    if prod(comb(len(pool), count) for pool, count in pools) <= draws:
        choices = product(*(combinations(pool, count) for pool, count in pools))
        found = [tuple(chain(*parts)) for parts in choices]
    else:
        found = _distinct(pools, draws, generator(seed, matched.name))
    for k, heads in enumerate(found, start=1):
        yield AblationSet(f"control {k} of {matched.name}", "control", heads, matched.name)


def _distinct(pools: list[tuple[list[int], int]], draws: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """`draws` different sets, each with `count` heads of every pool. More than that must be possible."""
    found: dict[tuple[int, ...], None] = {}
    while len(found) < draws:
        parts = [sorted(rng.choice(pool, count, replace=False).tolist()) for pool, count in pools]
        found[tuple(chain(*parts))] = None
    return list(found)


def set_table(sets: list[AblationSet], full_model: Identity) -> pd.DataFrame:
    """Table "ablation_sets": the sets that are ablated from the model `full_model` names."""
    run = full_model._asdict()
    return frame("ablation_sets", [run | asdict(one) | {"ablation": one.name} for one in sets])
