"""Statistics of claims about later heads that depend on the core."""

import pandas as pd

from heuristic_core.analysis.estimates import CannotSay, Estimate, statistic
from heuristic_core.experiments.heuristic_core.analysis.accuracy import LABELS, J
from heuristic_core.experiments.heuristic_core.analysis.contrasts import ACCURACY
from heuristic_core.experiments.heuristic_core.analysis.evidence import Evidence, some
from heuristic_core.experiments.heuristic_core.analysis.joint_ablation import joint_ablation, on_group
from heuristic_core.experiments.heuristic_core.analysis.mediation import ALL, LEARNED


@statistic
def core_cost(evidence: Evidence, group: str = J) -> Estimate:
    """What ablating the whole core costs on a group, points: a cost that is none cannot be mediated."""
    row = on_group(joint_ablation(evidence), group)
    detail = f"{row['ablation']} ablated: {LABELS[group]} {row['change']:+.1f} points, on which the claim depends"
    known = not pd.isna(row["change_low"])
    ends = (-row["change_high"], -row["change_low"]) if known else (None, None)
    return Estimate(-row["change"], *ends, detail=detail, exact=not known)


@statistic
def through_later_heads(evidence: Evidence, group: str = J) -> Estimate:
    """The share of what ablating the core costs that is lost where later heads alone work as without it, percent.

    Its interval is of the bootstrap over pairs, by the draws of both.
    """
    evidence.sound("mid", "high")
    rows = evidence.table("mediation")
    here = (rows["direction"] == "transmitted") & (rows["measure"] == ACCURACY) & (rows["group"] == group)
    here &= rows["subset"].isna() & rows["family"].isna() & (rows["core"] == LEARNED) & (rows["role"] == ALL)
    row = some(rows[here], "head above the core's lowest layer").iloc[0]
    if pd.isna(row["share"]):
        raise CannotSay(row["reason"])
    detail = (
        f"{row['size']} later heads {row['points']:+.1f} of {row['full'] - row['ablated']:.1f} points {LABELS[group]}"
    )
    ends = (None if pd.isna(end) else 100 * end for end in (row["share_low"], row["share_high"]))
    return Estimate(100 * row["share"], *ends, None, "pairs", detail)
