"""How well a model answers questions: the rank of the right option, and the loss R whose changes scores estimate."""

import torch
from torch import Tensor

from heuristic_core.experiments.extractive_structures.model import run
from heuristic_core.experiments.extractive_structures.parameters import Parameters
from heuristic_core.experiments.extractive_structures.tokens import Queries


def mean_rank(parameters: Parameters, queries: Queries) -> float:
    """Return the mean of :func:`compute_ranks` over questions.

    0 if all answers are right; (options - 1) / 2 is expected by chance.

    Args:
        parameters: Weights of the model.
        queries: The questions.
    """
    return float(
        compute_ranks(option_logits(_compute_logits(parameters, queries), queries), queries.answer).double().mean()
    )


def mean_loss(parameters: Parameters, queries: Queries) -> float:
    """Return the mean of :func:`compute_losses` over questions, nats.

    Args:
        parameters: Weights of the model.
        queries: The questions.
    """
    return float(compute_losses(_compute_logits(parameters, queries), queries).double().mean())


@torch.no_grad()
def _compute_logits(parameters: Parameters, queries: Queries) -> Tensor:
    """Return the logits [n, T, V] in the precision of the weights, without autocast: rounded logits tie."""
    with torch.autocast(queries.tokens.device.type, enabled=False):
        return run(parameters, queries.tokens).logits


def option_logits(logits: Tensor, queries: Queries) -> Tensor:
    """Return the logits [n, options] of the options at the last token of each prompt.

    Args:
        logits: Logits at all tokens, [n, T, V].
        queries: The questions, which say where each prompt ends.
    """
    return logits[torch.arange(len(logits)), queries.last][:, queries.options]


def compute_ranks(logits: Tensor, answer: Tensor) -> Tensor:
    """Count the wrong options whose logit is not below the logit of the right one.

    Ties and NaN count against the answer.

    Args:
        logits: Logits of the options, [n, options].
        answer: Index of the right option, int64 [n].

    Returns:
        Ranks from 0 (best), int64 [n].
    """
    return (~(logits < logits.gather(1, answer[:, None]))).sum(1) - 1


def compute_losses(logits: Tensor, queries: Queries) -> Tensor:
    """Return R, [n]: the mean logit of the options minus the logit of the right option.

    Extractive scores are first-order changes of R.

    Args:
        logits: Logits at all tokens, [n, T, V].
        queries: The questions.
    """
    options = option_logits(logits, queries)
    return options.mean(1) - options[torch.arange(len(options)), queries.answer]
