"""Train a model on the answers of sentences: pre-training on a corpus, and teaching facts."""

import logging
from collections.abc import Callable, Collection, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from heuristic_core.common.errors import DivergenceError
from heuristic_core.common.progress import Progress
from heuristic_core.common.seeds import torch_generator
from heuristic_core.experiments.extractive_structures.config import Finetuning, Learning
from heuristic_core.experiments.extractive_structures.model import run
from heuristic_core.experiments.extractive_structures.parameters import CONSTANT_PREFIX, Parameters
from heuristic_core.experiments.extractive_structures.tokens import Examples
from heuristic_core.training.saved_state import load_state, save_state

LOGGER = logging.getLogger(__name__)


class TrainingResult(NamedTuple):
    """Results of training.

    Attributes:
        parameters: Parameters in the host's memory.
        losses: Loss of every step's batch before the step, mean over tokens of answers, nats, float32 [steps].
    """

    parameters: dict[str, Tensor]
    losses: Tensor


class Saving(NamedTuple):
    """Where and how often an unfinished run is saved.

    Attributes:
        state: File of the saved state.
        interval: Steps between saved states.
        rows: Rows that the caller measures during training and appends; a resumed run restores those of the saved run.
        at_end: Whether the end of training is saved, too.
    """

    state: Path
    interval: int
    rows: list[dict] | None = None
    at_end: bool = False


class StageSaving(NamedTuple):
    """Where a job with several stages saves them.

    Attributes:
        folder: Folder of saved states.
        rows: Rows of the whole job, see :class:`Saving`.
    """

    folder: Path
    rows: list[dict]

    def stage_saving(self, stage: str, interval: int) -> Saving:
        """Return where a stage is saved, after each interval of steps and at its end.

        Args:
            stage: Name of the stage.
            interval: Number of steps between two states.
        """
        return Saving(self.folder / f"{stage.replace(' ', '-')}.safetensors", interval, self.rows, at_end=True)


def learn(
    parameters: Parameters,
    examples: Examples,
    settings: Learning,
    steps: int,
    order: tuple[str, int],
    trained: Collection[str] | None = None,
    after: Callable[[int, Parameters], None] | None = None,
    saving: Saving | None = None,
) -> TrainingResult:
    """Train a copy of `parameters` on torch's default device with a new optimizer.

    Args:
        parameters: Initial parameters, which are not changed.
        examples: Encoded sentences.
        settings: Settings of training.
        steps: Number of steps.
        order: Purpose and seed of the order of examples.
        trained: Names of the trained parameters; default: all except constants.
        after: Called after each step with the number of steps and the parameters; not for steps of a resumed run.
        saving: Where to save and resume; default: nowhere.

    Raises:
        DivergenceError: If a loss is not finite; names step and seed.
    """
    learner = Learner(parameters, settings, trained)
    learner.load(saving)
    remaining = islice(iterate_batches(len(examples.length), settings.batch_size, *order), learner.step, steps)
    progress = Progress("learn", steps, learner.step, brief=True)
    for index in remaining:
        loss = learner.advance(examples.select(index), order)
        if after is not None:
            after(learner.step, learner.parameters)
        if saving is not None and (saving.at_end if learner.step == steps else learner.step % saving.interval == 0):
            learner.save(saving)
        progress.update(learner.step, loss=loss)
    return TrainingResult({name: value.detach().cpu() for name, value in learner.parameters.items()}, learner.losses)


def teach(
    parameters: Parameters,
    examples: Examples,
    settings: Finetuning,
    order: tuple[str, int],
    trained: Collection[str] | None = None,
    after_epoch: Callable[[int, Parameters], None] | None = None,
    unfinished: StageSaving | None = None,
) -> dict[str, Tensor]:
    """Run one stage of fine-tuning and return the parameters after all epochs.

    Args:
        parameters: Initial parameters, which are not changed.
        examples: Encoded sentences.
        settings: Settings of fine-tuning.
        order: Purpose, which names the stage, and seed of the order of examples.
        trained: Names of the trained parameters; default: all except constants.
        after_epoch: Called after each epoch with the number of epochs, from 1, and the parameters.
        unfinished: Where to save and resume, if `settings.save_every` says how often; default: nowhere.
    """
    epoch_steps = -(-len(examples.length) // settings.batch_size)

    def after(step: int, current: Parameters) -> None:
        if after_epoch is not None and step % epoch_steps == 0:
            after_epoch(step // epoch_steps, current)

    resumable = unfinished and settings.save_every
    saving = unfinished.stage_saving(order[0], epoch_steps * settings.save_every) if resumable else None
    return learn(
        parameters, examples, settings, settings.epochs * epoch_steps, order, trained, after, saving
    ).parameters


def iterate_batches(count: int, size: int, purpose: str, seed: int) -> Iterator[Tensor]:
    """Yield batches of indices without end: each epoch is a new permutation; its last batch can be smaller.

    Args:
        count: Number of examples.
        size: Batch size.
        purpose: Part of the name of the draws.
        seed: Seed of the draws.
    """
    epoch = 0
    while True:
        generator = torch_generator(f"extractive order {purpose}", seed, epoch)
        yield from torch.randperm(count, generator=generator, device="cpu").split(size)
        epoch += 1


def answer_loss(parameters: Parameters, examples: Examples) -> Tensor:
    """Return the cross-entropy of the tokens of answers, mean over all of them, nats.

    Args:
        parameters: Weights of the model.
        examples: Sentences with their answers.
    """
    logits = run(parameters, examples.tokens).logits[:, :-1]
    positions = torch.arange(logits.shape[1])
    mask = (positions >= examples.prompt[:, None] - 1) & (positions < examples.length[:, None] - 1)
    return F.cross_entropy(logits[mask], examples.tokens[:, 1:][mask])


class Learner:
    """The state of training.

    Attributes:
        parameters: Parameters on the default device.
        step: Number of steps so far.
        losses: Losses of these steps, nats, float32 [step].
    """

    def __init__(self, parameters: Parameters, settings: Learning, trained: Collection[str] | None):
        names = [name for name in parameters if not name.startswith(CONSTANT_PREFIX)] if trained is None else trained
        copies = {name: value.to(torch.get_default_device(), copy=True) for name, value in parameters.items()}
        self.parameters = {name: value.detach().requires_grad_(name in names) for name, value in copies.items()}
        self.step, self._losses = 0, []
        self._trained = [value for value in self.parameters.values() if value.requires_grad]
        self._optimizer = torch.optim.AdamW(
            self._trained,
            lr=settings.learning_rate,
            betas=settings.adam_betas,
            eps=settings.adam_epsilon,
            weight_decay=settings.weight_decay,
            fused=True,  # torch's own square root, which is portable
        )

    @property
    def losses(self) -> Tensor:
        """Losses of all steps so far, nats, float32 [step]."""
        return torch.tensor(self._losses)

    def advance(self, examples: Examples, order: tuple[str, int]) -> float:
        """Take a step on a batch and return its loss.

        Args:
            examples: The batch.
            order: Purpose and seed of the order of examples, for messages.

        Raises:
            DivergenceError: If the loss is not finite; the step is not taken.
        """
        self._optimizer.zero_grad()
        loss = answer_loss(self.parameters, examples)
        if not loss.isfinite():
            raise DivergenceError(
                f"{order[0]} diverged at step {self.step + 1} with seed {order[1]}: the loss is not finite; lower "
                "learning_rate"
            )
        loss.backward()
        self._optimizer.step()
        self._losses.append(float(loss.detach()))
        self.step += 1
        return self._losses[-1]

    def save(self, saving: Saving) -> None:
        """Save all that resuming needs in one file."""
        tensors = {**self.parameters, "losses": self.losses}
        for k, moments in enumerate(self._optimizer.state.values()):
            tensors |= {f"adam.{k}.{name}": value for name, value in moments.items()}
        save_state(saving.state, tensors, {"step": self.step, "told": saving.rows})

    def load(self, saving: Saving | None) -> None:
        """Resume from a state that :meth:`save` wrote, if there is one."""
        if (state := load_state(saving and saving.state)) is None:
            return
        tensors, records = state
        self.step, self._losses = records["step"], tensors["losses"].tolist()
        LOGGER.info("resuming after step %d", self.step)
        if saving.rows is not None:
            saving.rows[:] = records["told"]
        with torch.no_grad():
            for name, value in self.parameters.items():
                value.copy_(tensors[name])
        moments = {
            k: {name: tensors[f"adam.{k}.{name}"] for name in ("step", "exp_avg", "exp_avg_sq")}
            for k in range(len(self._trained))
        }
        groups = self._optimizer.state_dict()["param_groups"]
        self._optimizer.load_state_dict({"state": moments, "param_groups": groups})
