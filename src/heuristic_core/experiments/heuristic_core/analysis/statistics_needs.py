"""What claims presume: that the full model generalises.

A value without an interval, as in published results, is taken as it is: a precondition is no claim.
"""

import pandas as pd

from heuristic_core.analysis.estimates import CannotSay, Estimate, statistic
from heuristic_core.experiments.heuristic_core.analysis.accuracy import LABELS, J
from heuristic_core.experiments.heuristic_core.analysis.evidence import Evidence


@statistic
def generalisation(evidence: Evidence) -> Estimate:
    """The full model's J above the margin, points; its OOD accuracy above the margin in a study that has no J."""
    margin = evidence.context.margin
    if margin is None:
        raise CannotSay("the study has no margin")
    row = evidence.full(J)
    known = not pd.isna(row["low"]) and not pd.isna(row["high"])
    ends = f" [{row['low']:.1f}, {row['high']:.1f}]" if known else ""
    detail = (
        f"the full model's {LABELS[row['group']]} is {row['accuracy']:.1f}{ends}, and above {margin:.1f} is presumed"
    )
    low, high = (row["low"] - margin, row["high"] - margin) if known else (None, None)
    return Estimate(row["accuracy"] - margin, low, high, detail=detail, exact=not known)
