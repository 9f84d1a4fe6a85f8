"""Choose the components that a subnetwork keeps from learned log_alpha: exactly k, or the paper's threshold rule."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from heuristic_core.common.errors import InputError
from heuristic_core.config.pruning import THRESHOLD_TOLERANCE, Prune
from heuristic_core.interventions.evaluate import all_logits
from heuristic_core.models.ablation import Mask
from heuristic_core.models.components import ComponentGrid, kept_count
from heuristic_core.pruning.hard_concrete import TEMPERATURE, keep_largest, probability_open
from heuristic_core.pruning.inputs import PruningInputs

SOFT_MASK_SLOPE = 0.8  # of sigmoid(0.8 log_alpha / T), which the paper's code inherits from CoFi
CANDIDATE_THRESHOLDS = tuple(round(0.05 * n, 2) for n in range(1, 20))


class KeptComponents(NamedTuple):
    """Components that a subnetwork keeps, and the rule that chose them.

    Attributes:
        components: Ascending indices.
        threshold: Threshold of the soft mask; None for exact k.
        rule: "exact", "by-hand", or the `threshold_rule` that chose the threshold.
    """

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
) -> KeptComponents:
    """Choose the components that a run at `sparsity` keeps, by the rule in `settings`.

    A threshold reaches the target sparsity only approximately.

    Args:
        log_alpha: [components].
        grid: The components of the model.
        sparsity: Target share of components to remove.
        settings: Block `prune` of the configuration.
        held_out: Training pairs that pruning did not draw, for rule "faithful"; other rules do not need them.
        closed: Indices of components that must not be kept.

    Raises:
        InputError: Without closed components, too few remain for an exact subnetwork.
    """
    if closed:
        log_alpha = log_alpha.clone()
        log_alpha[list(closed)] = -torch.inf  # no rule keeps such a component
    if settings.discretise == "exact":
        if (count := kept_count(len(grid), sparsity)) > (left := len(grid) - len(closed)):
            raise InputError(
                f"sparsity {sparsity:g}: a subnetwork keeps {count} components, but only {left} of {len(grid)} are "
                f"left, as {len(closed)} are closed; close fewer or raise the sparsity"
            )
        return KeptComponents(keep_largest(log_alpha, kept_count(len(grid), sparsity)), None, "exact")
    rule, threshold = "by-hand", settings.thresholds.get(sparsity)
    if threshold is None:
        rule = settings.threshold_rule
        is_nearest = rule == "nearest"
        threshold = (
            nearest_threshold(log_alpha, grid, sparsity)
            if is_nearest
            else faithful_threshold(log_alpha, sparsity, held_out)
        )
    return KeptComponents(keep_above(log_alpha, grid, threshold), threshold, rule)


def nearest_threshold(log_alpha: Tensor, grid: ComponentGrid, sparsity: float) -> float:
    """Return the multiple of 0.05 whose subnetwork is nearest to `sparsity`, as the paper's authors do.

    Of equally near thresholds, and of several with the same subnetwork, the highest is chosen.

    Args:
        log_alpha: [components].
        grid: The components of the model.
        sparsity: Target share of components to remove, 0-1.
    """
    target = (1 - sparsity) * len(grid)
    return min(CANDIDATE_THRESHOLDS, key=lambda t: (round(abs(len(keep_above(log_alpha, grid, t)) - target), 9), -t))


def faithful_threshold(log_alpha: Tensor, sparsity: float, held_out: PruningInputs) -> float:
    """Return the threshold whose subnetwork has the smallest mean KL(full || masked) on held-out pairs.

    Candidates are the multiples of 0.05 that remove at least `sparsity` - 0.05 of the components; if none does, the
    highest multiple is returned. Of several thresholds with the same subnetwork, the highest is chosen. More components
    nearly always diverge less, so this rule keeps more than :func:`nearest_threshold`.

    Args:
        log_alpha: [components].
        sparsity: Target share of components to remove, 0-1.
        held_out: Model, and training pairs that pruning did not draw.
    """
    grid = held_out.model.grid
    subnetworks = {tuple(keep_above(log_alpha, grid, t)): t for t in CANDIDATE_THRESHOLDS}
    sparse = {k: t for k, t in subnetworks.items() if len(k) <= (1 - sparsity + THRESHOLD_TOLERANCE) * len(grid) + 1e-9}
    if not sparse:
        return CANDIDATE_THRESHOLDS[-1]
    return min(sparse.items(), key=lambda item: (_mean_divergence(item[0], held_out), -item[1]))[1]


def _mean_divergence(kept: Sequence[int], held_out: PruningInputs) -> float:
    """Compute mean KL(full || masked) in nats."""
    grid = held_out.model.grid
    gates = torch.zeros(len(grid), device=held_out.model.device)
    gates[list(kept)] = 1
    logits = all_logits(held_out.model, held_out.pairs, Mask(gates, held_out.means.to(held_out.model), grid))
    full, masked = (F.log_softmax(values, -1) for values in (held_out.full_logits, logits))
    return float(F.kl_div(masked, full, reduction="batchmean", log_target=True))


def soft_mask(log_alpha: Tensor, grid: ComponentGrid) -> Tensor:
    """Return the paper's deterministic gates [components], before thresholding.

    Within each layer's heads, and within each layer's MLP, the round(E[number of closed gates]) smallest values of
    sigmoid(0.8 log_alpha / T) become 0.

    Args:
        log_alpha: Locations of the gates [components].
        grid: Components of the model.
    """
    values, closed = torch.sigmoid(SOFT_MASK_SLOPE * log_alpha / TEMPERATURE), 1 - probability_open(log_alpha)
    heads = [range(layer * grid.heads, (layer + 1) * grid.heads) for layer in range(grid.layers)]
    mlps = [range(index, index + 1) for index in range(grid.layers * grid.heads, len(grid))]
    for group in (*heads, *mlps):
        part = list(group)
        smallest = torch.argsort(values[part], stable=True)[: round(float(closed[part].sum()))]
        values[torch.tensor(part)[smallest]] = 0
    return values


def keep_above(log_alpha: Tensor, grid: ComponentGrid, threshold: float) -> list[int]:
    """Return the ascending indices of components whose soft mask exceeds a threshold.

    Args:
        log_alpha: [components].
        grid: The components of the model.
        threshold: Threshold of the soft mask, between 0 and 1.
    """
    return torch.nonzero(soft_mask(log_alpha, grid) > threshold).flatten().tolist()
