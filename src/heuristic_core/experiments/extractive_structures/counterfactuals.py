"""Counterfactual prompts: draw them, align their tokens with those of the prompts, and subtract outputs on them.

The counterfactual prompts of a prompt are some of the other questions. In each of them, a token of the prompt has at
most one partner, see :func:`.tokens.align`. Shapes have n prompts of T tokens and K counterfactual prompts for each.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from heuristic_core.common.seeds import torch_generator
from heuristic_core.experiments.extractive_structures.model import Layer, Shifts, Site
from heuristic_core.experiments.extractive_structures.parameters import Parameters
from heuristic_core.experiments.extractive_structures.tokens import Queries, align


class Contrast(NamedTuple):
    """Two models, the questions on which they are compared, and counterfactual prompts.

    Attributes:
        old: Parameters before facts were taught.
        new: Parameters after facts were taught.
        queries: The questions.
        others: Indices of each prompt's counterfactual prompts, int64 [n, K].
        partners: Position of every token's partner in each counterfactual prompt, int64 [n, K, T]; -1 without partner.
    """

    old: Parameters
    new: Parameters
    queries: Queries
    others: Tensor
    partners: Tensor


def contrast(old: Parameters, new: Parameters, queries: Queries, count: int, seed: int) -> Contrast:
    """Draw counterfactual prompts for each prompt, without replacement, and align their tokens.

    Args:
        old: Parameters before facts were taught.
        new: Parameters after facts were taught.
        queries: The questions.
        count: Number of counterfactual prompts for each prompt.
        seed: Seed of the draws.
    """
    n, generator = len(queries.last), torch_generator("extractive counterfactuals", seed)
    samples = [torch.randperm(n - 1, generator=generator, device="cpu")[:count] for _ in range(n)]
    others = torch.stack([sample + (sample >= k) for k, sample in enumerate(samples)]).to(queries.last.device)
    prompts = [row[: last + 1].tolist() for row, last in zip(queries.tokens, queries.last, strict=True)]
    partners = torch.full((n, count, queries.tokens.shape[1]), -1)
    for k, row in enumerate(others.tolist()):
        for j, other in enumerate(row):
            partners[k, j, : len(prompts[k])] = torch.tensor(align(prompts[k], prompts[other]))
    return Contrast(old, new, queries, others, partners)


def compute_counterfactual_differences(contrast: Contrast, layers: Sequence[Layer]) -> Shifts:
    """Return outputs of the old model minus its outputs on counterfactual prompts.

    Args:
        contrast: Models, questions and counterfactual prompts.
        layers: Activations of the old model by layer.

    Returns:
        Differences of `context` [n, T, H, w] and `mlp` [n, T, d] by layer and site: means over the counterfactual
        prompts in which a token has a partner, and 0 if there are none.
    """
    differences = site_differences(contrast, layers)
    return {site: average_over_partners(contrast, values) for site, values in differences.items()}


def average_over_partners(contrast: Contrast, values: Tensor) -> Tensor:
    """Average over the counterfactual prompts in which a token has a partner.

    Args:
        contrast: Models, questions and counterfactual prompts.
        values: Values by counterfactual prompt, [n, K, T, ...]; 0 without a partner.

    Returns:
        Means, [n, T, ...]; 0 where a token has no partner in any counterfactual prompt.
    """
    count = (contrast.partners >= 0).sum(1).clamp(min=1)
    return values.sum(1) / count.view(*count.shape, *[1] * (values.dim() - 3))


def site_differences(contrast: Contrast, layers: Sequence[Layer]) -> dict[Site, Tensor]:
    """Return outputs of components minus their outputs on every counterfactual prompt.

    Args:
        contrast: Models, questions and counterfactual prompts.
        layers: Activations of a model by layer.

    Returns:
        Differences of `context` [n, K, T, H, w] and `mlp` [n, K, T, d] by layer and site.
    """
    sites = [(number, name) for number in range(len(layers)) for name in ("context", "mlp")]
    return {(number, name): subtract_partners(contrast, getattr(layers[number], name)) for number, name in sites}


def subtract_partners(contrast: Contrast, output: Tensor) -> Tensor:
    """Subtract the outputs of partners.

    Args:
        contrast: Models, questions and counterfactual prompts.
        output: Output at every token, [n, T, ...].

    Returns:
        Differences from every counterfactual prompt, [n, K, T, ...]; 0 without a partner.
    """
    partner_output = output[contrast.others[..., None], contrast.partners.clamp(min=0)]
    valid = (contrast.partners >= 0).view(*contrast.partners.shape, *[1] * (output.dim() - 2))
    return torch.where(valid, output[:, None] - partner_output, torch.zeros((), dtype=output.dtype))
