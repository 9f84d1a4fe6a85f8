"""What a schedule of pruning does to gates by themselves: no model, so no loss that holds them open.

The controller alone decides then, and a run costs milliseconds. Gates that miss their target even so have too few
steps, or rates that do not fit the steps. docs/pruning.md compares such trials with whole runs.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from heuristic_core.config.pruning import Gates
from heuristic_core.pruning.learner import COLUMNS, Learner, PruningRun

DRAWN = 100  # steps that are drawn at once
SAMPLED = COLUMNS.index("sampled_sparsity")


def gates_alone(settings: Gates, size: int, sparsity: float, seeds: Sequence[int], end: float) -> list[float]:
    """The sparsity of `size` gates over the last share `end` of the steps, by seed.

    Draws are those of a pruning run of the same seed.
    """
    alone = settings.model_copy(update={"batch_size": settings.gate_draws})
    learner = Learner([PruningRun(sparsity, seed) for seed in seeds], alone, size, torch.device("cpu"))
    rows = []
    while learner.step < learner.steps:
        for draw in learner.draws(DRAWN, 1):
            rows.append(learner.descend(draw, _no_loss)[:, SAMPLED])
            learner.advance()
    last = rows[-max(1, round(end * len(rows))) :]
    return torch.stack(last).mean(0).tolist()


def _no_loss(z: Tensor, pairs: Tensor) -> tuple[Tensor, Tensor]:
    """A :data:`heuristic_core.pruning.learner.Divergence` of a model that needs none of its components."""
    return torch.zeros(len(z)), torch.zeros_like(z)
