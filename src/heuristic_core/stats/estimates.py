"""Statistics: functions from the evidence of a run to an estimate, by the names that claims.yaml gives them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

NOT_RUN, TOO_FEW, FAILED_RUNS, DOES_NOT_APPLY = "not run", "too few", "failed runs", "does not apply"


class NotComputable(Exception):
    """A statistic cannot be computed. The message says what is missing; `verdict` is the resulting verdict."""

    verdict = NOT_RUN


class TooFewUnits(NotComputable):
    """There are too few seeds, sets, heads or checkpoints."""

    verdict = TOO_FEW


class FailedRuns(NotComputable):
    """Runs failed, collapsed or missed their target, or the model is at chance."""

    verdict = FAILED_RUNS


class DoesNotApply(NotComputable):
    """What the claim is about does not exist here."""

    verdict = DOES_NOT_APPLY


@dataclass(frozen=True)
class Estimate:
    """The value of a statistic.

    low, high: the ends of its 95 % interval, null without an interval. n, unit: what the interval is over.
    exact: the value is a count or the p of a test, which has no interval and needs none. opposite: the p of the other
    tail of a test; None of a two-sided test. min_attainable_p: the smallest p of either tail that the test could give.
    minimum, maximum: what values are possible; the interval is cut there. An interval without width is none.
    shared_half_widths: below and above the value, what the interval has of errors that other seeds share, as of the
    same evaluation pairs or templates; a mean over seeds does not reduce it. bounds: of a value that is only known to
    lie between two; the value is then NaN. measures: of a claim on several measures, the estimate of each.
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
    bounds: tuple[float, float] | None = None
    measures: Mapping[str, "Estimate"] = field(default_factory=dict)

    def __post_init__(self):
        for name in ("low", "high"):
            if not pd.isna(end := getattr(self, name)):
                object.__setattr__(self, name, float(np.clip(end, self.minimum, self.maximum)))
        if not self.exact and self.low == self.high:  # identical values may be so by chance
            object.__setattr__(self, "low", None)
            object.__setattr__(self, "high", None)

    @classmethod
    def over_pairs(
        cls, value: float, low: float, high: float, n: int | None, unit: str | None, detail: str, **possible: float
    ) -> "Estimate":
        """A value with its interval over evaluation pairs alone, which all seeds share; its ends may be null.

        possible: minimum and maximum.
        """
        reach = (0.0, 0.0) if pd.isna([low, high]).any() else (float(value - low), float(high - value))
        return cls(value, low, high, n, unit, detail, shared_half_widths=reach, **possible)

    @classmethod
    def hull(cls, measures: Mapping[str, "Estimate"], detail: str = "") -> "Estimate":
        """Several measures of one claim, by name: the value of the first, and an interval that spans those of all.

        It is on one side of a threshold where all are.
        """
        first, *_ = estimates = list(measures.values())
        ends = np.array([[estimate.low, estimate.high] for estimate in estimates], dtype=float)
        phrases = [f"{name} {_format(estimate)}" for name, estimate in measures.items()]
        if ends[:, 0].max() > ends[:, 1].min():
            phrases.append("the measures disagree")
        low, high = ends[:, 0].min(), ends[:, 1].max()  # NaN if any is
        n = min(estimate.n for estimate in estimates)
        detail = "; ".join([*phrases, *([detail] if detail else [])])
        return cls(first.value, low, high, n, first.unit, detail, measures=measures)

    @classmethod
    def test(
        cls, p: float, opposite: float | None, n: int, unit: str, detail: str, min_attainable_p: float = 0.0
    ) -> "Estimate":
        """The p of a test of `n` units, and the p of its other tail. attainable: the smallest p that it could give."""
        return cls(p, None, None, n, unit, detail, exact=True, opposite=opposite, min_attainable_p=min_attainable_p)


def _format(estimate: Estimate) -> str:
    """Format a value and its interval."""
    label = "of bounds " if pd.isna(estimate.value) else f"{estimate.value:.1f} "
    return label + ("without an interval" if pd.isna(estimate.low) else f"[{estimate.low:.1f}, {estimate.high:.1f}]")


STATISTICS: dict[str, Callable[..., Estimate]] = {}


def statistic(function: Callable[..., Estimate]) -> Callable[..., Estimate]:
    """Register a function of `Evidence` and of options as the statistic of its name.

    Raises ValueError where another function has this name.
    """
    if (other := STATISTICS.setdefault(function.__name__, function)) is not function:
        raise ValueError(f"statistic {function.__name__} is in {other.__module__} and in {function.__module__}")
    return function
