"""Simulate a pruning schedule on gates without a model, and so without a loss that keeps them open.

A simulation costs milliseconds. Gates that miss their target even here have too few steps, or learning rates that do
not fit the number of steps. docs/decisions/pruning-schedule.md compares simulations with real runs.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from heuristic_core.config.pruning import Gates
from heuristic_core.pruning.learner import TRACE_COLUMNS, Learner, PruningRun

STEPS_PER_DRAW = 100
SPARSITY_COLUMN = TRACE_COLUMNS.index("sampled_sparsity")


def simulate_schedule(settings: Gates, size: int, sparsity: float, seeds: Sequence[int], end: float) -> list[float]:
    """Return the mean sparsity of `size` gates over the last steps, one value per seed.

    Draws are those of a pruning run with the same seed.

    Args:
        settings: The schedule.
        size: Number of gates.
        sparsity: Final target sparsity.
        seeds: Seeds of the runs.
        end: Share of the steps, counted from the end, over which the mean is taken.
    """
    gate_settings = settings.model_copy(update={"batch_size": settings.gate_draws})
    learner = Learner([PruningRun(sparsity, seed) for seed in seeds], gate_settings, size, torch.device("cpu"))
    rows = []
    while learner.step < learner.steps:
        for draws in learner.make_draws(STEPS_PER_DRAW, 1):
            rows.append(learner.compute_gradients(draws, _zero_divergence)[:, SPARSITY_COLUMN])
            learner.advance()
    last = rows[-max(1, round(end * len(rows))) :]
    return torch.stack(last).mean(0).tolist()


def _zero_divergence(z: Tensor, pairs: Tensor) -> tuple[Tensor, Tensor]:
    """Return zero loss and gradient; a :data:`heuristic_core.pruning.learner.Divergence`."""
    return torch.zeros(len(z)), torch.zeros_like(z)
