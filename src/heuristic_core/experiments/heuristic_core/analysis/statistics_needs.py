"""Statistics of what claims presume: that the full model generalises, and that an ablation leaves room for a cost.

A value without an interval, as in published results, is taken as it is: a precondition is no claim.
"""

import pandas as pd

from heuristic_core.analysis.estimates import CannotSay, Estimate, statistic
from heuristic_core.experiments.heuristic_core.analysis.accuracy import AUC, ID, LABELS, LEAST, OOD, J
from heuristic_core.experiments.heuristic_core.analysis.evidence import Evidence
from heuristic_core.experiments.heuristic_core.analysis.joint_ablation import joint_ablation, on_group


@statistic
def generalisation(evidence: Evidence) -> Estimate:
    """The full model's J above the margin, points; its OOD accuracy above the margin in a study that has no J."""
    try:
        row = evidence.full(J)
    except CannotSay:
        row = evidence.full(OOD)
    return _beyond(f"the full model's {_name(row)}", row["accuracy"], row["low"], row["high"], _margin(evidence))


@statistic
def ablated_above_floor(evidence: Evidence, group: str) -> Estimate:
    """How far the model without the whole core is above the floor of a group and the margin, points.

    The floor is 0, of ID accuracy chance. A cost that reaches the floor says only that all was lost.
    """
    floor = _margin(evidence) + (evidence.chance() or 0.0 if group == ID else 0.0)
    return _beyond(*_ablated(evidence, group), floor)


@statistic
def ablated_below_ceiling(evidence: Evidence, group: str) -> Estimate:
    """How far the model without the whole core is below the ceiling of a group, 100, less the margin, points.

    A model that rejects every pair is at the ceiling of OOD accuracy: there the core has no cost to compare.
    """
    return _beyond(*_ablated(evidence, group), 100 - _margin(evidence), above=False)


def _beyond(name: str, value: float, low: float, high: float, bound: float, above: bool = True) -> Estimate:
    """How far a value is above a bound, or below it. low, high: the ends of its interval, NaN where it has none."""
    known = not pd.isna(low) and not pd.isna(high)
    ends = f" [{low:.1f}, {high:.1f}]" if known else ""
    detail = f"{name} is {value:.1f}{ends}, and {'above' if above else 'below'} {bound:.1f} is presumed"
    sign = 1 if above else -1
    low, high = sorted(sign * (end - bound) for end in (low, high)) if known else (None, None)
    return Estimate(sign * (value - bound), low, high, detail=detail, exact=not known)


def _ablated(evidence: Evidence, group: str) -> tuple[str, float, float, float]:
    """The accuracy that ablating the whole core leaves on a group: its name, value and the interval of the change."""
    row = on_group(joint_ablation(evidence), group)
    ends = (row["accuracy"] + row[end] - row["change"] for end in ("change_low", "change_high"))
    low, high = (min(max(end, LEAST.get(group, 0)), 100) for end in ends)  # NaN remains
    return f"{_name(row)} without {row['ablation']}", row["accuracy"], low, high


def _name(row: pd.Series) -> str:
    """What the accuracy of a row is of: J and AUC are no accuracies."""
    return LABELS[row["group"]] + ("" if row["group"] in (J, AUC) else " accuracy")


def _margin(evidence: Evidence) -> float:
    if evidence.context.margin is None:
        raise CannotSay("the study has no margin")
    return evidence.context.margin
