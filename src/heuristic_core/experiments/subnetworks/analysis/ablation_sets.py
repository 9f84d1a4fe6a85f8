"""Choose sets of heads to ablate: each head alone, sets of core heads, the user's own sets, and matched controls."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, combinations, count, islice, product
from math import comb, prod

import numpy as np
import pandas as pd

from heuristic_core.common.draws import numpy_generator
from heuristic_core.common.errors import InputError
from heuristic_core.models.components import ComponentGrid
from heuristic_core.stats.frames import make_frame
from heuristic_core.tables.identity import Identity


@dataclass(frozen=True)
class AblationSet:
    """Heads that are ablated together.

    Attributes:
        name: "none", "2.5", "2.5+3.7", "core-all" or "control 3 of layers 2+3".
        role: Role in table "ablation_sets".
        heads: Component indices, ascending.
        layers: Layer of each head, such as "2+3", as in table "ablation_sets".
        all_kinds: Whether the set is ablated in all kinds of ablation, or only in the first.
    """

    name: str
    role: str
    heads: tuple[int, ...]
    layers: str
    all_kinds: bool = True


def parse_ablation_sets(names: Sequence[Sequence[str]], grid: ComponentGrid) -> list[tuple[int, ...]]:
    """Convert the sets of setting `analysis.ablation_sets` to ascending component indices.

    Args:
        names: Names of heads, layer.head, for each set.
        grid: Components of the model.

    Raises:
        InputError: If a set is empty or names a head that the model lacks.
    """
    heads = {component.name: component.index for component in grid if component.kind == "head"}
    for head_names in names:
        if unknown := [name for name in head_names if name not in heads]:
            raise InputError(
                f"analysis.ablation_sets: {list(head_names)}: unknown head {unknown[0]!r}; choose heads as layer.head "
                f"from {min(heads, key=heads.get)} to {max(heads, key=heads.get)}"
            )
        if not head_names:
            raise InputError("analysis.ablation_sets: a set is empty; name at least one head, such as ['0.1']")
    return [tuple(sorted({heads[name] for name in head_names})) for head_names in names]


def make_single_sets(
    core_heads: Sequence[int], grid: ComponentGrid, user_sets: Sequence[tuple[int, ...]] = ()
) -> list[AblationSet]:
    """Make the empty set "none" and one set for each head of the model.

    Args:
        core_heads: Component indices of the core.
        grid: Components of the model.
        user_sets: The user's sets, whose heads are ablated in every kind, like core heads.
    """
    compared = {*core_heads, *chain(*user_sets)}
    sets = [AblationSet("none", "none", (), "")]
    for c in grid:
        if c.kind == "head":
            role = "core" if c.index in core_heads else "non-core"
            sets.append(AblationSet(c.name, role, (c.index,), str(c.layer), c.index in compared))
    return sets


def select_strongest(heads: Sequence[int], drops: Mapping[int, float]) -> tuple[int, ...]:
    """Return the three heads with the largest drops as ascending component indices.

    Args:
        heads: Component indices to choose from.
        drops: Component index -> drop of accuracy by ablating this head, points. Ties go to the lower index.
    """
    return tuple(sorted(sorted(heads, key=lambda head: (-drops[head], head))[:3]))


def make_joint_sets(
    core_heads: Sequence[int],
    single_ood_drop: Mapping[int, float],
    grid: ComponentGrid,
    control_draws: int,
    pair_control_draws: int,
    seed: int,
    user_sets: Sequence[tuple[int, ...]] = (),
) -> list[AblationSet]:
    """Make sets of two or more heads: core heads, the user's own sets, and random controls of both.

    Sets of core heads are the whole core, its three heads whose single ablation costs most out-of-domain accuracy, and
    all its pairs. Each set occurs once: a pair that the user also names counts as the user's.

    A control has as many heads in each layer as its set, drawn at random from all heads of the layer. Core heads may be
    drawn: sets of only the few other heads would overlap each other more than the core, and any core would then look
    special too often. The core itself is never a control. Sets with the same layers share their controls, which are
    ablated in the first kind only.

    Args:
        core_heads: Component indices of the core.
        single_ood_drop: Points lost by ablating each core head alone, by component index.
        grid: Components of the model.
        control_draws: Number of controls of the whole core and of its strongest three heads.
        pair_control_draws: Number of controls of each other set. Where fewer sets exist, each occurs once.
        seed: Seed of the random draws.
        user_sets: The user's sets.

    Raises:
        ValueError: If `single_ood_drop` lacks a core head.
    """
    core_heads, components = tuple(sorted(core_heads)), list(grid)
    if missing := [components[head].name for head in core_heads if head not in single_ood_drop]:
        raise ValueError(f"no single ablation of core head {', '.join(missing)}")
    core_role = {0: "none", 1: "core", 2: "pair", 3: "strongest"}.get(len(core_heads), "core-all")
    roles = [(core_role, core_heads), ("strongest", select_strongest(core_heads, single_ood_drop))]
    roles += [("chosen", heads) for heads in user_sets]
    roles += [("pair", pair) for pair in combinations(core_heads, 2)]
    sets: dict[tuple[int, ...], AblationSet] = {}
    for role, heads in roles:
        if len(heads) > 1 and heads not in sets:
            name = role if role == "core-all" else "+".join(components[head].name for head in heads)
            layers = "+".join(str(components[head].layer) for head in heads)
            sets[heads] = AblationSet(name, role, heads, layers)
    all_heads = [c.index for c in grid if c.kind == "head"]
    main_layers = {s.layers for s in sets.values() if s.role == "strongest" or s.heads == core_heads}
    controls = [
        AblationSet(f"control {k} of layers {layers}", "control", heads, layers, all_kinds=False)
        for layers in dict.fromkeys(s.layers for s in sets.values())
        for draws in [control_draws if layers in main_layers else pair_control_draws]
        for k, heads in enumerate(draw_matched_sets(layers, all_heads, grid.heads, draws, seed, core_heads), start=1)
    ]
    return [*sets.values(), *controls]


def draw_matched_sets(
    layers: str, heads: Sequence[int], per_layer: int, draws: int, seed: int, core: tuple[int, ...]
) -> Iterator[tuple[int, ...]]:
    """Draw random sets with the same number of heads in each layer as a given set.

    Args:
        layers: Layer of each head of a set, such as "0+1+1".
        heads: Component indices to draw from.
        per_layer: Number of heads in each layer of the model.
        draws: Number of distinct sets; fewer where no more exist.
        seed: Seed of the draws.
        core: Set that is never drawn.

    Returns:
        Iterator over the sets, each as component indices.
    """
    sizes = Counter(map(int, layers.split("+")))
    pools = [([head for head in heads if head // per_layer == layer], size) for layer, size in sizes.items()]
    if prod(comb(len(pool), size) for pool, size in pools) <= draws + 1:
        choices = (tuple(chain(*parts)) for parts in product(*(combinations(pool, size) for pool, size in pools)))
        return islice((choice for choice in choices if choice != core), draws)
    return iter(_draw_distinct(pools, draws, numpy_generator(seed, "controls", layers), core))


def _draw_distinct(
    pools: list[tuple[list[int], int]], draws: int, rng: np.random.Generator, core: tuple[int, ...]
) -> list[tuple[int, ...]]:
    """Draw different sets other than the core by rejection.

    Args:
        pools: Component indices to draw from and the number to draw, for each layer.
        draws: Number of sets; at least one more must exist.
        rng: Random generator.
        core: Component indices of the core.
    """
    sets: dict[tuple[int, ...], None] = {}
    while len(sets) < draws:
        parts = [sorted(rng.choice(pool, size, replace=False).tolist()) for pool, size in pools]
        if (heads := tuple(chain(*parts))) != core:
            sets[heads] = None
    return list(sets)


def list_ablations(sets: Sequence[AblationSet], kinds: Sequence[str]) -> list[tuple[str, AblationSet]]:
    """List (kind, set) for every ablation: all sets with the first kind, `all_kinds` sets with the others too.

    Args:
        sets: Sets of heads.
        kinds: Kinds of ablation.
    """
    return [(kind, s) for kind in kinds for s in sets if s.all_kinds or kind == kinds[0]]


def assign_draws(ablations: Iterable[tuple[str, AblationSet]], draws: int) -> Iterator[tuple[str, AblationSet, int]]:
    """Yield (kind, set, draw) for every ablation, where draw is the index of the draw of donor activations.

    A set whose activations are resampled has all `draws`. A resampled control has a single draw, taken in turn, because
    results are averaged over controls anyway. All other ablations, including "none", have draw 0.

    Args:
        ablations: (kind, set) of every ablation, in order.
        draws: Number of draws of donor activations.

    Yields:
        Kind, set and draw.
    """
    turn = count()
    for kind, ablation_set in ablations:
        resampled = kind == "resample" and ablation_set.heads
        if resampled and ablation_set.role.startswith("control"):
            yield kind, ablation_set, next(turn) % draws
        else:
            yield from ((kind, ablation_set, draw) for draw in range(draws if resampled else 1))


def compute_ablation_sets(sets: Sequence[AblationSet], kinds: Sequence[str], full_model: Identity) -> pd.DataFrame:
    """Build table "ablation_sets" of one model.

    Args:
        sets: All sets that are ablated.
        kinds: Kinds of ablation; sets without `all_kinds` have the first only.
        full_model: Identity of the model that the sets are ablated from.
    """
    run = full_model._asdict()
    rows = [run | asdict(s) | {"kind": kind, "ablation": s.name} for kind, s in list_ablations(sets, kinds)]
    return make_frame("ablation_sets", rows)
