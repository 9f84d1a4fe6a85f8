"""Fine-tuning of a Hugging Face sequence classifier, with checkpoints, evaluation in passing, and resumption."""

import logging
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from heuristic_core.common.errors import Diverged, InputError
from heuristic_core.common.progress import Progress
from heuristic_core.common.seeds import global_state, seed_for, set_global_state, torch_generator
from heuristic_core.config.blocks import Finetune, Training
from heuristic_core.evaluation.evaluate import all_logits
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.implementation import view_of
from heuristic_core.tasks.encoded import Encoded
from heuristic_core.training.saved import digests, load_state, save_state
from heuristic_core.training.stepper import AdamWStepper, Stepper

LOGGER = logging.getLogger(__name__)
DIVERGED = 2.0  # times the mean loss of a uniform guess, or of the run's first interval if that is higher


@dataclass
class TrainingRun:
    """What a run has recorded so far. losses: since the last row of the trace.

    scaler: state of float16's loss scale; empty for other precisions. files: digests of those that are finished.
    """

    step: int = 0
    losses: list[float] = field(default_factory=list)
    trace: list[dict] = field(default_factory=list)
    scaler: dict = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)


def finetune(
    model,
    train: Encoded,
    evaluation: Encoded,
    settings: Finetune,
    ft_seed: int,
    keep: Callable[[int], Iterable[Path] | None],
    evaluated: Callable[[int, Tensor], Iterable[Path] | None],
    state: Path,
    precision: str = "float32",
) -> TrainingRun:
    """Train `model` (Hugging Face, for sequence classification) in place.

    keep: called with the step, after that step, for every step in ``settings.checkpoints``.
    evaluated: called with the step and the logits on all evaluation pairs, float32 [n, classes], at step 0, every
    ``settings.evaluate_every`` steps and at the end; after a resumption again for what came after the saved state.
    state: file in which the run's state is saved every ``settings.save_every`` steps; where it exists, the run goes on
    from there and ends with the weights of an uninterrupted one. It is removed at the end by the caller. Files that
    `keep` and `evaluated` wrote beside it and return must be whole for that; else the run begins again.
    precision: of the evaluations.
    Batches follow a permutation per epoch that depends on `ft_seed` and the epoch alone.
    Raises Diverged, naming the step and the last good checkpoint, where loss or gradient are no longer finite (such a
    step changes no weight), or where the loss of an interval between evaluations is far above the loss of a guess.
    """
    sets = (train, evaluation)
    pairs, held_out = (PairTensors(one, model.config.pad_token_id, model.device) for one in sets)
    batches = Batches(len(pairs), settings.batch_size, ft_seed)
    stepper = Stepper(model, pairs, settings)
    torch.manual_seed(seed_for("dropout", ft_seed))
    run = resumed(state, model, stepper)
    progress = Progress("finetune", settings.steps, run.step)
    if run.step == 0:
        run.files |= digests(state.parent, evaluated(0, all_logits(view_of(model, precision), held_out)))
    model.train()
    while run.step < settings.steps:
        rate = learning_rate(run.step, settings)
        run.step += 1
        evaluates = run.step % settings.evaluate_every == 0 or run.step == settings.steps
        try:
            loss = stepper.step(batches.at(run.step - 1), rate)
            run.losses.append(loss)
            if evaluates:
                record(run, rate, len(model.config.id2label))
        except Diverged as fault:
            raise Diverged(_what_is_left(fault, run, settings)) from None
        if evaluates:
            written = evaluated(run.step, all_logits(view_of(model, precision), held_out))
            run.files |= digests(state.parent, written)
        if run.step in settings.checkpoints:
            run.files |= digests(state.parent, keep(run.step))
        if run.step % settings.save_every == 0 and run.step < settings.steps:
            save(state, run, model, stepper)
        progress.at(run.step, loss=loss, lr=rate)
    return run


def record(run: TrainingRun, rate: float, classes: int) -> None:
    """Close an interval between evaluations. Raises Diverged where its loss says that nothing is learned any more."""
    loss = sum(run.losses) / len(run.losses)
    first = run.trace[0]["loss"] if run.trace else loss
    if loss > DIVERGED * max(math.log(classes), first):
        raise Diverged(
            f"the mean loss since the last evaluation is {loss:.3g} nats, a guess has {math.log(classes):.3g}"
        )
    run.trace.append({"step": run.step, "loss": loss, "learning_rate": rate})
    run.losses.clear()


def _what_is_left(fault: Diverged, run: TrainingRun, settings: Finetune) -> str:
    """The fault, and from what a person can go on: what was kept before the interval of the fault."""
    good = run.trace[-1]["step"] if run.trace else 0
    kept = [step for step in settings.checkpoints if step <= good]
    checkpoint = f"that of step {kept[-1]}" if kept else "none"
    return (
        f"fine-tuning diverged at step {run.step}: {fault}; the last evaluation before it was at step {good}, the last "
        f"good checkpoint is {checkpoint}. Lower finetune.learning_rate, or set finetune.clip_norm or more "
        "finetune.warmup_steps"
    )


class Batches:
    """The training pairs of every step: consecutive parts of one permutation per epoch, a short last part left out."""

    def __init__(self, pairs: int, size: int, ft_seed: int):
        if size > pairs:
            raise InputError(f"finetune.batch_size = {size} exceeds the {pairs} training pairs")
        self.pairs, self.size, self.ft_seed = pairs, size, ft_seed
        self._epoch, self._order = -1, torch.empty(0)

    def at(self, step: int) -> torch.Tensor:
        """Indices of step `step` (from 0), int64 [size]."""
        epoch, part = divmod(step, self.pairs // self.size)
        if epoch != self._epoch:
            draws = torch_generator("order", self.ft_seed, epoch)
            self._epoch, self._order = epoch, torch.randperm(self.pairs, generator=draws)
        return self._order[part * self.size : (part + 1) * self.size]


def learning_rate(step: int, settings: Training) -> float:
    """The rate of step `step` (from 0): linear warm-up, then linear decay to zero at the last step."""
    warm = min(1.0, (step + 1) / settings.warmup_steps) if settings.warmup_steps else 1.0
    return settings.learning_rate * warm * (1 - step / settings.steps)


def save(path: Path, run: TrainingRun, model, stepper: AdamWStepper) -> None:
    """All that a run needs to go on, in one file: weights, Adam's moments, dropout's generator, records."""
    run.scaler = stepper.scaler.state_dict()
    tensors = {f"model.{name}": weight for name, weight in model.named_parameters()}
    moments = stepper.optimizer.state_dict()["state"]
    for (name, _), of_one in zip(model.named_parameters(), moments.values(), strict=True):
        tensors |= {f"adam.{name}.{k}": v for k, v in of_one.items()}
    tensors["generator"] = global_state(model.device)
    save_state(path, tensors, vars(run))


def resumed(path: Path, model, stepper: AdamWStepper) -> TrainingRun:
    """A run that goes on from what :func:`save` wrote, restored into `model`, `stepper` and torch's generator.

    A new one where nothing was saved or it is damaged.
    """
    if (found := load_state(path)) is None:
        return TrainingRun()
    tensors, records = found
    run = TrainingRun(**records)
    LOGGER.info("resuming after step %d", run.step)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.copy_(tensors[f"model.{name}"])
    moments = {
        position: {k: tensors[f"adam.{name}.{k}"] for k in ("step", "exp_avg", "exp_avg_sq")}
        for position, (name, _) in enumerate(model.named_parameters())
    }
    optimizer = stepper.optimizer
    optimizer.load_state_dict({"state": moments, "param_groups": optimizer.state_dict()["param_groups"]})
    stepper.scaler.load_state_dict(run.scaler)
    set_global_state(model.device, tensors["generator"])
    return run
