"""Mask words for BERT's masked language modelling (Devlin et al. 2019, section 3.1)."""

from collections.abc import Collection

import torch
from torch import Tensor

from heuristic_core.config.models import Pretraining


def mask_tokens(
    ids: Tensor, special: Collection[int], mask: int, vocabulary: int, settings: Pretraining, draws: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Choose words to predict; replace a share of them by random words, keep a share, and mask the others.

    Chooses at least one word, so that every batch has a loss.

    Args:
        ids: token ids, int64 [B, T].
        special: ids of special tokens, which are neither chosen nor used as replacements.
        mask: id of the mask token.
        vocabulary: number of token ids.
        settings: shares of chosen, replaced and kept words.
        draws: random numbers.

    Returns:
        Inputs of the model, int64 [B, T], and the tokens to predict, bool [B, T].
    """
    words = torch.tensor([token for token in range(vocabulary) if token not in special])
    is_word = torch.isin(ids, words)
    chosen = (torch.rand(ids.shape, generator=draws) < settings.chosen) & is_word
    if not chosen.any():
        chosen[tuple(is_word.nonzero()[0])] = True
    draw = torch.rand(ids.shape, generator=draws)
    random_words = words[torch.randint(len(words), ids.shape, generator=draws)]
    replaced = torch.where(draw < settings.replaced, random_words, mask)
    kept = draw >= 1 - settings.kept
    return torch.where(chosen & ~kept, replaced, ids), chosen


def find_shared_words(ids: Tensor, types: Tensor, words: Tensor) -> Tensor:
    """Return which words also occur in the other sentence of their pair, bool [B, T].

    Args:
        ids: token ids before masking, int64 [B, T].
        types: token types, int64 [B, T].
        words: bool [B, T], False for special tokens and padding.
    """
    same = (ids[:, :, None] == ids[:, None, :]) & (types[:, :, None] != types[:, None, :])
    return (same & words[:, None, :]).any(-1) & words
