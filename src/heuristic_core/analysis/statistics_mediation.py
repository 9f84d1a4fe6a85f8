"""Statistics of claims about later heads that depend on the core: what they restore, and what they transmit."""

import pandas as pd

from heuristic_core.analysis.accuracy import LABELS, J
from heuristic_core.analysis.contrasts import ACCURACY
from heuristic_core.analysis.estimates import CannotSay, Estimate, statistic
from heuristic_core.analysis.evidence import Evidence, some
from heuristic_core.analysis.joint_ablation import joint_ablation, on_group
from heuristic_core.analysis.mediation import ALL, COUNTER, LEARNED, RANDOM
from heuristic_core.analysis.randomisation import tails
from heuristic_core.analysis.statistics_heads import FEWEST_SETS, PAIRS


@statistic
def core_cost(evidence: Evidence, group: str = J) -> Estimate:
    """What ablating the whole core costs on a group, points: a cost that is none cannot be mediated."""
    row = on_group(joint_ablation(evidence), group)
    detail = f"{row['ablation']} ablated: {LABELS[group]} {row['change']:+.1f} points, and a cost is presumed"
    known = not pd.isna(row["change_low"])
    ends = (-row["change_high"], -row["change_low"]) if known else (None, None)
    return Estimate(-row["change"], *ends, detail=detail, exact=not known)


@statistic
def through_counter_heuristic(evidence: Evidence, direction: str, group: str = J) -> Estimate:
    """p that random heads of the same layers restore (or transmit) at least as much as the counter-heuristic heads."""
    rows = _rows(evidence, direction, group)
    own = rows[rows["role"] == COUNTER]
    if own.empty:
        raise CannotSay("no counter-heuristic head above the core's lowest layer is known; set mechanism.masks")
    own, random = own.iloc[0], rows.loc[rows["role"] == RANDOM, "points"]
    if len(random) < FEWEST_SETS:
        raise CannotSay(
            f"{len(random)} random sets cannot decide, {FEWEST_SETS} can: more (mechanism.mediation.random_sets), "
            "where the layers have more sets of as many heads"
        )
    p, opposite = tails(random.to_numpy(), own["points"])
    detail = (
        f"{own['size']} counter-heuristic heads {own['points']:+.1f} points {LABELS[group]} {direction}; {len(random)} "
        f"random sets {random.mean():+.1f} on average, {random.max():+.1f} at most, p = {p:.2g}"
    )
    return Estimate.test(p, opposite, len(random), "random sets", detail)


@statistic
def through_later_heads(evidence: Evidence, direction: str, group: str = J) -> Estimate:
    """The share, percent, of what the core does that all later heads together restore, or transmit."""
    rows = _rows(evidence, direction, group)
    row = some(rows[rows["role"] == ALL], "head above the core's lowest layer").iloc[0]
    if pd.isna(row["share"]):
        raise CannotSay(row["reason"])
    value, low, high = (100 * row[f"share{end}"] for end in ("", "_low", "_high"))
    detail = f"{row['size']} later heads {row['points']:+.1f} points {LABELS[group]} {direction}"
    return Estimate(value, low, high, int(row["n"]), PAIRS, detail)


def _rows(evidence: Evidence, direction: str, group: str) -> pd.DataFrame:
    """What is restored, or transmitted, of the learned core on a group, points of accuracy."""
    evidence.sound("mid", "high")
    table = evidence.table("mediation")
    rows = table[(table["core"] == LEARNED) & (table["direction"] == direction) & (table["measure"] == ACCURACY)]
    return some(rows[rows["subset"].isna() & rows["family"].isna() & (rows["group"] == group)], f"{group} of any set")
