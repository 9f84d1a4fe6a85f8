"""Measures of the effects of heads (:mod:`effects`).

Means and sums over numbers leave out numbers that no list has; such numbers are neither copied nor suppressed.
"""

from itertools import combinations

import numpy as np

from heuristic_core.experiments.list_sorting.effects import EffectsByTarget

ERRORS = 2  # standard errors by which the effect of a head that copies or suppresses a number differs from 0


def copied_numbers(effects: EffectsByTarget) -> np.ndarray:
    """Return whether a head copies each number, bool [M, H, numbers]: raises it where it is next."""
    return effects.next.effect > ERRORS * effects.next.effect_error


def suppressed_numbers(effects: EffectsByTarget) -> np.ndarray:
    """Return whether a head suppresses each number, bool [M, H, numbers]: lowers it where another number is next."""
    return effects.other.effect < -ERRORS * effects.other.effect_error


def count_ranges(chosen: np.ndarray) -> int:
    """Return the number of runs of neighbouring numbers in `chosen`, bool [numbers]."""
    return int((np.diff(chosen.astype(int), prepend=0) == 1).sum())


def copying(effects: EffectsByTarget) -> np.ndarray:
    """Return what a head adds to the number that is next, mean over all numbers, logits, [M, H]."""
    return np.nanmean(np.maximum(effects.next.effect, 0), -1)


def suppression(effects: EffectsByTarget) -> np.ndarray:
    """Return what a head takes from numbers where another one is next, mean over all numbers, logits, [M, H]."""
    return np.nanmean(np.maximum(-effects.other.effect, 0), -1)


def share_suppressed(effect: np.ndarray) -> np.ndarray:
    """Return the sum of negative effects over the sum of positive ones, [M]; NaN without positive effects.

    Args:
        effect: Effects, [M, H, numbers].
    """
    added, taken = (np.nanmean(np.maximum(sign * effect, 0), -1).sum(1) for sign in (1, -1))
    return taken / np.where(added > 0, added, np.nan)


def overlap(effect: np.ndarray) -> np.ndarray:
    """Compute sum over numbers of min(e_0+, e_1+) / sum of max(e_0+, e_1+), + being the positive part, [M].

    Mean over pairs of heads; NaN for one head, and if no head of a pair copies.

    Args:
        effect: Effects, or D of module `circuits`, [M, H, numbers].
    """
    positive = np.nan_to_num(np.maximum(effect, 0))
    result = np.full(len(effect), np.nan)
    for m, heads in enumerate(positive):
        sums = [(np.minimum(a, b).sum(), np.maximum(a, b).sum()) for a, b in combinations(heads, 2)]
        if sums and all(largest > 0 for _, largest in sums):
            result[m] = np.mean([smallest / largest for smallest, largest in sums])
    return result


def splitting(effect: np.ndarray) -> np.ndarray:
    """Compute how far heads split the vocabulary, [M]; NaN for one head, and if no head copies.

    The information that a number has about which head copies it, I(head; number) / log H, where numbers are equally
    frequent and a head's probability given a number is its share of the positive effects. It is 1 if each number is
    copied by one head and heads have equally many numbers; 0 if all numbers are copied by the same head, or by the
    heads alike. Numbers that no head copies are left out.

    Args:
        effect: Effects where the number is next, [M, H, numbers].
    """
    heads = effect.shape[1]
    result = np.full(len(effect), np.nan)
    for m, positive in enumerate(np.maximum(effect, 0)):
        by_number = positive[:, positive.sum(0) > 0]  # False where no list has the number
        if heads > 1 and by_number.size:
            shares = by_number / by_number.sum(0)
            result[m] = (_entropy(shares.mean(1)) - _entropy(shares).mean()) / np.log(heads)
    return result


def sign_agreement(effect: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Return the share of numbers whose D, [M, H, numbers], has the sign of the effect, [M, H].

    A number with an effect of 0 disagrees.
    """
    return (effect * d > 0).sum(-1) / (~np.isnan(effect)).sum(-1)


def _entropy(shares: np.ndarray) -> np.ndarray:
    """Return the entropy over heads (first axis), nats."""
    return -(shares * np.log(np.where(shares > 0, shares, 1))).sum(0)
