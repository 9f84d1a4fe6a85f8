"""The local learning coefficient (LLC) of many models at once, by stochastic gradient Langevin dynamics.

LLC = n_beta (mean loss of a chain about w0 - loss at w0) (Lau et al. 2023, arXiv 2308.12108, equation 7). A chain walks
in coordinates u = w / unit, with a normal prior about w0:

    u <- u - step_size / 2 [n_beta unit grad L_b + localisation (u - u0)] + normal(0, step_size)

Every step has a fresh batch b. Loss and gradient of b at w_t make the step, and b's loss at w0 is subtracted from its
loss at w_t: w_t has not seen b, so that the difference is unbiased, and most of the noise of batches cancels.
Estimator tilted subtracts the linear term g0 (w - w0) from the loss, in the steps and in the value. g0 is the gradient
at w0. Training with L2 ends where the gradient of the loss balances the decay and is not zero; there the other
estimators also measure how far the chain slides down the slope, which can make them negative.

A diverging chain raises no error: it ends at the first loss that is implausible or not finite, and its model's value is
missing. Models share batches. Each model has its own noise generator, so its value does not depend on which other
models are in the pass (as far as the batched products of `losses` do not).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from heuristic_core.common.seeds import torch_generator
from heuristic_core.experiments.list_sorting.config_llc import Langevin, LocalLearning
from heuristic_core.experiments.list_sorting.llc_chains import Chain, chain_rows, summarise_chains

Parameters = dict[str, Tensor]  # by name, [M, ...] each: a leading axis over models
Losses = Callable[[Parameters, Any], Tensor]  # (parameters, batch) -> nats, [M, examples] or, averaged, [M]
BatchSampler = Callable[[int, torch.Generator], Any]  # (number of examples, generator) -> a batch for all models
FULL, HALF = "full", "half"  # kinds of step size


class Estimates(NamedTuple):
    """Estimates of the LLC. See :mod:`llc_chains`.

    Attributes:
        rows: One row for each model and estimator.
        chains: One row for each of their chains.
    """

    rows: list[dict]
    chains: list[dict]


class ParameterLayout:
    """Converts the parameters of M models to one matrix [M, weights] and back."""

    def __init__(self, parameters: Mapping[str, Tensor]):
        self._shapes = {name: value.shape[1:] for name, value in parameters.items()}
        self.sizes = [math.prod(shape) for shape in self._shapes.values()]

    def matrix(self, parameters: Mapping[str, Tensor]) -> Tensor:
        """Return the parameters as a matrix, [M, weights]."""
        return torch.cat([parameters[name].detach().flatten(1) for name in self._shapes], 1)

    def parameters(self, matrix: Tensor) -> Parameters:
        """Return views of `matrix` by name, each [M, ...]."""
        parts = zip(self._shapes.items(), matrix.split(self.sizes, 1), strict=True)
        return {name: part.reshape(len(matrix), *shape) for (name, shape), part in parts}


class Start(NamedTuple):
    """Where chains start.

    Attributes:
        layout: Layout of the weights.
        weights: w0, [M, weights].
        loss: Loss at w0, nats, [M].
        gradient: Gradient of the loss at w0, [M, weights].
    """

    layout: ParameterLayout
    weights: Tensor
    loss: Tensor
    gradient: Tensor


class ChainSettings(NamedTuple):
    """Settings of an estimator's chains.

    Attributes:
        name: Name of the estimator.
        langevin: Its step size and prior.
        units: Units of the coordinates, [M, weights].
        slope: Linear term of the loss in these coordinates, [M, weights], or None.
    """

    name: str
    langevin: Langevin
    units: Tensor
    slope: Tensor | None


def estimate_llc(
    losses: Losses, parameters: Mapping[str, Tensor], draw: BatchSampler, settings: LocalLearning, seeds: Sequence[int]
) -> Estimates:
    """Estimate the LLC of every model by every estimator in `settings`.

    Args:
        losses: Loss function of M models.
        parameters: w0 by name, each [M, ...].
        draw: Draws a batch for all models.
        settings: Settings of the estimators.
        seeds: Seeds of the models' noise, [M], for instance their training seeds. Rows identify a model by its seed.
    """
    start = compute_start(losses, parameters, draw, settings)
    rows, chains = [], []
    for name, langevin in settings.estimators.items():
        chain_settings = make_chain_settings(name, langevin, start, settings)
        full = [
            run_chain(losses, draw, start, chain_settings, settings, seeds, (FULL, k)) for k in range(settings.chains)
        ]
        half = [
            run_chain(losses, draw, start, chain_settings, settings, seeds, (HALF, k))
            for k in range(settings.half_step_chains)
        ]
        for m, seed in enumerate(seeds):
            names = {"model": seed, "estimator": name}
            model_chains = [chain[m] for chain in full], [chain[m] for chain in half]
            start_values = describe_start(start, chain_settings, settings, m)
            slide = start_values["slide"] if chain_settings.slope is None else None
            rows.append(names | start_values | summarise_chains(*model_chains, settings.checks, slide))
            chains += [names | chain_row for chain_row in chain_rows(*model_chains)]
    return Estimates(rows, chains)


def compute_start(
    losses: Losses, parameters: Mapping[str, Tensor], draw: BatchSampler, settings: LocalLearning
) -> Start:
    """Compute loss and gradient at w0, means over `gradient_examples` examples.

    Args:
        losses: Loss function of M models.
        parameters: w0 by name, each [M, ...].
        draw: Draws a batch for all models.
        settings: Number of examples, size of a batch, and seed of the draws.
    """
    layout = ParameterLayout(parameters)
    weights = layout.matrix(parameters)
    loss, gradient = torch.zeros(len(weights), device=weights.device), torch.zeros_like(weights)
    batches = torch_generator("llc gradient", settings.seed)
    remaining = settings.gradient_examples
    while remaining:
        count = min(remaining, settings.batch_size)
        batch_losses, batch_gradient = loss_and_gradient(losses, layout, weights, draw(count, batches))
        share = count / settings.gradient_examples
        loss += share * average_losses(batch_losses)
        gradient += share * batch_gradient
        remaining -= count
    return Start(layout, weights, loss, gradient)


def loss_and_gradient(losses: Losses, layout: ParameterLayout, weights: Tensor, batch: Any) -> tuple[Tensor, Tensor]:
    """Compute the losses of a batch and the gradient of each model's mean loss.

    Args:
        losses: Loss function of M models.
        layout: Layout of the weights.
        weights: Weights, [M, weights].
        batch: A batch for all models, as `losses` takes it.

    Returns:
        Losses in nats, [M, examples] or [M], without gradients, and the gradient, [M, weights].
    """
    weights = weights.detach().requires_grad_()
    with torch.enable_grad():
        batch_losses = losses(layout.parameters(weights), batch)
        (gradient,) = torch.autograd.grad(average_losses(batch_losses).sum(), weights)
    return batch_losses.detach(), gradient


def average_losses(losses: Tensor) -> Tensor:
    """Return the mean of each model's losses, [M].

    Rows are reduced one by one: the mean of one row must not depend on the number of rows.
    """
    return reduce_by_model(losses, torch.mean) if losses.dim() > 1 else losses


def reduce_by_model(matrix: Tensor, reduce: Callable[[Tensor], Tensor]) -> Tensor:
    """Reduce each model's row to a scalar.

    Args:
        matrix: Values [M, n].
        reduce: Function from [n] to a scalar.

    Returns:
        Scalars [M].
    """
    return torch.stack([reduce(values) for values in matrix])


def make_chain_settings(name: str, langevin: Langevin, start: Start, settings: LocalLearning) -> ChainSettings:
    """Return the settings of an estimator's chains.

    Units are 1 for raw, else the root mean square of each tensor at w0, at least the floor.

    Args:
        name: Name of the estimator; only "tilted" has a slope.
        langevin: Step size and prior of the estimator.
        start: Where the chains start.
        settings: Settings of the estimators, with the floor `scale_floor`.
    """
    units = torch.ones_like(start.weights)
    if name != "raw":
        parts = zip(start.weights.split(start.layout.sizes, 1), units.split(start.layout.sizes, 1), strict=True)
        for tensors, tensor_units in parts:
            for tensor, tensor_unit in zip(tensors, tensor_units, strict=True):
                root_mean_square = float(torch.linalg.vector_norm(tensor)) / math.sqrt(len(tensor))
                # max(nan, floor) is nan: the chain diverges
                tensor_unit.fill_(max(root_mean_square, settings.scale_floor))
    return ChainSettings(name, langevin, units, units * start.gradient if name == "tilted" else None)


def describe_start(start: Start, chain_settings: ChainSettings, settings: LocalLearning, m: int) -> dict:
    """Return the loss at w0, nats, and `slide`, the amount that the linear term subtracts from an LLC without tilt.

    `slide` is n_beta^2 |unit g0|^2 / localisation, exact for a loss without curvature. If the loss curves upwards, the
    linear term subtracts less.

    Args:
        start: Where the chains start.
        chain_settings: Settings of the estimator's chains.
        settings: Settings of the estimators, with `n_beta`.
        m: Index of the model.
    """
    norm = float(torch.linalg.vector_norm(chain_settings.units[m] * start.gradient[m]))
    return {
        "start_loss": float(start.loss[m]),
        "slide": (settings.n_beta * norm) ** 2 / chain_settings.langevin.localisation,
    }


@torch.no_grad()
def run_chain(
    losses: Losses,
    draw: BatchSampler,
    start: Start,
    chain_settings: ChainSettings,
    settings: LocalLearning,
    seeds: Sequence[int],
    number: tuple[str, int],
) -> list[Chain]:
    """Run one chain of every model, [M].

    Args:
        losses: Loss function of M models.
        draw: Draws a batch for all models.
        start: Where chains start.
        chain_settings: Settings of the estimator's chains.
        settings: Settings of all estimators.
        seeds: Seeds of the models' noise, [M].
        number: Kind of step size and number of the chain, which select its random draws.
    """
    kind, chain = number
    size, burn_in = chain_settings.langevin.step_size, settings.burn_in
    if kind == HALF:  # the same time in half steps
        size, burn_in = size / 2, 2 * burn_in
    localisation, n_beta = chain_settings.langevin.localisation, settings.n_beta
    name = f"{chain_settings.name} {kind}"
    noises = [torch_generator(f"llc noise {name}", settings.seed, seed, chain) for seed in seeds]
    batches = torch_generator(f"llc batches {name}", settings.seed, chain)
    offset, noise = torch.zeros_like(start.weights), torch.empty_like(start.weights, device="cpu")
    w0 = start.layout.parameters(start.weights)
    bounds = start.loss + settings.checks.largest_rise
    ended: list[int | None] = [None] * len(seeds)
    values = np.full((settings.draws, len(seeds)), np.nan)
    distances = values.copy()
    for step in range(burn_in + settings.draws):
        batch = draw(settings.batch_size, batches)
        batch_losses, gradient = loss_and_gradient(
            losses, start.layout, start.weights + chain_settings.units * offset, batch
        )
        for m, valid in enumerate((average_losses(batch_losses) <= bounds).tolist()):  # False for NaN
            if not valid and ended[m] is None:
                ended[m] = step
        if None not in ended:
            break
        if (draw_index := step - burn_in) >= 0:
            rise = average_losses(batch_losses - losses(w0, batch))
            if chain_settings.slope is not None:
                rise = rise - reduce_by_model(chain_settings.slope * offset, torch.sum)
            values[draw_index] = n_beta * rise.double().cpu().numpy()
            distances[draw_index] = [float(torch.linalg.vector_norm(vector)) for vector in offset]
        gradient = chain_settings.units * gradient
        if chain_settings.slope is not None:
            gradient -= chain_settings.slope
        for model_noise, generator in zip(noise, noises, strict=True):
            model_noise.normal_(0, math.sqrt(size), generator=generator)
        offset = offset - size / 2 * (n_beta * gradient + localisation * offset) + noise.to(offset.device)
        for m, end_step in enumerate(ended):
            if end_step is not None:
                offset[m] = 0  # no longer used, and slow if not finite
    coordinates = [float(torch.linalg.vector_norm(vector)) for vector in start.weights / chain_settings.units]
    radius = math.sqrt(start.weights.shape[1] / localisation)
    return [Chain(values[:, m], distances[:, m] / radius, coordinates[m] / radius, ended[m]) for m in range(len(seeds))]
