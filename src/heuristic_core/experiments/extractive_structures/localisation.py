"""Correlate where implications are stored with which components process facts.

As in the authors' code (localization.py), a model that knows facts of made-up words learns what they imply; informative
scores of this step locate what it learned. Then the model is taught the facts of test names; downstream scores of their
implications identify the components that process them. Scores are means over questions; correlations are over
components at tokens. The authors pool all tokens, which correlates by tokens alone: both scores are large at the name
and at the last token, whichever component they are of. Within tokens, each token's mean over components is subtracted.
"""

from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor

from heuristic_core.experiments.extractive_structures.answers import mean_rank
from heuristic_core.experiments.extractive_structures.config import Finetuning
from heuristic_core.experiments.extractive_structures.data import Hop, Questions
from heuristic_core.experiments.extractive_structures.model import embed, run
from heuristic_core.experiments.extractive_structures.ordering import Weights, split_parts
from heuristic_core.experiments.extractive_structures.parameters import Parameters, select_weights
from heuristic_core.experiments.extractive_structures.removal import correlate
from heuristic_core.experiments.extractive_structures.scores import linearise, score_downstream, score_informative
from heuristic_core.experiments.extractive_structures.tokens import (
    Encoder,
    Queries,
    align,
    encode_examples,
    encode_queries,
)
from heuristic_core.experiments.extractive_structures.training import StageSaving, teach


def localisation_rows(
    fact_weights: Weights,
    implication_weights: Weights,
    hop: Hop,
    test_name_count: int,
    settings: Finetuning,
    encode: Encoder,
    seed: int,
    unfinished: Path | None = None,
) -> list[dict]:
    """Return the rows of table "extractive_localisation", without names.

    Args:
        fact_weights: A model that was taught the facts of the names after the test names.
        implication_weights: The same model, taught what these facts imply.
        hop: Facts of all names, and what they imply.
        test_name_count: Number of test names, which are the first names. As many of the next names are asked, too.
        settings: Settings of teaching.
        encode: Words to tokens.
        seed: Seed of the order of sentences.
        unfinished: Folder of saved states, from which an interrupted run resumes.
    """
    parts = split_parts(hop, test_name_count)
    test_facts, saved = (
        encode_examples(parts["test facts"].sentences, encode),
        unfinished and StageSaving(unfinished, []),
    )
    trained = select_weights(implication_weights, settings.made_up_weights)
    taught = teach(
        implication_weights, test_facts, settings, ("facts of localisation", seed), trained, unfinished=saved
    )
    learned_implications = Questions(parts["implications"].sentences[:test_name_count], parts["implications"].options)
    stored, read = encode_queries(learned_implications, encode), encode_queries(parts["test implications"], encode)
    shortest = min((prompt for queries in (stored, read) for prompt in _list_prompts(queries)), key=len)
    # Scores are differences of nearly equal outputs, which bfloat16 would round away.
    with torch.autocast(stored.tokens.device.type, enabled=False):
        means = [
            average_aligned(_score_informative(fact_weights, implication_weights, stored), stored, shortest),
            average_aligned(_score_downstream(implication_weights, taught, read), read, shortest),
        ]
    ranks = {
        "facts_rank": mean_rank(_to_default_device(taught), encode_queries(parts["test facts"], encode)),
        "implications_rank": mean_rank(_to_default_device(implication_weights), stored),
    }
    kinds = {"head": slice(None, -1), "mlp": slice(-1, None)}
    return [
        {"kind": kind} | ranks | correlate_places(*(scores[..., part] for scores in means))
        for kind, part in kinds.items()
    ]


def correlate_places(stored: Tensor, read: Tensor) -> dict:
    """Return the correlations of two scores within tokens and over pooled tokens.

    Args:
        stored: Scores of components of one kind at tokens, [T, layers, components of a layer].
        read: The other scores, of the same shape.
    """
    pooled, _ = correlate(stored.flatten().tolist(), read.flatten().tolist())
    within, reason = correlate(*(_centre_tokens(scores).flatten().tolist() for scores in (stored, read)))
    return {"r": within, "r_pooled": pooled, "n": stored.numel(), "reason": reason}


def _centre_tokens(scores: Tensor) -> Tensor:
    """Subtract each token's mean over components from scores, [T, layers, components of a layer]."""
    return scores - scores.mean((1, 2), keepdim=True)


def _score_informative(old: Weights, new: Weights, queries: Queries) -> Tensor:
    """Return informative scores of what `new` has learned, [n, T, layers, H + 1]."""
    old, new = _to_default_device(old), _to_default_device(new)
    return score_informative(old, new, linearise(old, embed(old, queries.tokens), queries))


def _score_downstream(old: Weights, new: Weights, queries: Queries) -> Tensor:
    """Return downstream scores of what `new` has learned, [n, T, layers, H + 1]."""
    old, new = _to_default_device(old), _to_default_device(new)
    return score_downstream(old, linearise(old, embed(old, queries.tokens), queries), run(new, queries.tokens).layers)


def average_aligned(scores: Tensor, queries: Queries, reference: Sequence[int]) -> Tensor:
    """Average scores over questions after aligning their tokens with a reference prompt, see :func:`.tokens.align`.

    Args:
        scores: Scores of components at tokens, [n, T, layers, H + 1].
        queries: The questions.
        reference: Tokens of a prompt that is no longer than any of the questions, so that every token has a partner.

    Returns:
        Means, [tokens of `reference`, layers, H + 1].
    """
    rows = [values[align(reference, prompt)] for values, prompt in zip(scores, _list_prompts(queries), strict=True)]
    return torch.stack(rows).mean(0)


def _list_prompts(queries: Queries) -> list[list[int]]:
    """Return the tokens of every prompt, without padding."""
    return [row[: last + 1].tolist() for row, last in zip(queries.tokens, queries.last, strict=True)]


def _to_default_device(p: Parameters) -> Weights:
    """Return the weights on torch's default device."""
    return {name: value.detach().to(torch.get_default_device()) for name, value in p.items()}
