"""Statistics: functions from the evidence of a run to an estimate, by the names that claims.yaml gives them."""

from collections.abc import Callable
from dataclasses import dataclass

from heuristic_core.analysis.seeds import PRUNING_SEEDS, mean_interval


class CannotSay(Exception):
    """A statistic cannot be computed; the message says what is missing."""


@dataclass(frozen=True)
class Estimate:
    """The value of a statistic.

    low, high: the ends of its 95 % interval, null without an interval. n, unit: what the interval is over.
    exact: the value is a count or the p of a test, which has no interval and needs none. opposite: the p of the other
    tail of a test; None of a two-sided test.
    """

    value: float
    low: float | None = None
    high: float | None = None
    n: int | None = None
    unit: str | None = None
    detail: str = ""
    exact: bool = False
    opposite: float | None = None

    @classmethod
    def mean(cls, values, detail: str) -> "Estimate":
        """The mean of `values`, one of each pruning seed, with its t interval."""
        return cls(*mean_interval(values), len(values), PRUNING_SEEDS, detail)

    @classmethod
    def test(cls, p: float, opposite: float | None, n: int, unit: str, detail: str) -> "Estimate":
        """The p of a test of `n` units, and the p of its other tail."""
        return cls(p, None, None, n, unit, detail, exact=True, opposite=opposite)


STATISTICS: dict[str, Callable[..., Estimate]] = {}


def statistic(function: Callable[..., Estimate]) -> Callable[..., Estimate]:
    """Register a function of `Evidence` and of options as the statistic of its name.

    Raises ValueError where another function has this name.
    """
    if (other := STATISTICS.setdefault(function.__name__, function)) is not function:
        raise ValueError(f"statistic {function.__name__} is in {other.__module__} and in {function.__module__}")
    return function
