"""What claims presume: that the full model generalises.

A value without an interval, as in published results, is taken as it is: a precondition is no claim.
"""

import pandas as pd

from heuristic_core.analysis.estimates import CannotSay, Estimate, statistic
from heuristic_core.experiments.heuristic_core.analysis.accuracy import AUC, LABELS, OOD, J
from heuristic_core.experiments.heuristic_core.analysis.evidence import Evidence


@statistic
def generalisation(evidence: Evidence) -> Estimate:
    """The full model's J above the margin, points; its OOD accuracy above the margin in a study that has no J."""
    try:
        row = evidence.full(J)
    except CannotSay:
        row = evidence.full(OOD)
    return _beyond(f"the full model's {_name(row)}", row["accuracy"], row["low"], row["high"], _margin(evidence))


def _beyond(name: str, value: float, low: float, high: float, bound: float, above: bool = True) -> Estimate:
    """How far a value is above a bound, or below it. low, high: the ends of its interval, NaN where it has none."""
    known = not pd.isna(low) and not pd.isna(high)
    ends = f" [{low:.1f}, {high:.1f}]" if known else ""
    detail = f"{name} is {value:.1f}{ends}, and {'above' if above else 'below'} {bound:.1f} is presumed"
    sign = 1 if above else -1
    low, high = sorted(sign * (end - bound) for end in (low, high)) if known else (None, None)
    return Estimate(sign * (value - bound), low, high, detail=detail, exact=not known)


def _name(row: pd.Series) -> str:
    """What the accuracy of a row is of: J and AUC are no accuracies."""
    return LABELS[row["group"]] + ("" if row["group"] in (J, AUC) else " accuracy")


def _margin(evidence: Evidence) -> float:
    if evidence.context.margin is None:
        raise CannotSay("the study has no margin")
    return evidence.context.margin
