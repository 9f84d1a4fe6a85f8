"""The pruning loop for any model: gates descend on the loss, the two multipliers of each run ascend."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from torch import Tensor

from heuristic_core.common.progress import Progress
from heuristic_core.pruning.learner import Learner, PruningRun, StepDraws


@dataclass(frozen=True)
class PruningResult:
    """Result of one pruning run.

    Attributes:
        run: The run.
        log_alpha: [components], on the host.
        trace: One dict per recorded step (columns of table `prune_trace`), up to a failure.
        failure: Why the run failed; None for a run that finished.
    """

    run: PruningRun
    log_alpha: Tensor
    trace: list[dict]
    failure: str | None = None


def fit(
    learner: Learner,
    compute_gradients: Callable[[Learner, StepDraws], Tensor],
    pairs: int,
    save_every: int,
    state: Path | None = None,
    record_every: int = 10,
) -> list[PruningResult]:
    """Fit all runs of `learner` and return one result per run.

    Args:
        learner: The runs.
        compute_gradients: Computes the gradients of a step and returns its trace; see :class:`Learner`.
        pairs: Number of examples from which batches are drawn.
        save_every: Steps between saved states. Draws are made, and failures checked, at the same interval.
        state: See :func:`heuristic_core.pruning.prune.prune`.
        record_every: Steps between rows of the trace.
    """
    learner.resume(state)
    progress = Progress("prune", learner.steps, learner.step)
    while learner.step < learner.steps:
        rows = {}
        for draws in learner.make_draws(save_every, pairs):
            row = compute_gradients(learner, draws)
            learner.advance()
            if draws.step % record_every == 0 or draws.step == learner.steps - 1:
                rows[draws.step] = row
        learner.record(rows)
        failures = [learner.describe_failure(r) for r in range(len(learner.runs))]
        if all(failures):
            break
        if state and learner.step < learner.steps:
            learner.save(state)
        last = learner.make_trace_rows(failures.index(None))[-1]
        progress.update(learner.step, kl=last["kl"], sparsity=last["sampled_sparsity"], target=last["target_sparsity"])
    alphas = learner.log_alpha.detach().cpu()
    return [
        PruningResult(run, alphas[r], learner.make_trace_rows(r), learner.describe_failure(r))
        for r, run in enumerate(learner.runs)
    ]
