"""Fine-tuning of a Hugging Face sequence classifier, with checkpoints, periodic evaluation and resumption."""

import logging
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from heuristic_core.common.errors import DivergenceError, InputError
from heuristic_core.common.progress import Progress
from heuristic_core.common.seeds import derive_seed, get_global_rng_state, set_global_rng_state, torch_generator
from heuristic_core.config.blocks import Finetune, Training
from heuristic_core.data.encoded import Encoded
from heuristic_core.interventions.evaluate import all_logits
from heuristic_core.models.batches import PairTensors, length_multiple
from heuristic_core.models.device import resolve_dtype
from heuristic_core.models.model import Model
from heuristic_core.training.competition import CompetitionBatches, CompetitionStepper
from heuristic_core.training.evaluations import Evaluations
from heuristic_core.training.saved_state import digests, load_state, save_state
from heuristic_core.training.stepper import AdamWStepper, Stepper

if TYPE_CHECKING:
    from transformers import PreTrainedModel

LOGGER = logging.getLogger(__name__)
# A run has diverged if the mean loss of an interval exceeds this multiple of the loss of a uniform guess, or of the
# run's first interval if that is higher.
DIVERGENCE_FACTOR = 2.0


@dataclass
class TrainingRun:
    """Progress and records of a run.

    Attributes:
        step: Number of finished steps.
        losses: Losses since the last row of the trace, nats.
        trace: Rows of the trace.
        scaler: State of float16's gradient scaler; empty for other precisions.
        files: Digests of finished files.
        evaluated: Steps whose evaluation has ended.
    """

    step: int = 0
    losses: list[float] = field(default_factory=list)
    trace: list[dict] = field(default_factory=list)
    scaler: dict = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    evaluated: list[int] = field(default_factory=list)


def finetune(
    model: "PreTrainedModel",
    train: Encoded,
    evaluation: Encoded,
    settings: Finetune,
    ft_seed: int,
    save_checkpoint: Callable[[int], Iterable[Path] | None],
    save_evaluation: Callable[[int, Tensor], Iterable[Path] | None],
    state: Path,
    precision: str = "float32",
) -> TrainingRun:
    """Train `model` (Hugging Face, for sequence classification) in place.

    Batches follow one permutation per epoch, which depends only on `ft_seed` and the epoch; with
    ``settings.competition`` see :mod:`heuristic_core.training.competition`.

    Args:
        model: A ``PreTrainedModel`` for sequence classification.
        train: Training pairs.
        evaluation: Evaluation pairs.
        settings: Block `finetune` of the configuration.
        ft_seed: Fine-tuning seed.
        save_checkpoint: Called with the step after each step in ``settings.checkpoints``; returns the files that it
            wrote.
        save_evaluation: Called with the step and the logits on all evaluation pairs, float32 [n, classes], at step 0,
            every ``settings.evaluate_every`` steps and at the end, in a thread of its own; returns the files that it
            wrote. After a resumption it is called again for steps whose evaluation was not saved.
        state: File in which the run's state is saved every ``settings.save_every`` steps. If it exists and the files
            returned so far are intact, the run resumes from it, with the same final weights as an uninterrupted run;
            otherwise it starts again. The caller removes the file.
        precision: Precision of the evaluations.

    Returns:
        The records of the run.

    Raises:
        DivergenceError: Loss or gradient is NaN or infinite (such a step changes no weight), or the loss of an interval
            between evaluations is far above the loss of a guess. Names the step and the last good checkpoint.
    """
    pad, dtype = model.config.pad_token_id, resolve_dtype(model.device, settings.precision)
    pairs = PairTensors(train, pad, model.device, length_multiple(model.device, dtype))
    held_out = PairTensors(evaluation, pad, model.device)
    if settings.competition:
        config = model.config
        batches = CompetitionBatches(train, ft_seed, settings, (config.num_hidden_layers, config.num_attention_heads))
        stepper = CompetitionStepper(model, pairs, settings)
    else:
        batches, stepper = Batches(len(pairs), settings.batch_size, ft_seed), Stepper(model, pairs, settings)
    torch.manual_seed(derive_seed("dropout", ft_seed))
    run = resume_run(state, model, stepper)
    progress = Progress("finetune", settings.steps, run.step)

    def evaluate(step: int, copy: Model) -> dict[str, str]:
        return digests(state.parent, save_evaluation(step, all_logits(copy, held_out)))

    model.train()
    with Evaluations(evaluate, precision) as evaluations:
        if run.step not in run.evaluated and is_evaluated(run.step, settings):
            evaluations.start(run.step, model)
        while run.step < settings.steps:
            rate = learning_rate(run.step, settings)
            run.step += 1
            try:
                loss = stepper.step(batches.at(run.step - 1), rate)
                run.losses.append(loss)
                if is_evaluated(run.step, settings):
                    record_interval(run, rate, len(model.config.id2label))
            except DivergenceError as fault:
                raise DivergenceError(_describe_divergence(fault, run, settings)) from None
            if is_evaluated(run.step, settings):
                evaluations.start(run.step, model)
            if run.step in settings.checkpoints:
                run.files |= digests(state.parent, save_checkpoint(run.step))
            if run.step % settings.save_every == 0 and run.step < settings.steps:
                # A resumed run repeats the evaluation of its own step only.
                record_evaluations(run, evaluations.collect(before=run.step))
                save_run(state, run, model, stepper)
            progress.update(run.step, loss=loss, lr=rate)
        record_evaluations(run, evaluations.collect())
    return run


def is_evaluated(step: int, settings: Finetune) -> bool:
    """Return whether the model is evaluated at a step.

    Args:
        step: Number of finished steps.
        settings: Block `finetune` of the configuration.
    """
    return step % settings.evaluate_every == 0 or step == settings.steps


def record_evaluations(run: TrainingRun, ended: dict[int, dict[str, str]]) -> None:
    """Add evaluations that have ended to the records of a run.

    Args:
        run: The run.
        ended: Digests of their files, by step.
    """
    run.evaluated += ended
    for files in ended.values():
        run.files |= files


def record_interval(run: TrainingRun, rate: float, classes: int) -> None:
    """Add the mean loss of the interval since the last evaluation to the trace.

    Args:
        run: The run, whose losses are cleared.
        rate: Learning rate of the last step.
        classes: Number of classes.

    Raises:
        DivergenceError: The loss is far above the loss of a guess.
    """
    loss = sum(run.losses) / len(run.losses)
    first = run.trace[0]["loss"] if run.trace else loss
    if loss > DIVERGENCE_FACTOR * max(math.log(classes), first):
        raise DivergenceError(
            f"the mean loss since the last evaluation is {loss:.3g} nats; "
            f"a uniform guess has {math.log(classes):.3g} nats"
        )
    run.trace.append({"step": run.step, "loss": loss, "learning_rate": rate})
    run.losses.clear()


def _describe_divergence(error: DivergenceError, run: TrainingRun, settings: Finetune) -> str:
    """Describe a divergence, with the last checkpoint before the interval in which it occurred."""
    last_good_step = run.trace[-1]["step"] if run.trace else 0
    kept = [step for step in settings.checkpoints if step <= last_good_step]
    checkpoint = f"step {kept[-1]}" if kept else "none"
    return (
        f"fine-tuning diverged at step {run.step}: {error}; last evaluation before it: step {last_good_step}; "
        f"last good checkpoint: {checkpoint}. Lower finetune.learning_rate, set finetune.clip_norm or raise "
        "finetune.warmup_steps"
    )


class Batches:
    """Training pairs of every step: consecutive parts of one permutation per epoch, without an incomplete last part."""

    def __init__(self, pairs: int, size: int, ft_seed: int):
        if size > pairs:
            raise InputError(f"finetune.batch_size = {size} exceeds the {pairs} training pairs")
        self.pairs, self.size, self.ft_seed = pairs, size, ft_seed
        self._epoch, self._order = -1, torch.empty(0)

    def at(self, step: int) -> torch.Tensor:
        """Return the indices of the pairs of step `step` (from 0), int64 [size]."""
        epoch, part = divmod(step, self.pairs // self.size)
        if epoch != self._epoch:
            draws = torch_generator("order", self.ft_seed, epoch)
            self._epoch, self._order = epoch, torch.randperm(self.pairs, generator=draws)
        return self._order[part * self.size : (part + 1) * self.size]


def learning_rate(step: int, settings: Training) -> float:
    """Return the learning rate of a step: linear warm-up, times linear decay towards zero after the last step.

    Args:
        step: Number of the step, from 0.
        settings: Peak learning rate, number of steps and of warm-up steps.
    """
    warmup = min(1.0, (step + 1) / settings.warmup_steps) if settings.warmup_steps else 1.0
    return settings.learning_rate * warmup * (1 - step / settings.steps)


def save_run(path: Path, run: TrainingRun, model: "PreTrainedModel", stepper: AdamWStepper) -> None:
    """Save weights, Adam's moments, dropout's generator and records in one file, from which the run can resume.

    Args:
        path: Where to write the file.
        run: Progress and records; its `scaler` is updated.
        model: The model in training.
        stepper: Its optimizer and gradient scaler.
    """
    run.scaler = stepper.scaler.state_dict()
    tensors = {f"model.{name}": weight for name, weight in model.named_parameters()}
    moments = stepper.optimizer.state_dict()["state"]
    for position, name in _trained_names(model):
        tensors |= {f"adam.{name}.{k}": v for k, v in moments[position].items()}
    tensors["generator"] = get_global_rng_state(model.device)
    save_state(path, tensors, vars(run))


def resume_run(path: Path, model: "PreTrainedModel", stepper: AdamWStepper) -> TrainingRun:
    """Restore what :func:`save_run` wrote into `model`, `stepper` and torch's generator, and return the run.

    Returns a new run if the file is missing or damaged.

    Args:
        path: File that :func:`save_run` wrote.
        model: The model to resume, changed in place.
        stepper: Its optimizer and gradient scaler, changed in place.
    """
    if (saved := load_state(path)) is None:
        return TrainingRun()
    tensors, records = saved
    run = TrainingRun(**records)
    LOGGER.info("resuming after step %d", run.step)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.copy_(tensors[f"model.{name}"])
    moments = {
        position: {k: tensors[f"adam.{name}.{k}"] for k in ("step", "exp_avg", "exp_avg_sq")}
        for position, name in _trained_names(model)
    }
    optimizer = stepper.optimizer
    optimizer.load_state_dict({"state": moments, "param_groups": optimizer.state_dict()["param_groups"]})
    stepper.scaler.load_state_dict(run.scaler)
    set_global_rng_state(model.device, tensors["generator"])
    return run


def _trained_names(model: "PreTrainedModel") -> list[tuple[int, str]]:
    """Return position and name of every weight that is trained; only these have moments."""
    return [(i, name) for i, (name, weight) in enumerate(model.named_parameters()) if weight.requires_grad]
