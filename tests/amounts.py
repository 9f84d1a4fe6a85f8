"""How many of its cases a test tries: a share of them, or all that were meant, in the slow tier."""

import os
from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import binom

FULL = os.environ.get("HEURISTIC_CORE_TEST_FULL") == "1"
SHARE = 8  # one in eight
MANY = 1000


def amount(full: int, share: int = SHARE) -> int:
    """`full`, where HEURISTIC_CORE_TEST_FULL=1 asks for all, else one in `share`.

    A test that calls this bears the marker `sampled`.
    """
    return full if FULL else -(-full // share)


def by_chance(count: int) -> float:
    """How many of `count` tests of nothing may decide: 6 %, and of the few of the fast tier as many as 5 % may."""
    assert count >= MANY or not FULL, f"{count} repeats do not tell 6 % from more"
    return 0.06 * count if count >= MANY else binom.ppf(0.995, count, 0.05)


def least_held(count: int) -> float:
    """How many of `count` intervals of 95 % hold the truth at least: 90 %, and of few as many as 90 % do by chance."""
    assert count >= MANY or not FULL, f"{count} repeats do not tell 90 % from less"
    return 0.9 * count if count >= MANY else binom.ppf(0.005, count, 0.9)


def covers(held: Sequence[bool]) -> bool:
    """Whether as many intervals hold the truth as of 95 % may by chance, and 90 % of many do."""
    least = binom.ppf(0.005, len(held), 0.95)
    return np.sum(held) >= max(least, least_held(len(held)))


def first_fast(*values, fast: int = 1) -> list:
    """The parameters `values` of a test, of which all but the first are for the slow tier."""
    cases = [value if isinstance(value, tuple) else (value,) for value in values]
    return [pytest.param(*each, marks=[] if at < fast else pytest.mark.slow) for at, each in enumerate(cases)]
