"""Permutations within strata against all permutations, by enumeration."""

from itertools import permutations, product

import numpy as np
import pytest

from heuristic_core.stats.randomisation import stratified_permutation_test

STRATA = [
    ((1.0, 2.0, 3.0), (2.0, 1.0, 3.0)),
    ((1.5, 1.5, 3.0, 4.0), (1.0, 2.0, 3.5, 3.5)),
    ((1.0, 2.0), (1.0, 2.0)),
]


def sums(strata) -> np.ndarray:
    """The sums of products of every permutation within strata."""
    pairings = product(*(permutations(b) for _, b in strata))
    return np.array([sum(np.dot(a, b) for (a, _), b in zip(strata, drawn, strict=True)) for drawn in pairings])


@pytest.mark.parametrize("level", [0.0, 100.0])
def test_p_values_are_shares_of_permutations_within_strata_whatever_their_levels(level):
    moved = [(np.add(a, k * level), np.add(b, k * level)) for k, (a, b) in enumerate(STRATA)]
    more, fewer, attainable = stratified_permutation_test(moved, np.random.default_rng(1))
    every, observed = sums(STRATA), sum(np.dot(a, b) for a, b in STRATA)
    assert more == pytest.approx((every >= observed - 1e-9).mean(), abs=0.015)
    assert fewer == pytest.approx((every <= observed + 1e-9).mean(), abs=0.015)
    assert attainable == pytest.approx((every >= every.max() - 1e-9).mean())
    assert min(more, fewer) >= attainable
