"""Choose the sets of heads whose ablation tests the core and the stable core for sufficiency and completeness.

A circuit is sufficient if it does what the model does, and complete if the model does little without it (Wang et al.
2023, faithfulness and completeness). Sufficiency is tested by ablating all other heads, against ablating all heads.
Completeness is tested by ablating the core, which is among the sets of :mod:`.ablation_sets`.
"""

from collections.abc import Sequence

from heuristic_core.experiments.subnetworks.analysis.ablation_sets import AblationSet, draw_matched_sets
from heuristic_core.models.components import ComponentGrid

MAX_CONTROLS = 40  # enough for p < 0.05; they cost as much as all other ablations
STABLE_CORE, ALL_BUT_CORE, ALL_BUT_STABLE, ALL_HEADS = "stable-core", "all-but-core", "all-but-stable-core", "all-heads"
SET_NAMES = {
    STABLE_CORE: "the stable core",
    ALL_BUT_CORE: "all heads but the core",
    ALL_BUT_STABLE: "all heads but the stable core",
    ALL_HEADS: "all heads",
}


def control_role(role: str) -> str:
    """Return the role of the random controls of sets with this role."""
    return f"control-{role}"


def make_completeness_sets(
    core: Sequence[int], stable: Sequence[int], grid: ComponentGrid, draws: int, seed: int
) -> list[AblationSet]:
    """Make the sets and their controls, all for the first kind of ablation only.

    Controls replace the heads of the core by random heads, as many in each layer; the random sets for the core are
    those that :func:`.make_joint_sets` ablates. Apart from "all heads", sets that would be empty or hold all heads are
    left out.

    Args:
        core: Component indices of the core.
        stable: Component indices of the stable core, which has its own sets where it differs from the core.
        grid: Components of the model.
        draws: Number of controls of each set, at most `MAX_CONTROLS`; where fewer exist, each occurs once.
        seed: Seed of the draws.
    """
    all_heads = tuple(component.index for component in grid if component.kind == "head")
    sets = [_ablation_set(ALL_HEADS, SET_NAMES[ALL_HEADS], all_heads, grid)]
    if 0 < len(core) < len(all_heads):
        sets += _with_controls(ALL_BUT_CORE, core, all_heads, grid, draws, seed)
    if set(stable) != set(core) and 0 < len(stable) < len(all_heads):
        for role in (STABLE_CORE, ALL_BUT_STABLE):
            sets += _with_controls(role, stable, all_heads, grid, draws, seed)
    return sets


def _with_controls(
    role: str, heads: Sequence[int], all_heads: tuple[int, ...], grid: ComponentGrid, draws: int, seed: int
) -> list[AblationSet]:
    """Make a set and its controls; `heads` are ablated, or kept if `role` ablates all others."""
    heads = tuple(sorted(heads))
    draws = min(draws, MAX_CONTROLS)
    controls = draw_matched_sets(_layers(heads, grid), all_heads, grid.heads, draws, seed, heads)
    sets = []
    for k, selected in enumerate([heads, *controls]):
        name, set_role = (f"control {k} of {SET_NAMES[role]}", control_role(role)) if k else (SET_NAMES[role], role)
        ablated = selected if role == STABLE_CORE else tuple(head for head in all_heads if head not in selected)
        sets.append(_ablation_set(set_role, name, ablated, grid))
    return sets


def _ablation_set(role: str, name: str, heads: tuple[int, ...], grid: ComponentGrid) -> AblationSet:
    """Make a set that is ablated in the first kind only."""
    return AblationSet(name, role, heads, _layers(heads, grid), all_kinds=False)


def _layers(heads: Sequence[int], grid: ComponentGrid) -> str:
    """Return the layer of each head, such as "2+3"."""
    return "+".join(str(head // grid.heads) for head in heads)
