"""Training of many models in one pass, one per seed, with kept checkpoints and resumption.

All parameters are one tensor, a row per model, with one optimizer. Within a step the models' losses are computed one
after another: at these sizes matrix products take the time, and the activations of one model fit into a processor's
cache while those of many do not. So a model's bytes do not depend on which others are trained beside it.
"""

import logging
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from heuristic_core.common.errors import DivergenceError
from heuristic_core.common.progress import Progress
from heuristic_core.experiments.list_sorting.config import ListSorting, Training
from heuristic_core.experiments.list_sorting.data import make_sequences
from heuristic_core.experiments.list_sorting.model import compute_losses, initialise_parameters, parameter_shapes
from heuristic_core.training.finetune import Batches
from heuristic_core.training.saved_state import digests, load_state, save_state

LOGGER = logging.getLogger(__name__)
VECTOR = 64  # rows are padded to a multiple of this, so that the optimizer's loops treat every model alike


class Trained(NamedTuple):
    """Models at the end of training.

    Attributes:
        parameters: Parameters at the last step, each [M, ...].
        losses: Mean loss of every step before its update, nats, float32 [steps, M].
    """

    parameters: dict[str, Tensor]
    losses: Tensor


def train(
    study: ListSorting,
    lists: Tensor,
    keep: Callable[[int, dict[str, Tensor]], Iterable[Path] | None],
    state: Path | None = None,
    seeds: Sequence[int] | None = None,
) -> Trained:
    """Train a model of every seed.

    Batches follow a permutation per epoch that depends only on the seed and the epoch.

    Args:
        study: Settings of data, model and training.
        lists: Training lists, int64 [n, L].
        keep: Called with the step and copies of all models' parameters at every step of ``study.training.kept``, from
            0.
        state: As in :func:`heuristic_core.training.finetune.finetune`; None saves nothing.
        seeds: Training seeds; default: those of the study.

    Raises:
        DivergenceError: A loss is not finite; the message has seed and step, and that step changes no weight.
    """
    settings = study.training
    seeds = settings.seeds if seeds is None else seeds
    learner = Learner(study, seeds)
    files = learner.load(state)
    tokens = make_sequences(lists, study.data)
    batches = [Batches(len(lists), settings.batch_size, seed) for seed in seeds]
    progress = Progress("train", settings.steps, learner.step)
    kept = set(settings.kept)
    if learner.step == 0:
        files |= _digest_finished(state, keep(0, learner.parameters))
    while learner.step < settings.steps:
        step_losses = learner.advance([tokens[epochs.at(learner.step)] for epochs in batches])
        step = learner.step
        if step in kept:
            files |= _digest_finished(state, keep(step, learner.parameters))
        if state is not None and step % settings.save_every == 0 and step < settings.steps:
            learner.save(state, files)
        progress.update(step, loss=float(step_losses.mean()), lr=learning_rate_at(step - 1, settings))
    return Trained(learner.parameters, learner.losses)


class Learner:
    """Parameters of all models, their optimizer and losses.

    Attributes:
        step: Number of finished steps.
        losses: Losses of these steps, nats, [steps, M].
    """

    def __init__(self, study: ListSorting, seeds: Sequence[int]):
        self.step, self.losses = 0, torch.zeros(study.training.steps, len(seeds))
        self._settings, self._seeds = study.training, seeds
        self._shapes = parameter_shapes(study.data, study.model)
        size = sum(map(math.prod, self._shapes.values()))
        self._flat = torch.zeros(len(seeds), size + -size % VECTOR)
        for name, value in initialise_parameters(study.data, study.model, seeds).items():
            self._views(self._flat)[name].copy_(value)
        self._flat.grad = torch.zeros_like(self._flat)
        self._models = [self._leaves(m) for m in range(len(seeds))]
        self._optimizer = make_optimizer([self._flat], study.training)

    @property
    def parameters(self) -> dict[str, Tensor]:
        """A copy of all parameters, each [M, ...]."""
        return {name: value.clone() for name, value in self._views(self._flat).items()}

    @property
    def gradients(self) -> dict[str, Tensor]:
        """Gradients of the last step, each [M, ...]."""
        return self._views(self._flat.grad)

    def advance(self, batches: Sequence[Tensor]) -> Tensor:
        """Make one step.

        Args:
            batches: A batch of sequences for each model, int64 [batch, 2 L + 1].

        Returns:
            The losses, nats, [M].

        Raises:
            DivergenceError: A loss is not finite; the weights do not change.
        """
        self._flat.grad.zero_()
        step_losses = []
        for model, tokens in zip(self._models, batches, strict=True):
            loss = compute_losses(model, tokens).mean()
            loss.backward()
            step_losses.append(loss.detach())
        step_losses = torch.stack(step_losses)
        if not step_losses.isfinite().all():
            seed = self._seeds[int((~step_losses.isfinite()).nonzero()[0])]
            raise DivergenceError(
                f"list sorting diverged at step {self.step + 1} with seed {seed}: its loss is not finite. "
                "Lower training.learning_rate"
            )
        for group in self._optimizer.param_groups:
            group["lr"] = learning_rate_at(self.step, self._settings)
        self._optimizer.step()
        self.losses[self.step] = step_losses
        self.step += 1
        return step_losses

    def save(self, path: Path, files: dict[str, str]) -> None:
        """Save everything that resumption needs in one file.

        Args:
            path: Path of the file.
            files: SHA-256 of finished files by relative path, which are saved, too.
        """
        (moments,) = self._optimizer.state.values()
        tensors = {"parameters": self._flat, "losses": self.losses[: self.step]}
        tensors |= {f"adam.{key}": value for key, value in moments.items()}
        save_state(path, tensors, {"step": self.step, "seeds": list(self._seeds), "files": files})

    def load(self, path: Path | None) -> dict[str, str]:
        """Resume from a file of :func:`save` for these seeds, if any; return the digests of finished files."""
        if (saved := load_state(path)) is None or saved[1]["seeds"] != list(self._seeds):
            return {}
        tensors, records = saved
        self.step = records["step"]
        LOGGER.info("resuming after step %d", self.step)
        self._flat.copy_(tensors["parameters"])
        self.losses[: self.step] = tensors["losses"]
        moments = {name: tensors[f"adam.{name}"] for name in ("step", "exp_avg", "exp_avg_sq")}
        groups = self._optimizer.state_dict()["param_groups"]
        self._optimizer.load_state_dict({"state": {0: moments}, "param_groups": groups})
        return records["files"]

    def _views(self, flat: Tensor) -> dict[str, Tensor]:
        """Return views of rows of parameters by name, each [rows, ...]."""
        views, start = {}, 0
        for name, shape in self._shapes.items():
            size = math.prod(shape)
            views[name] = flat[:, start : start + size].unflatten(-1, shape)
            start += size
        return views

    def _leaves(self, m: int) -> dict[str, Tensor]:
        """Return the parameters of model m, each [1, ...], whose gradients accumulate in the shared rows."""
        gradients = self._views(self._flat.grad[m : m + 1])
        leaves = {name: value.requires_grad_() for name, value in self._views(self._flat[m : m + 1]).items()}
        for name, leaf in leaves.items():
            leaf.grad = gradients[name]
        return leaves


def make_optimizer(parameters: Sequence[Tensor], settings: Training) -> torch.optim.Optimizer:
    """Return Adam with weight decay in torch's fused form, which is portable.

    Args:
        parameters: Parameters to optimise.
        settings: Rates, and whether weight decay is decoupled (AdamW).
    """
    optimizer_class = torch.optim.AdamW if settings.optimiser == "adamw" else torch.optim.Adam
    return optimizer_class(
        parameters,
        lr=settings.learning_rate,
        betas=settings.adam_betas,
        eps=settings.adam_epsilon,
        weight_decay=settings.weight_decay,
        fused=True,
    )


def learning_rate_at(step: int, settings: Training) -> float:
    """Return the learning rate of a step: linear from the first to the final rate.

    Args:
        step: Number of the step, from 0.
        settings: Both rates and the number of steps.
    """
    share = step / settings.steps
    return (1 - share) * settings.learning_rate + share * settings.final_learning_rate


def _digest_finished(state: Path | None, paths: Iterable[Path] | None) -> dict[str, str]:
    """Return the digests of finished files; none without a saved state."""
    return {} if state is None else digests(state.parent, paths)
