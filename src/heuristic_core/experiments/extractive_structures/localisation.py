"""Whether what implications teach is stored in the components that make something of facts.

As in the authors' code (localization.py): a model knows facts of made-up words, and then learns what they imply; the
informative scores of this second step say where. Then it is taught the facts of test names, and the downstream scores
of these facts' implications say which components process them. Both kinds of score are means over questions; a
correlation is over components at tokens.
"""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from heuristic_core.experiments.extractive_structures.config import Finetuning
from heuristic_core.experiments.extractive_structures.data import Hop, Questions
from heuristic_core.experiments.extractive_structures.model import Parameters, embed, run
from heuristic_core.experiments.extractive_structures.ordering import Weights, parts_of
from heuristic_core.experiments.extractive_structures.removal import correlation
from heuristic_core.experiments.extractive_structures.scores import downstream, informative, linearised
from heuristic_core.experiments.extractive_structures.tokens import Asked, Encode, aligned, asked, examples
from heuristic_core.experiments.extractive_structures.training import Unfinished, teach


def localisation_rows(
    knows: Weights,
    learned: Weights,
    made: Hop,
    tested: int,
    settings: Finetuning,
    encode: Encode,
    seed: int,
    unfinished: Path | None = None,
) -> list[dict]:
    """Rows of table "extractive_localisation", without names.

    Args:
        knows: A model that was taught the facts of the names after the test names.
        learned: The same model, taught what these facts imply.
        made: Facts of all names, and what they imply.
        tested: How many names, the first, are test names. Of the others as many are asked, again the first.
        settings: Of teaching.
        encode: Words to tokens.
        seed: Of the order of sentences.
        unfinished: A folder from which an interrupted run goes on.
    """
    parts = parts_of(made, tested)
    facts, saved = examples(parts["test facts"].sentences, encode), unfinished and Unfinished(unfinished, [])
    taught = teach(learned, facts, settings, ("facts of localisation", seed), unfinished=saved)
    others = Questions(parts["implications"].sentences[:tested], parts["implications"].options)
    stored, read = asked(others, encode), asked(parts["test implications"], encode)
    shortest = min((prompt for one in (stored, read) for prompt in prompts(one)), key=len)
    # Scores are differences of nearly equal outputs, which bfloat16 would round away.
    with torch.autocast(stored.tokens.device.type, enabled=False):
        means = [
            aligned_means(informative_of(knows, learned, stored), stored, shortest),
            aligned_means(downstream_of(learned, taught, read), read, shortest),
        ]
    rows = []
    for kind, part in (("head", slice(None, -1)), ("mlp", slice(-1, None))):
        a, b = (one[..., part].flatten().tolist() for one in means)
        r, reason = correlation(a, b)
        rows.append({"kind": kind, "r": r, "n": len(a), "reason": reason})
    return rows


def informative_of(old: Weights, new: Weights, of: Asked) -> Tensor:
    """Informative scores of what `new` has learned, [n, T, layers, H + 1]."""
    old, new = placed(old), placed(new)
    return informative(old, new, linearised(old, embed(old, of.tokens), of))


def downstream_of(old: Weights, new: Weights, of: Asked) -> Tensor:
    """Downstream scores of what `new` has learned, [n, T, layers, H + 1]."""
    old, new = placed(old), placed(new)
    return downstream(old, linearised(old, embed(old, of.tokens), of), run(new, of.tokens).layers)


def aligned_means(scores: Tensor, of: Asked, reference: Sequence[int]) -> Tensor:
    """The mean over questions, [tokens of `reference`, layers, H + 1].

    Tokens are partners of the reference's by a shared beginning and end; of what differs, by their place from its end.
    The reference is no longer than any prompt, so that each of its tokens has a partner.
    """
    chosen = [own[aligned(reference, prompt)] for own, prompt in zip(scores, prompts(of), strict=True)]
    return torch.stack(chosen).mean(0)


def prompts(of: Asked) -> list[list[int]]:
    """The tokens of every question."""
    return [row[: last + 1].tolist() for row, last in zip(of.tokens, of.last, strict=True)]


def placed(p: Parameters) -> Weights:
    """Weights on the device where models run."""
    return {name: value.detach().to(torch.get_default_device()) for name, value in p.items()}
