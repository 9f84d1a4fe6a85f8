"""The registry of statistics: functions from the evidence of a run to an `Estimate`, by their name in claims.yaml."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

NOT_RUN, TOO_FEW, FAILED_RUNS, DOES_NOT_APPLY = "not run", "too few", "failed runs", "does not apply"


class NotComputable(Exception):
    """Raised if a statistic cannot be computed.

    The message says what is missing.

    Attributes:
        verdict: Resulting verdict.
    """

    verdict = NOT_RUN


class TooFewUnits(NotComputable):
    """Raised if there are too few seeds, sets, heads or checkpoints."""

    verdict = TOO_FEW


class FailedRuns(NotComputable):
    """Raised if runs failed, collapsed or missed their target, or if the model is at chance."""

    verdict = FAILED_RUNS


class DoesNotApply(NotComputable):
    """Raised if the subject of the claim does not exist in this study."""

    verdict = DOES_NOT_APPLY


@dataclass(frozen=True)
class Estimate:
    """The value of a statistic and its 95 % interval.

    An interval of no width is discarded, unless the estimate is exact.

    Attributes:
        value: Estimate, or the p-value of a test.
        low: Lower end of the 95 % interval, null if there is no interval.
        high: Upper end, likewise.
        n: Number of units that the interval is over.
        unit: Name of these units.
        detail: Text to report with the estimate.
        exact: Whether the value is a count or the p-value of a test, which needs no interval.
        opposite: p-value of a test in the opposite tail; None for a two-sided test.
        min_attainable_p: Smallest p-value of either tail that the test can give.
        minimum: Smallest possible value; the interval is clipped to it.
        maximum: Largest possible value; the interval is clipped to it.
        shared_half_widths: Widths of the interval below and above the value that are due to errors shared by all seeds,
            such as errors from using the same evaluation pairs or templates. A mean over seeds does not reduce them.
    """

    value: float
    low: float | None = None
    high: float | None = None
    n: int | None = None
    unit: str | None = None
    detail: str = ""
    exact: bool = False
    opposite: float | None = None
    min_attainable_p: float = 0.0
    minimum: float = -np.inf
    maximum: float = np.inf
    shared_half_widths: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self):
        for name in ("low", "high"):
            if not pd.isna(end := getattr(self, name)):
                object.__setattr__(self, name, float(np.clip(end, self.minimum, self.maximum)))
        if not self.exact and self.low == self.high:  # values may be equal by chance
            object.__setattr__(self, "low", None)
            object.__setattr__(self, "high", None)

    @classmethod
    def over_pairs(
        cls, value: float, low: float, high: float, n: int | None, unit: str | None, detail: str, **possible: float
    ) -> "Estimate":
        """Create an estimate whose interval is over evaluation pairs only, which all seeds share.

        Args:
            value: Estimate.
            low: Lower end of the 95 % interval; may be null.
            high: Upper end; may be null.
            n: Number of units that the interval is over.
            unit: Name of these units.
            detail: Text to report with the estimate.
            **possible: `minimum` and `maximum` of the value.
        """
        half_widths = (0.0, 0.0) if pd.isna([low, high]).any() else (float(value - low), float(high - value))
        return cls(value, low, high, n, unit, detail, shared_half_widths=half_widths, **possible)

    @classmethod
    def test(
        cls, p: float, opposite: float | None, n: int, unit: str, detail: str, min_attainable_p: float = 0.0
    ) -> "Estimate":
        """Create an estimate from the p-value of a test.

        Args:
            p: p-value in the stated direction, or of a two-sided test.
            opposite: p-value in the opposite tail; None for a two-sided test.
            n: Number of units that the test is over.
            unit: Name of these units.
            detail: Text to report with the estimate.
            min_attainable_p: Smallest p-value of either tail that the test can give.
        """
        return cls(p, None, None, n, unit, detail, exact=True, opposite=opposite, min_attainable_p=min_attainable_p)


STATISTICS: dict[str, Callable[..., Estimate]] = {}


def statistic(function: Callable[..., Estimate]) -> Callable[..., Estimate]:
    """Register a function as the statistic of its name.

    Args:
        function: Function of `Evidence` and of options.

    Returns:
        The same function.

    Raises:
        ValueError: If another function is registered under this name.
    """
    if (other := STATISTICS.setdefault(function.__name__, function)) is not function:
        raise ValueError(f"statistic {function.__name__} is in {other.__module__} and in {function.__module__}")
    return function
