"""Hard-concrete gates and the controller of their sparsity: pure functions of tensors.

Louizos et al. (2018), in the form that the paper's released code ran (the paper prints
u / (1 - u) without the logarithm and scales only the noise).
"""

import math

import torch
from torch import Tensor

LOW, HIGH = -0.1, 1.1  # the stretched interval [l, r]
TEMPERATURE = 2 / 3
EPSILON = 1e-6  # uniform noise keeps so far from 0 and 1


def sample(
    log_alpha: Tensor, uniform: Tensor, temperature: float = TEMPERATURE, low: float = LOW, high: float = HIGH
) -> Tensor:
    """Gates z in [0, 1] from noise u ~ Uniform(0, 1): z = clamp(s (r - l) + l), s = sigmoid((logit u + log_alpha) / T).

    log_alpha and uniform broadcast against each other. Noise is kept `EPSILON` away from 0 and 1.
    """
    s = torch.sigmoid((torch.logit(uniform, eps=EPSILON) + log_alpha) / temperature)
    return (s * (high - low) + low).clamp(0, 1)


def probability_open(
    log_alpha: Tensor, temperature: float = TEMPERATURE, low: float = LOW, high: float = HIGH
) -> Tensor:
    """P(z > 0) = sigmoid(log_alpha - T log(-l / r))."""
    return torch.sigmoid(log_alpha - temperature * math.log(-low / high))


def penalty(sparsity: Tensor, target: float | Tensor, lambdas: Tensor) -> Tensor:
    """The Lagrangian term lambda_1 (t - s) + lambda_2 (t - s)^2 for a sparsity s.

    sparsity and target: [...]. lambdas: [2] or [..., 2]. Gates descend on it, lambdas ascend. s is 1 - mean(z) of
    sampled gates, as in the paper, or 1 - mean(P(z > 0)), as in CoFi.
    """
    gap = target - sparsity
    return lambdas[..., 0] * gap + lambdas[..., 1] * gap**2


def target_at(step: int, rise: int, final: float, start: float = 0.0) -> float:
    """The target sparsity at `step`: from `start` linearly to `final` over `rise` steps, then constant."""
    return start + (final - start) * min(1.0, step / rise) if rise else final


def keep_largest(log_alpha: Tensor, count: int) -> list[int]:
    """The `count` components of largest log_alpha over the whole model, ascending; ties go to the lower index."""
    order = torch.argsort(log_alpha, descending=True, stable=True)
    return sorted(order[:count].tolist())
