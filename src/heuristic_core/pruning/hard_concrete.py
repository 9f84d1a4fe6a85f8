"""Formulas of hard-concrete gates and of the controller of their sparsity.

Louizos et al. (2018), in the form of the paper's released code (the paper prints u / (1 - u) without the logarithm and
scales only the noise).
"""

import math

import torch
from torch import Tensor

LOW, HIGH = -0.1, 1.1  # the stretched interval [l, r]
TEMPERATURE = 2 / 3
EPSILON = 1e-6  # distance of uniform noise from 0 and 1


def sample_gates(
    log_alpha: Tensor, uniform: Tensor, temperature: float = TEMPERATURE, low: float = LOW, high: float = HIGH
) -> Tensor:
    """Return gates z = clamp(s (r - l) + l, 0, 1) with s = sigmoid((logit u + log_alpha) / T), for u ~ Uniform(0, 1).

    Args:
        log_alpha: Location of each gate; broadcasts against `uniform`.
        uniform: Noise u, clamped to [EPSILON, 1 - EPSILON].
        temperature: T.
        low: l, below 0.
        high: r, above 1.
    """
    s = torch.sigmoid((torch.logit(uniform, eps=EPSILON) + log_alpha) / temperature)
    return (s * (high - low) + low).clamp(0, 1)


def probability_open(
    log_alpha: Tensor, temperature: float = TEMPERATURE, low: float = LOW, high: float = HIGH
) -> Tensor:
    """Return P(z > 0) = sigmoid(log_alpha - T log(-l / r)).

    Args:
        log_alpha: Location of each gate.
        temperature: T.
        low: l, below 0.
        high: r, above 1.
    """
    return torch.sigmoid(log_alpha - temperature * math.log(-low / high))


def penalty(sparsity: Tensor, target: float | Tensor, lambdas: Tensor) -> Tensor:
    """Return the Lagrangian term lambda_1 (t - s) + lambda_2 (t - s)^2, on which gates descend and lambdas ascend.

    Args:
        sparsity: s, [...]: 1 - mean(z) of sampled gates, as in the paper, or 1 - mean(P(z > 0)), as in CoFi.
        target: t, [...].
        lambdas: [2] or [..., 2].
    """
    gap = target - sparsity
    return lambdas[..., 0] * gap + lambdas[..., 1] * gap**2


def target_sparsity_at(step: int, rise: int, final: float, start: float = 0.0) -> float:
    """Return the target sparsity at a step: linear from `start` to `final`, then constant.

    Args:
        step: The step, from 0.
        rise: Number of steps until `final`; with 0, the target is constant.
        final: Final target, 0-1.
        start: Target at step 0, 0-1.
    """
    return start + (final - start) * min(1.0, step / rise) if rise else final


def keep_largest(log_alpha: Tensor, count: int) -> list[int]:
    """Return the ascending indices of the components of largest log_alpha.

    Args:
        log_alpha: Locations of the gates [components].
        count: Number of components to keep. Ties go to the lower index.
    """
    order = torch.argsort(log_alpha, descending=True, stable=True)
    return sorted(order[:count].tolist())
