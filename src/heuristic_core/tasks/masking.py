"""Masked words, as BERT is pre-trained to restore them (Devlin et al. 2019, section 3.1)."""

from collections.abc import Collection

import torch
from torch import Tensor

from heuristic_core.config.models import Pretraining


def masked(
    ids: Tensor, special: Collection[int], mask: int, vocabulary: int, settings: Pretraining, draws: torch.Generator
) -> tuple[Tensor, Tensor]:
    """What the model sees, int64 [B, T], and which tokens it must restore, bool [B, T].

    ids: int64 [B, T]. special: tokens that are no words, never chosen nor put in a word's place. mask: the mask token.
    Of the chosen words a share is replaced by any word of the vocabulary, a share is kept, the others are masked. At
    least one word is chosen, so that there is something to learn.
    """
    words = torch.tensor([token for token in range(vocabulary) if token not in special])
    ordinary = torch.isin(ids, words)
    chosen = (torch.rand(ids.shape, generator=draws) < settings.chosen) & ordinary
    if not chosen.any():
        chosen[tuple(ordinary.nonzero()[0])] = True
    fate = torch.rand(ids.shape, generator=draws)
    others = words[torch.randint(len(words), ids.shape, generator=draws)]
    replaced = torch.where(fate < settings.replaced, others, mask)
    kept = fate >= 1 - settings.kept
    return torch.where(chosen & ~kept, replaced, ids), chosen


def in_both_sentences(ids: Tensor, types: Tensor, words: Tensor) -> Tensor:
    """Which words are in the other sentence of their pair, too, bool [B, T].

    ids, types: int64 [B, T], of the pairs before masking; words: bool [B, T], False on special tokens and padding.
    """
    same = (ids[:, :, None] == ids[:, None, :]) & (types[:, :, None] != types[:, None, :])
    return (same & words[:, None, :]).any(-1) & words
