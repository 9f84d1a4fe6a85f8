"""Learned state of pruning: log_alpha and Lagrange multipliers of one or several runs, with optimizer and generators.

Tensors have a leading axis over runs, and runs do not affect each other. Only dropout draws from torch's global
generator, so a run with dropout cannot share a learner.
"""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from heuristic_core.common.errors import DivergenceError
from heuristic_core.common.seeds import derive_seed, get_global_rng_state, set_global_rng_state, torch_generator
from heuristic_core.config.pruning import Gates
from heuristic_core.pruning.hard_concrete import penalty, probability_open, sample_gates, target_sparsity_at
from heuristic_core.training.saved_state import load_state, save_state

LOGGER = logging.getLogger(__name__)
# From gate samples [samples, components] and examples, int64 [runs * batch], to KL(full || gated) summed over every
# sample's examples and divided by the batch size, [samples], and its gradient in the gates.
Divergence = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
TRACE_COLUMNS = ("kl", "sampled_sparsity", "target_sparsity", "lambda_1", "lambda_2", "log_alpha")


class PruningRun(NamedTuple):
    """One subnetwork to find.

    The target sparsity starts at the share of closed components: gates cannot follow a lower target, the multipliers
    would push gates open meanwhile, and too many gates would close once the target exceeds the share.

    Attributes:
        sparsity: Share of components to remove.
        seed: Seed of all draws.
        closed: Indices of components whose gates are always 0. They count as removed and are not learned.
    """

    sparsity: float
    seed: int
    closed: tuple[int, ...] = ()


class StepDraws(NamedTuple):
    """Random draws of one step.

    Attributes:
        step: The step, from 0.
        index: Examples, int64 [runs, batch], on the host.
        noise: Uniform noise of the gates, [runs, draws, components].
        target: Target sparsities, [runs].
    """

    step: int
    index: Tensor
    noise: Tensor
    target: Tensor


class Learner:
    """Learned parameters of several pruning runs, and their optimizer.

    Attributes:
        runs: The runs.
        log_alpha: [runs, components].
        lambdas: [runs, 2].
        step: The next step, from 0.
        steps: Number of steps.
        is_free: float32 [runs, components], 0 for components that a run closes, 1 for others; None if no run closes
            any.
    """

    def __init__(self, runs: Sequence[PruningRun], settings: Gates, size: int, device: torch.device):
        self.runs, self.steps, self.step = runs, _common_steps(runs, settings), 0
        self._recorded, self._values = (
            [],
            torch.zeros(0, len(runs), len(TRACE_COLUMNS)),
        )  # steps, and their values [steps, runs, columns]
        self._settings, self._size, self._device = settings, size, device
        start = (settings.log_alpha_mean, settings.log_alpha_std, (size,))
        starts = [torch.normal(*start, generator=torch_generator("log_alpha", run.seed)) for run in runs]
        self.log_alpha = torch.stack(starts).to(device).requires_grad_()
        self.lambdas = torch.zeros(len(runs), 2, device=device, requires_grad=True)
        self.is_free = _free_components(runs, size, device)
        self._generators = [tuple(torch_generator(name, run.seed) for name in ("batches", "gates")) for run in runs]
        torch.manual_seed(derive_seed("dropout", *(run.seed for run in runs)))
        self._optimizer = torch.optim.AdamW(
            [
                {
                    "params": [self.log_alpha],
                    "lr": settings.learning_rate,
                    "weight_decay": settings.weight_decay,
                },
                {
                    "params": [self.lambdas],
                    "lr": settings.controller_learning_rate,
                    "weight_decay": settings.controller_weight_decay,
                    "maximize": True,
                },
            ],
            fused=True,  # as in AdamWStepper
        )
        self._rates = [group["lr"] for group in self._optimizer.param_groups]

    def make_draws(self, count: int, pairs: int) -> list[StepDraws]:
        """Draw for the next `count` steps or fewer, and copy the draws to the device together.

        Args:
            count: Number of steps.
            pairs: Number of pairs to draw from.
        """
        settings, runs = self._settings, self.runs
        steps = range(self.step, min(self.step + count, self.steps))
        shape = (settings.gate_draws, self._size)
        index, noise = [], []
        for _ in steps:
            index.append(
                torch.stack([torch.randint(pairs, (settings.batch_size,), generator=b) for b, _ in self._generators])
            )
            noise.append(torch.stack([torch.rand(shape, generator=g) for _, g in self._generators]))
        rises = [(settings.rise_steps(run.sparsity), run.sparsity, len(run.closed) / self._size) for run in runs]
        targets = [[target_sparsity_at(step, *rise) for rise in rises] for step in steps]
        device_noise, device_targets = torch.stack(noise).to(self._device), torch.tensor(targets, device=self._device)
        return [StepDraws(*row) for row in zip(steps, index, device_noise, device_targets, strict=True)]

    def compute_gradients(self, draws: StepDraws, divergence: Divergence) -> Tensor:
        """Compute the gradients of one step on log_alpha and lambdas; return its trace values, float32 [runs, 6].

        Args:
            draws: The draws of the step.
            divergence: Computes KL divergence and its gradient for gates.
        """
        z = sample_gates(self.log_alpha[:, None], draws.noise)  # [runs, draws, components]
        if self.is_free is not None:
            z = z * self.is_free[:, None]
        kl, gradient = divergence(z.flatten(0, 1), draws.index.flatten())
        sampled = 1 - z.mean(-1)  # [runs, draws]: the controller sees the sparsity of each sample
        if self._settings.controller == "expected":
            open_probability = probability_open(self.log_alpha)
            open_probability = open_probability if self.is_free is None else open_probability * self.is_free
            sparsity = 1 - open_probability.mean(-1, keepdim=True)
        else:
            sparsity = sampled
        penalties = penalty(sparsity, draws.target[:, None], self.lambdas[:, None]).mean(-1)
        torch.autograd.backward([z, penalties.sum()], [gradient.view_as(z), None])
        kl = kl.view(z.shape[:2]).sum(-1)
        lambdas, alphas = self.lambdas.detach(), self.log_alpha.detach()
        columns = [kl, sampled.detach().mean(-1), draws.target, lambdas[:, 0], lambdas[:, 1], alphas.mean(-1)]
        return torch.stack(columns, -1)

    def advance(self) -> None:
        """Apply one optimizer step and clear the gradients."""
        for group, rate in zip(self._optimizer.param_groups, self._rates, strict=True):
            group["lr"] = rate * learning_rate_factor(self.step, self.steps, self._settings)
        self._optimizer.step()
        self._optimizer.zero_grad()
        self.step += 1

    def record(self, rows: dict[int, Tensor]) -> None:
        """Append values by step, [runs, len(TRACE_COLUMNS)] each, on the device, to the trace.

        Only this method makes the host wait for the device.

        Raises:
            DivergenceError: No run is finite at the first recorded step, so that a shared input must be broken.
        """
        if not rows:
            return
        values = torch.stack(list(rows.values())).cpu()
        self._recorded, self._values = [*self._recorded, *rows], torch.cat([self._values, values])
        if not self._values[0].isfinite().all(-1).any():
            raise DivergenceError(
                f"pruning produced NaN or infinity at step {self._recorded[0]} with every seed "
                f"({', '.join(f'{name} {value:g}' for name, value in zip(TRACE_COLUMNS, values[0, 0], strict=True))}): "
                "the checkpoint, its means, its logits or the block prune is broken"
            )

    def describe_failure(self, run: int) -> str | None:
        """Return why run number `run` failed, such as "diverged by step 70: kl nan"; None while it is finite."""
        if (first := self._finite_rows(run)) < len(self._recorded):
            row = self._values[first, run]
            column = int((~row.isfinite()).nonzero()[0])
            return f"diverged by step {self._recorded[first]}: {TRACE_COLUMNS[column]} {float(row[column]):g}"
        if not self.log_alpha[run].isfinite().all():
            return f"diverged by step {self.step}: log_alpha is not finite"
        return None

    def make_trace_rows(self, run: int) -> list[dict]:
        """Return the rows of table `prune_trace` of run number `run`, one dict per recorded step, while finite."""
        rows = zip(self._recorded, self._values[:, run].tolist(), strict=True)
        trace = [{"prune_step": step} | dict(zip(TRACE_COLUMNS, row, strict=True)) for step, row in rows]
        return trace[: self._finite_rows(run)]

    def _finite_rows(self, run: int) -> int:
        """Return the number of recorded steps before the first that is not finite."""
        return int(self._values[:, run].isfinite().all(-1).long().cumprod(0).sum())

    def save(self, path: Path) -> None:
        """Save the state of all runs to one file: some kilobytes, and 24 bytes per run and recorded step."""
        tensors = {"log_alpha": self.log_alpha.detach(), "lambdas": self.lambdas.detach()}
        tensors |= {"dropout": get_global_rng_state(self._device), "trace": self._values}
        tensors["recorded"] = torch.tensor(self._recorded)
        for name, moments in self._optimizer.state_dict()["state"].items():
            tensors |= {f"adam.{name}.{key}": value for key, value in moments.items()}
        for number, pair in enumerate(self._generators):
            tensors |= {f"generator.{number}.{k}": g.get_state() for k, g in enumerate(pair)}
        save_state(path, tensors, {"step": self.step})

    def resume(self, path: Path | None) -> None:
        """Resume from the file that :meth:`save` wrote, if it exists and is intact."""
        if (saved := load_state(path)) is None:
            return
        tensors, records = saved
        self.step = records["step"]
        LOGGER.info("resuming after step %d", self.step)
        self._recorded, self._values = tensors["recorded"].tolist(), tensors["trace"]
        with torch.no_grad():
            self.log_alpha.copy_(tensors["log_alpha"])
            self.lambdas.copy_(tensors["lambdas"])
        moments = {n: {k: tensors[f"adam.{n}.{k}"] for k in ("step", "exp_avg", "exp_avg_sq")} for n in (0, 1)}
        self._optimizer.load_state_dict(
            {"state": moments, "param_groups": self._optimizer.state_dict()["param_groups"]}
        )
        for number, pair in enumerate(self._generators):
            for k, generator in enumerate(pair):
                generator.set_state(tensors[f"generator.{number}.{k}"])
        set_global_rng_state(self._device, tensors["dropout"])


def learning_rate_factor(step: int, steps: int, settings: Gates) -> float:
    """Return the learning-rate factor at a step: linear warm-up times linear decay to 0.

    Args:
        step: The step, from 0.
        steps: Number of all steps.
        settings: Steps of warm-up, and whether decay starts at its end or at step 0.
    """
    warmup = settings.warmup_steps
    warmup_factor = min(1.0, (step + 1) / warmup) if warmup else 1.0
    if settings.decay == "from-start":
        return warmup_factor * (steps - step) / steps
    return warmup_factor * min(1.0, (steps - step) / (steps - warmup)) if steps > warmup else warmup_factor


def _free_components(runs: Sequence[PruningRun], size: int, device: torch.device) -> Tensor | None:
    if not any(run.closed for run in runs):
        return None
    return torch.tensor([[float(c not in run.closed) for c in range(size)] for run in runs], device=device)


def _common_steps(runs: Sequence[PruningRun], settings: Gates) -> int:
    counts = {run.sparsity: settings.total_steps(run.sparsity) for run in runs}
    if len(set(counts.values())) > 1:
        raise ValueError(f"runs that share a pass need equal numbers of steps; by sparsity they have {counts}")
    return next(iter(counts.values()))
