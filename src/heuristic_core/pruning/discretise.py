"""From learned log_alpha to the components that a subnetwork keeps: exactly k, or the paper's threshold rule."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from heuristic_core.common.errors import InputError
from heuristic_core.config.pruning import THRESHOLD_TOLERANCE, Prune
from heuristic_core.evaluation.evaluate import all_logits
from heuristic_core.models.ablation import Mask
from heuristic_core.models.components import ComponentGrid, kept_count
from heuristic_core.pruning.hard_concrete import TEMPERATURE, keep_largest, probability_open
from heuristic_core.pruning.inputs import PruningInputs

SLOPE = 0.8  # of the soft mask sigmoid(0.8 log_alpha / T) that the paper's code inherits from CoFi
CANDIDATES = tuple(round(0.05 * n, 2) for n in range(1, 20))


class Kept(NamedTuple):
    """components: ascending indices. threshold: of the soft mask; None for exact k. rule: exact, by-hand, or the
    `threshold_rule` that chose the threshold."""

    components: list[int]
    threshold: float | None
    rule: str


def discretise(
    log_alpha: Tensor,
    grid: ComponentGrid,
    sparsity: float,
    settings: Prune,
    held_out: PruningInputs | None,
    closed: Sequence[int] = (),
) -> Kept:
    """The components that a run at `sparsity` keeps, by the rule that `settings` names; none of those in `closed`.

    held_out: training pairs that pruning never drew, on which a faithful threshold is chosen; other rules need none.
    A threshold misses the target sparsity; what it reached is recorded with the subnetwork, and the rule.
    Raises InputError where fewer components are left than an exact subnetwork keeps.
    """
    if closed:
        log_alpha = log_alpha.clone()
        log_alpha[list(closed)] = -torch.inf  # no rule keeps such a component
    if settings.discretise == "exact":
        if (count := kept_count(len(grid), sparsity)) > (left := len(grid) - len(closed)):
            raise InputError(
                f"a subnetwork at sparsity {sparsity:g} keeps {count} components, but {len(closed)} of {len(grid)} are "
                f"closed, and {left} are left; close fewer or raise the sparsity"
            )
        return Kept(keep_largest(log_alpha, kept_count(len(grid), sparsity)), None, "exact")
    rule, threshold = "by-hand", settings.thresholds.get(sparsity)
    if threshold is None:
        rule = settings.threshold_rule
        near = rule == "nearest"
        threshold = nearest(log_alpha, grid, sparsity) if near else faithful(log_alpha, sparsity, held_out)
    return Kept(keep_above(log_alpha, grid, threshold), threshold, rule)


def nearest(log_alpha: Tensor, grid: ComponentGrid, sparsity: float) -> float:
    """The multiple of 0.05 whose subnetwork is nearest to `sparsity`, as the paper's authors chose theirs.

    Of two as near, and of several with the same subnetwork, the highest.
    """
    target = (1 - sparsity) * len(grid)
    return min(CANDIDATES, key=lambda t: (round(abs(len(keep_above(log_alpha, grid, t)) - target), 9), -t))


def faithful(log_alpha: Tensor, sparsity: float, held_out: PruningInputs) -> float:
    """The threshold whose subnetwork is nearest to the full model on held-out pairs: smallest mean KL(full || masked).

    Among multiples of 0.05 that remove at least `sparsity` - 0.05 of the components (the highest of all, if none does).
    Where several thresholds give the same subnetwork, the highest is chosen. More components nearly always diverge
    less, so that this rule keeps more than `nearest` does.
    """
    grid = held_out.model.grid
    subnetworks = {tuple(keep_above(log_alpha, grid, t)): t for t in CANDIDATES}
    sparse = {k: t for k, t in subnetworks.items() if len(k) <= (1 - sparsity + THRESHOLD_TOLERANCE) * len(grid) + 1e-9}
    if not sparse:
        return CANDIDATES[-1]
    return min(sparse.items(), key=lambda one: (_divergence(one[0], held_out), -one[1]))[1]


def _divergence(kept: Sequence[int], held_out: PruningInputs) -> float:
    grid = held_out.model.grid
    gates = torch.zeros(len(grid), device=held_out.model.device)
    gates[list(kept)] = 1
    logits = all_logits(held_out.model, held_out.pairs, Mask(gates, held_out.means.to(held_out.model), grid))
    full, masked = (F.log_softmax(values, -1) for values in (held_out.full_logits, logits))
    return float(F.kl_div(masked, full, reduction="batchmean", log_target=True))


def soft_mask(log_alpha: Tensor, grid: ComponentGrid) -> Tensor:
    """The paper's deterministic gates [components] before its threshold.

    Within each layer's heads, and within each layer's MLP, the round(E[number of closed gates]) smallest values of
    sigmoid(0.8 log_alpha / T) become 0.
    """
    values, closed = torch.sigmoid(SLOPE * log_alpha / TEMPERATURE), 1 - probability_open(log_alpha)
    heads = [range(layer * grid.heads, (layer + 1) * grid.heads) for layer in range(grid.layers)]
    mlps = [range(index, index + 1) for index in range(grid.layers * grid.heads, len(grid))]
    for group in (*heads, *mlps):
        part = list(group)
        smallest = torch.argsort(values[part], stable=True)[: round(float(closed[part].sum()))]
        values[torch.tensor(part)[smallest]] = 0
    return values


def keep_above(log_alpha: Tensor, grid: ComponentGrid, threshold: float) -> list[int]:
    """The components whose soft mask exceeds `threshold`, ascending."""
    return torch.nonzero(soft_mask(log_alpha, grid) > threshold).flatten().tolist()
