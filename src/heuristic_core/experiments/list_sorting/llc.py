"""The local learning coefficient (LLC) of many models at once, by stochastic gradient Langevin dynamics.

LLC = n_beta (mean loss of a chain about w0 - loss at w0) (Lau et al. 2023, arXiv 2308.12108, equation 7). A chain walks
in coordinates u = w / unit, with a normal prior about w0:

    u <- u - step_size / 2 [n_beta unit grad L_b + localisation (u - u0)] + normal(0, step_size)

Every step has a fresh batch b. Loss and gradient of b at w_t make the step, and b's loss at w0 is subtracted from its
loss at w_t: w_t has not seen b, so that the difference is unbiased, and most of the noise of batches cancels.
Estimator tilted takes the linear term g0 (w - w0) from the loss, in the steps and in the value. g0 is the gradient at
w0. Training with L2 ends where the gradient of the loss is not zero but balances the decay; there the other estimators
also measure how far the chain slides down the slope, which can make them negative.

A chain never raises for its numbers: one that leaves finite or plausible losses ends, and its model's value is missing.
Models share batches. Noise is drawn model by model from generators of their own, so that a model's value does not
depend on which others are in the pass (as far as the batched products of `losses` do not).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from heuristic_core.common.seeds import torch_generator
from heuristic_core.experiments.list_sorting.config_llc import Langevin, LocalLearning
from heuristic_core.experiments.list_sorting.llc_chains import Chain, chain_rows, row

Parameters = dict[str, Tensor]  # by name, [M, ...] each: a leading axis over models
Losses = Callable[[Parameters, Any], Tensor]  # (parameters, batch) -> nats, [M, examples] or, averaged, [M]
Draw = Callable[[int, torch.Generator], Any]  # (number of examples, generator) -> a batch for all models
FULL, HALF = "full", "half"  # step size


class Estimates(NamedTuple):
    """rows: one for each model and estimator. chains: one for each of their chains. See :mod:`llc_chains`."""

    rows: list[dict]
    chains: list[dict]


class Layout:
    """Parameters of M models as one matrix [M, weights], and back."""

    def __init__(self, parameters: Mapping[str, Tensor]):
        self._shapes = {name: one.shape[1:] for name, one in parameters.items()}
        self.sizes = [math.prod(shape) for shape in self._shapes.values()]

    def matrix(self, parameters: Mapping[str, Tensor]) -> Tensor:
        return torch.cat([parameters[name].detach().flatten(1) for name in self._shapes], 1)

    def parameters(self, matrix: Tensor) -> Parameters:
        """Views of `matrix` by name."""
        parts = zip(self._shapes.items(), matrix.split(self.sizes, 1), strict=True)
        return {name: part.reshape(len(matrix), *shape) for (name, shape), part in parts}


class Start(NamedTuple):
    """Where chains start. weights: w0, [M, weights]. loss: of w0, nats, [M]. gradient: of the loss, [M, weights]."""

    layout: Layout
    weights: Tensor
    loss: Tensor
    gradient: Tensor


class Walk(NamedTuple):
    """What a chain walks with. units: of the coordinates; slope: the linear term in them; [M, weights] both."""

    name: str
    langevin: Langevin
    units: Tensor
    slope: Tensor | None


def local_learning(
    losses: Losses, parameters: Mapping[str, Tensor], draw: Draw, settings: LocalLearning, seeds: Sequence[int]
) -> Estimates:
    """The LLC of every model by every estimator that `settings` asks for.

    parameters: w0, by name, [M, ...] each. seeds: of the models' noise, [M], for instance their training seeds.
    Rows name a model by its seed.
    """
    start = start_at(losses, parameters, draw, settings)
    rows, chains = [], []
    for name, langevin in settings.estimators.items():
        walk = walk_of(name, langevin, start, settings)
        full = [run(losses, draw, start, walk, settings, seeds, (FULL, k)) for k in range(settings.chains)]
        half = [run(losses, draw, start, walk, settings, seeds, (HALF, k)) for k in range(settings.half_step_chains)]
        for at, seed in enumerate(seeds):
            here = {"model": seed, "estimator": name}
            of_model = [chain[at] for chain in full], [chain[at] for chain in half]
            about = at_start(start, walk, settings, at)
            slide = about["slide"] if walk.slope is None else None
            rows.append(here | about | row(*of_model, settings.checks, slide))
            chains += [here | one for one in chain_rows(*of_model)]
    return Estimates(rows, chains)


def start_at(losses: Losses, parameters: Mapping[str, Tensor], draw: Draw, settings: LocalLearning) -> Start:
    """Loss and gradient at w0, means over `gradient_examples` examples."""
    layout = Layout(parameters)
    weights = layout.matrix(parameters)
    loss, gradient = torch.zeros(len(weights), device=weights.device), torch.zeros_like(weights)
    batches = torch_generator("llc gradient", settings.seed)
    left = settings.gradient_examples
    while left:
        count = min(left, settings.batch_size)
        here, slope = loss_and_gradient(losses, layout, weights, draw(count, batches))
        share = count / settings.gradient_examples
        loss += share * averaged(here)
        gradient += share * slope
        left -= count
    return Start(layout, weights, loss, gradient)


def loss_and_gradient(losses: Losses, layout: Layout, weights: Tensor, batch) -> tuple[Tensor, Tensor]:
    """The losses of a batch, [M, examples] or [M], and the gradient of each model's mean, [M, weights]."""
    weights = weights.detach().requires_grad_()
    with torch.enable_grad():
        found = losses(layout.parameters(weights), batch)
        (gradient,) = torch.autograd.grad(averaged(found).sum(), weights)
    return found.detach(), gradient


def averaged(losses: Tensor) -> Tensor:
    """The mean of each model's losses, [M]. Row by row: the mean of one row must not depend on how many there are."""
    return by_model(losses, torch.mean) if losses.dim() > 1 else losses


def by_model(matrix: Tensor, reduce: Callable[[Tensor], Tensor]) -> Tensor:
    return torch.stack([reduce(one) for one in matrix])


def walk_of(name: str, langevin: Langevin, start: Start, settings: LocalLearning) -> Walk:
    """The coordinates of an estimator; raw: 1, others: root mean square of each tensor at w0, at least the floor."""
    units = torch.ones_like(start.weights)
    if name != "raw":
        parts = zip(start.weights.split(start.layout.sizes, 1), units.split(start.layout.sizes, 1), strict=True)
        for weights, unit in parts:
            for one, own in zip(weights, unit, strict=True):
                root_mean_square = float(torch.linalg.vector_norm(one)) / math.sqrt(len(one))
                own.fill_(max(root_mean_square, settings.scale_floor))  # max(nan, floor) is nan: the chain diverges
    return Walk(name, langevin, units, units * start.gradient if name == "tilted" else None)


def at_start(start: Start, walk: Walk, settings: LocalLearning, at: int) -> dict:
    """Loss at w0, nats, and `slide`: what the linear term takes from an LLC that is not tilted.

    slide: n_beta^2 |unit g0|^2 / localisation, for directions without curvature; less where the loss curves upwards.
    """
    norm = float(torch.linalg.vector_norm(walk.units[at] * start.gradient[at]))
    return {"start_loss": float(start.loss[at]), "slide": (settings.n_beta * norm) ** 2 / walk.langevin.localisation}


@torch.no_grad()
def run(
    losses: Losses,
    draw: Draw,
    start: Start,
    walk: Walk,
    settings: LocalLearning,
    seeds: Sequence[int],
    number: tuple[str, int],
) -> list[Chain]:
    """One chain of every model, [M]. number: kind of step size and number of the chain, which name its draws."""
    kind, k = number
    size, burn_in = walk.langevin.step_size, settings.burn_in
    if kind == HALF:  # as long a time, in half steps
        size, burn_in = size / 2, 2 * burn_in
    localisation, n_beta = walk.langevin.localisation, settings.n_beta
    name = f"{walk.name} {kind}"
    noises = [torch_generator(f"llc noise {name}", settings.seed, seed, k) for seed in seeds]
    batches = torch_generator(f"llc batches {name}", settings.seed, k)
    away, noise = torch.zeros_like(start.weights), torch.empty_like(start.weights, device="cpu")
    at_w0 = start.layout.parameters(start.weights)
    highest = start.loss + settings.checks.largest_rise
    ended: list[int | None] = [None] * len(seeds)
    values = np.full((settings.draws, len(seeds)), np.nan)
    distances = values.copy()
    for step in range(burn_in + settings.draws):
        batch = draw(settings.batch_size, batches)
        found, gradient = loss_and_gradient(losses, start.layout, start.weights + walk.units * away, batch)
        for at, fine in enumerate((averaged(found) <= highest).tolist()):  # nan is not
            if not fine and ended[at] is None:
                ended[at] = step
        if None not in ended:
            break
        if (number_of_draw := step - burn_in) >= 0:
            rise = averaged(found - losses(at_w0, batch))
            if walk.slope is not None:
                rise = rise - by_model(walk.slope * away, torch.sum)
            values[number_of_draw] = n_beta * rise.double().cpu().numpy()
            distances[number_of_draw] = [float(torch.linalg.vector_norm(one)) for one in away]
        gradient = walk.units * gradient
        if walk.slope is not None:
            gradient -= walk.slope
        for own, generator in zip(noise, noises, strict=True):
            own.normal_(0, math.sqrt(size), generator=generator)
        away = away - size / 2 * (n_beta * gradient + localisation * away) + noise.to(away.device)
        for at, end in enumerate(ended):
            if end is not None:
                away[at] = 0  # its numbers are of no use, and slow where they are not finite
    coordinates = [float(torch.linalg.vector_norm(one)) for one in start.weights / walk.units]
    radius = math.sqrt(start.weights.shape[1] / localisation)
    return [
        Chain(values[:, at], distances[:, at] / radius, coordinates[at] / radius, ended[at]) for at in range(len(seeds))
    ]
