"""Statistics for preconditions of claims, such as that the full model generalises.

A value without an interval, as in published results, is treated as exact, because a precondition is not a claim.
"""

import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.accuracy import ID, LABELS, J
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence
from heuristic_core.stats.estimates import Estimate, NotComputable, statistic


@statistic
def generalisation(evidence: Evidence) -> Estimate:
    """Estimate the full model's J at the last checkpoint minus the margin, in points.

    Args:
        evidence: Tables of one fine-tuning run.

    Raises:
        NotComputable: If the study has no margin, or no J.
    """
    return _compare_j(evidence.full(J), _margin(evidence), "", "more")


@statistic
def early_generalisation(evidence: Evidence) -> Estimate:
    """Estimate the full model's J at the early checkpoint minus the margin, in points.

    Args:
        evidence: Tables of one fine-tuning run.

    Raises:
        NotComputable: If the study has no early checkpoint, no margin, or no J.
    """
    if (early := evidence.context.early) is None:
        raise NotComputable("the study has no early subnetworks (grid.early)")
    return _compare_j(evidence.full(J, early), _margin(evidence), f" at step {early}", "less")


@statistic
def share_keeping_task(evidence: Evidence, sparsity: str) -> Estimate:
    """Return the share of subnetworks that keep half of the full model's in-domain accuracy above chance, percent.

    In published results, which do not record chance, it is half of the accuracy. Collapsed runs do not keep it.

    Args:
        evidence: Tables of one fine-tuning run.
        sparsity: Target sparsity of the subnetworks, "mid" or "high".
    """
    known_chance, full = evidence.chance(), evidence.full(ID)["accuracy"]
    chance = 0.0 if known_chance is None else known_chance
    rows = evidence.spread_with_collapses("group_accuracy", ID, sparsity)
    keeping = (rows["accuracy"] > chance + (full - chance) / 2) & ~rows["collapsed"]
    above = "" if known_chance is None else " above chance"
    detail = f"{keeping.sum()} of {len(keeping)} {sparsity}-sparsity subnetworks keep half of ID accuracy{above}"
    return Estimate(100 * float(keeping.mean()), detail=detail, exact=True)


def _compare_j(row: pd.Series, margin: float, when: str, relation: str) -> Estimate:
    """Estimate J minus a margin; exact without an interval."""
    has_interval = not pd.isna(row["low"]) and not pd.isna(row["high"])
    interval = f" [{row['low']:.1f}, {row['high']:.1f}]" if has_interval else ""
    detail = (
        f"the full model's {LABELS[row['group']]}{when} is {row['accuracy']:.1f}{interval}, "
        f"and the claim requires {relation} than {margin:.1f}"
    )
    low, high = (row["low"] - margin, row["high"] - margin) if has_interval else (None, None)
    return Estimate(row["accuracy"] - margin, low, high, detail=detail, exact=not has_interval)


def _margin(evidence: Evidence) -> float:
    """Return the study's margin, points; raise NotComputable if it has none."""
    if (margin := evidence.context.margin) is None:
        raise NotComputable("the study has no margin")
    return margin
