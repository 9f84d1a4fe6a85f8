"""What a model answers: the rank of the right option, and the reward that scores are about."""

import torch
from torch import Tensor

from heuristic_core.experiments.extractive_structures.model import Parameters, run
from heuristic_core.experiments.extractive_structures.tokens import Asked


def mean_rank(parameters: Parameters, asked: Asked) -> float:
    """Mean over questions of :func:`ranks`: 0 where all answers are right, (options - 1) / 2 by chance."""
    return float(ranks(option_logits(_logits(parameters, asked), asked), asked.answer).double().mean())


def mean_loss(parameters: Parameters, asked: Asked) -> float:
    """Mean over questions of :func:`losses`."""
    return float(losses(_logits(parameters, asked), asked).double().mean())


@torch.no_grad()
def _logits(parameters: Parameters, asked: Asked) -> Tensor:
    """Of all tokens, in the precision of the weights, whatever that of teaching: rounded logits tie."""
    with torch.autocast(asked.tokens.device.type, enabled=False):
        return run(parameters, asked.tokens).logits


def option_logits(logits: Tensor, asked: Asked) -> Tensor:
    """Logits of the options at the last token, [n, options]. logits: of all tokens, [n, T, V]."""
    return logits[torch.arange(len(logits)), asked.last][:, asked.options]


def ranks(found: Tensor, answer: Tensor) -> Tensor:
    """How many other options have no lower logit than the right one, int64 [n]; a tie and NaN count against the answer.

    found: logits of options, [n, options].
    """
    return (~(found < found.gather(1, answer[:, None]))).sum(1) - 1


def losses(logits: Tensor, asked: Asked) -> Tensor:
    """Mean logit of the options less the logit of the right one, [n]: R, of which scores are first-order changes."""
    found = option_logits(logits, asked)
    return found.mean(1) - found[torch.arange(len(found)), asked.answer]
