"""Hard-concrete gates and the controller of their sparsity: pure functions of tensors.

Louizos et al. (2018), in the form that the paper's released code ran (METHOD, "Gates"; the paper prints
u / (1 - u) without the logarithm and scales only the noise).
"""

import math

import torch
from torch import Tensor

LOW, HIGH = -0.1, 1.1  # the stretched interval [l, r]
TEMPERATURE = 2 / 3
EPSILON = 1e-6  # uniform noise keeps so far from 0 and 1


def sample(log_alpha: Tensor, uniform: Tensor) -> Tensor:
    """Gates z in [0, 1] from noise u ~ Uniform(0, 1): z = clamp(s (r - l) + l), s = sigmoid((logit u + log_alpha) / T).

    The two broadcast against each other. Noise is kept `EPSILON` away from 0 and 1.
    """
    s = torch.sigmoid((torch.logit(uniform, eps=EPSILON) + log_alpha) / TEMPERATURE)
    return (s * (HIGH - LOW) + LOW).clamp(0, 1)


def probability_open(log_alpha: Tensor) -> Tensor:
    """P(z > 0) = sigmoid(log_alpha - T log(-l / r))."""
    return torch.sigmoid(log_alpha - TEMPERATURE * math.log(-LOW / HIGH))


def penalty(sparsity: Tensor, target: float, lambdas: Tensor) -> Tensor:
    """The Lagrangian term lambda_1 (t - s) + lambda_2 (t - s)^2 for the sampled sparsity s = 1 - mean(z).

    lambdas: [2]. Gates descend on it, lambdas ascend.
    """
    gap = target - sparsity
    return lambdas[0] * gap + lambdas[1] * gap**2


def target_at(step: int, steps: int, warmup: float, final: float) -> float:
    """The target sparsity at `step`: from 0 linearly to `final` over the share `warmup` of all steps, then constant."""
    rise = warmup * steps
    return final * min(1.0, step / rise) if rise else final


def keep_largest(log_alpha: Tensor, count: int) -> list[int]:
    """The `count` components of largest log_alpha over the whole model, ascending; ties go to the lower index."""
    order = torch.argsort(log_alpha, descending=True, stable=True)
    return sorted(order[:count].tolist())
