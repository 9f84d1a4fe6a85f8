"""Sets of heads whose ablation shows what the core leaves and what it suffices for, and the same of the stable core.

A circuit is sufficient if it alone does what the model does, and complete if little is left without it (Wang et al.
2023, faithfulness and completeness). So everything but the core is ablated, and every head, which is what nothing is
left of; the core itself is among the sets of :mod:`.ablation_sets`.
"""

from collections.abc import Sequence

from heuristic_core.experiments.heuristic_core.analysis.ablation_sets import AblationSet, matched_sets
from heuristic_core.models.components import ComponentGrid

STABLE, ALL_BUT_CORE, ALL_BUT_STABLE, EVERY_HEAD = "stable-core", "all-but-core", "all-but-stable-core", "all-heads"
NAMES = {
    STABLE: "the stable core",
    ALL_BUT_CORE: "all heads but the core",
    ALL_BUT_STABLE: "all heads but the stable core",
    EVERY_HEAD: "all heads",
}


def control_role(role: str) -> str:
    """The role of the random sets that a set of this role is compared with."""
    return f"control-{role}"


def completeness_sets(
    core: Sequence[int], stable: Sequence[int], grid: ComponentGrid, draws: int, seed: int
) -> list[AblationSet]:
    """Make the sets with their controls, all for the first kind of ablation alone.

    Controls have random heads in place of the core's, as many in each layer; those of the core are the sets that
    :func:`.joint_sets` ablates. No set that would be empty, or every head, has a row beside "all heads".

    Args:
        core: Component indices of its heads.
        stable: Those of the stable core; it has sets of its own where it differs from the core.
        grid: Components of the model.
        draws: Controls of each set; where fewer exist, each occurs once.
        seed: Of the draws.
    """
    every = tuple(component.index for component in grid if component.kind == "head")
    sets = [_ablation_set(EVERY_HEAD, NAMES[EVERY_HEAD], every, grid)]
    if 0 < len(core) < len(every):
        sets += _with_controls(ALL_BUT_CORE, core, every, grid, draws, seed)
    if set(stable) != set(core) and 0 < len(stable) < len(every):
        for role in (STABLE, ALL_BUT_STABLE):
            sets += _with_controls(role, stable, every, grid, draws, seed)
    return sets


def _with_controls(
    role: str, heads: Sequence[int], every: tuple[int, ...], grid: ComponentGrid, draws: int, seed: int
) -> list[AblationSet]:
    """A set and its controls. heads: what is ablated, or kept where `role` ablates all the others."""
    heads = tuple(sorted(heads))
    controls = matched_sets(_layers(heads, grid), every, grid.heads, draws, seed, heads)
    sets = []
    for k, chosen in enumerate([heads, *controls]):
        name, set_role = (f"control {k} of {NAMES[role]}", control_role(role)) if k else (NAMES[role], role)
        ablated = chosen if role == STABLE else tuple(head for head in every if head not in chosen)
        sets.append(_ablation_set(set_role, name, ablated, grid))
    return sets


def _ablation_set(role: str, name: str, heads: tuple[int, ...], grid: ComponentGrid) -> AblationSet:
    return AblationSet(name, role, heads, _layers(heads, grid), every_kind=False)


def _layers(heads: Sequence[int], grid: ComponentGrid) -> str:
    return "+".join(str(head // grid.heads) for head in heads)
