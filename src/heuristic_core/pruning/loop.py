"""The loop of pruning, whatever the model: gates descend, the two multipliers of each run ascend."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from heuristic_core.common.progress import Progress
from heuristic_core.pruning.learner import Draws, Learner, PruningRun


@dataclass(frozen=True)
class Pruned:
    """log_alpha: [components], on the host. trace: one dict per recorded step (columns of table `prune_trace`).

    failed: why the run found nothing, with a trace up to there; None for a run that came to its end.
    """

    run: PruningRun
    log_alpha: Tensor
    trace: list[dict]
    failed: str | None = None


def learned(
    learner: Learner,
    descend: Callable[[Learner, Draws], Tensor],
    pairs: int,
    save_every: int,
    state: Path | None = None,
    record_every: int = 10,
) -> list[Pruned]:
    """What every run of `learner` finds.

    descend: puts the gradients of one step on `learner`, and gives what is recorded of it, as :meth:`Learner.descend`.
    pairs: examples that batches are drawn from. save_every: steps between saved states; so many are drawn at once, and
    whether a run is finite is looked at as often. state, record_every: as of
    :func:`heuristic_core.pruning.prune.prune`.
    """
    learner.resume(state)
    progress = Progress("prune", learner.steps, learner.step)
    while learner.step < learner.steps:
        rows = {}
        for draw in learner.draws(save_every, pairs):
            row = descend(learner, draw)
            learner.advance()
            if draw.step % record_every == 0 or draw.step == learner.steps - 1:
                rows[draw.step] = row
        learner.record(rows)
        failures = [learner.failure(r) for r in range(len(learner.runs))]
        if all(failures):
            break
        if state and learner.step < learner.steps:
            learner.save(state)
        last = learner.trace(failures.index(None))[-1]
        progress.at(learner.step, kl=last["kl"], sparsity=last["sampled_sparsity"], target=last["target_sparsity"])
    alphas = learner.log_alpha.detach().cpu()
    return [Pruned(run, alphas[r], learner.trace(r), learner.failure(r)) for r, run in enumerate(learner.runs)]
