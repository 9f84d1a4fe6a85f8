"""Learning of sentences' answers: pre-training on a corpus, and teaching of facts."""

import logging
from collections.abc import Callable, Collection, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from heuristic_core.common.errors import Diverged
from heuristic_core.common.progress import Progress
from heuristic_core.common.seeds import torch_generator
from heuristic_core.experiments.extractive_structures.config import Finetuning, Learning
from heuristic_core.experiments.extractive_structures.model import FIXED, Parameters, run
from heuristic_core.experiments.extractive_structures.tokens import Examples
from heuristic_core.training.saved import load_state, save_state

LOGGER = logging.getLogger(__name__)


class Learned(NamedTuple):
    """parameters: in the host's memory. losses: mean over answers' tokens of every step's batch, before that step,
    nats, float32 [steps]."""

    parameters: dict[str, Tensor]
    losses: Tensor


class Saving(NamedTuple):
    """Where an unfinished run is saved, and after how many steps each time. told: rows of what was measured in
    passing, a list of the caller, who appends to it; a run that goes on has those of the run that it goes on from.
    last: save the end, too."""

    state: Path
    every: int
    told: list[dict] | None = None
    last: bool = False


class Unfinished(NamedTuple):
    """Where a job saves its stages. told: as of :class:`Saving`, of the whole job."""

    folder: Path
    told: list[dict]

    def of(self, stage: str, every: int) -> Saving:
        return Saving(self.folder / f"{stage.replace(' ', '-')}.safetensors", every, self.told, last=True)


def learn(
    parameters: Parameters,
    examples: Examples,
    settings: Learning,
    steps: int,
    order: tuple[str, int],
    trained: Collection[str] | None = None,
    after: Callable[[int, Parameters], None] | None = None,
    saving: Saving | None = None,
) -> Learned:
    """Train from `parameters`, which stay as and where they are, on torch's default device, with a new optimizer.

    order: purpose and seed of the order of examples. trained: names of parameters that learn; default: all. after:
    called with the number of steps made and the parameters then, from the first step made here on.
    Raises Diverged, naming step and seed, where a loss is no longer finite.
    """
    learner = Learner(parameters, settings, trained)
    learner.load(saving)
    drawn = islice(batches(len(examples.length), settings.batch_size, *order), learner.step, steps)
    progress = Progress("learn", steps, learner.step, brief=True)
    for index in drawn:
        loss = learner.advance(examples.of(index), order)
        if after is not None:
            after(learner.step, learner.parameters)
        if saving is not None and (saving.last if learner.step == steps else learner.step % saving.every == 0):
            learner.save(saving)
        progress.at(learner.step, loss=loss)
    return Learned({name: value.detach().cpu() for name, value in learner.parameters.items()}, learner.losses)


def teach(
    parameters: Parameters,
    examples: Examples,
    settings: Finetuning,
    order: tuple[str, int],
    trained: Collection[str] | None = None,
    after_epoch: Callable[[int, Parameters], None] | None = None,
    unfinished: Unfinished | None = None,
) -> dict[str, Tensor]:
    """One stage of fine-tuning: the parameters after all epochs. after_epoch: called with epochs made, from 1 on."""
    length = -(-len(examples.length) // settings.batch_size)

    def after(step: int, now: Parameters) -> None:
        if after_epoch is not None and step % length == 0:
            after_epoch(step // length, now)

    saving = unfinished and unfinished.of(order[0], length * (settings.save_every or settings.epochs))
    return learn(parameters, examples, settings, settings.epochs * length, order, trained, after, saving).parameters


def batches(count: int, size: int, purpose: str, seed: int) -> Iterator[Tensor]:
    """Positions of examples, endlessly: of every epoch a permutation of its own, cut into batches, the last one
    shorter."""
    epoch = 0
    while True:
        generator = torch_generator(f"extractive order {purpose}", seed, epoch)
        yield from torch.randperm(count, generator=generator, device="cpu").split(size)
        epoch += 1


def answer_loss(parameters: Parameters, examples: Examples) -> Tensor:
    """Cross-entropy of the answers' tokens, mean over all of them, nats."""
    logits = run(parameters, examples.tokens).logits[:, :-1]
    at = torch.arange(logits.shape[1])
    answered = (at >= examples.prompt[:, None] - 1) & (at < examples.length[:, None] - 1)
    return F.cross_entropy(logits[answered], examples.tokens[:, 1:][answered])


class Learner:
    """Parameters, their optimizer, the losses so far, and `step`, the number of steps made."""

    def __init__(self, parameters: Parameters, settings: Learning, trained: Collection[str] | None):
        names = [name for name in parameters if not name.startswith(FIXED)] if trained is None else trained
        copied = {name: value.to(torch.get_default_device(), copy=True) for name, value in parameters.items()}
        self.parameters = {name: value.detach().requires_grad_(name in names) for name, value in copied.items()}
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
        return torch.tensor(self._losses)

    def advance(self, examples: Examples, order: tuple[str, int]) -> float:
        """Learn from a batch; its loss. Raises Diverged, and changes no weight, where the loss is not finite."""
        self._optimizer.zero_grad()
        loss = answer_loss(self.parameters, examples)
        if not loss.isfinite():
            raise Diverged(
                f"{order[0]} diverged at step {self.step + 1} with seed {order[1]}: its loss is not finite. Lower its "
                "learning_rate"
            )
        loss.backward()
        self._optimizer.step()
        self._losses.append(float(loss.detach()))
        self.step += 1
        return self._losses[-1]

    def save(self, saving: Saving) -> None:
        """All that is needed to go on, in one file."""
        tensors = {**self.parameters, "losses": self.losses}
        for k, moments in enumerate(self._optimizer.state.values()):
            tensors |= {f"adam.{k}.{name}": value for name, value in moments.items()}
        save_state(saving.state, tensors, {"step": self.step, "told": saving.told})

    def load(self, saving: Saving | None) -> None:
        """Go on from what :meth:`save` wrote, if anything."""
        if (found := load_state(saving and saving.state)) is None:
            return
        tensors, records = found
        self.step, self._losses = records["step"], tensors["losses"].tolist()
        LOGGER.info("resuming after step %d", self.step)
        if saving.told is not None:
            saving.told[:] = records["told"]
        with torch.no_grad():
            for name, value in self.parameters.items():
                value.copy_(tensors[name])
        moments = {
            k: {name: tensors[f"adam.{k}.{name}"] for name in ("step", "exp_avg", "exp_avg_sq")}
            for k in range(len(self._trained))
        }
        groups = self._optimizer.state_dict()["param_groups"]
        self._optimizer.load_state_dict({"state": moments, "param_groups": groups})
