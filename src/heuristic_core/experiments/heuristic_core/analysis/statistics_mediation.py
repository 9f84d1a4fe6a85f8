"""Statistics of claims about later heads that depend on the core: what they restore, and what they transmit."""

import pandas as pd

from heuristic_core.analysis.estimates import CannotSay, Estimate, statistic
from heuristic_core.analysis.randomisation import tails
from heuristic_core.experiments.heuristic_core.analysis.accuracy import LABELS, J
from heuristic_core.experiments.heuristic_core.analysis.contrasts import ACCURACY
from heuristic_core.experiments.heuristic_core.analysis.evidence import Evidence, some
from heuristic_core.experiments.heuristic_core.analysis.joint_ablation import joint_ablation, on_group
from heuristic_core.experiments.heuristic_core.analysis.mediation import ALL, COUNTER, LEARNED, RANDOM
from heuristic_core.experiments.heuristic_core.analysis.statistics_heads import FEWEST_SETS


@statistic
def core_cost(evidence: Evidence, group: str = J) -> Estimate:
    """What ablating the whole core costs on a group, points: a cost that is none cannot be mediated."""
    row = on_group(joint_ablation(evidence), group)
    detail = f"{row['ablation']} ablated: {LABELS[group]} {row['change']:+.1f} points, on which the claim depends"
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
        f"{own['size']} counter-heuristic heads {own['points']:+.1f} points {LABELS[group]} {direction}; "
        f"{_of_random(random)}, p = {p:.2g}"
    )
    return Estimate.test(p, opposite, len(random), "random sets", detail)


@statistic
def through_later_heads(evidence: Evidence, direction: str, group: str = J) -> Estimate:
    """p that later heads, all of them, restore (or transmit) as much of random heads in the core's place."""
    rows = _rows(evidence, direction, group)
    own = some(rows[rows["role"] == ALL], "head above the core's lowest layer").iloc[0]
    others = _on_group(evidence, direction, group)
    random = others.loc[(others["core"] != LEARNED) & (others["role"] == ALL), "points"]
    if len(random) < FEWEST_SETS:
        raise CannotSay(
            f"{len(random)} random sets in the core's place cannot decide, {FEWEST_SETS} can: more "
            "(mechanism.mediation.random_sets), where the core's layers have more sets of as many heads"
        )
    p, opposite = tails(random.to_numpy(), own["points"])
    share = "" if pd.isna(own["share"]) else f", {100 * own['share']:.0f} % of what ablating the core costs"
    detail = (
        f"{own['size']} later heads {own['points']:+.1f} points {LABELS[group]} {direction}{share}; with random heads "
        f"in the core's place, {_of_random(random)}, p = {p:.2g}"
    )
    return Estimate.test(p, opposite, len(random), "random sets", detail)


def _of_random(points: pd.Series) -> str:
    return f"{len(points)} random sets {points.mean():+.1f} on average, {points.max():+.1f} at most"


def _rows(evidence: Evidence, direction: str, group: str) -> pd.DataFrame:
    """What is restored, or transmitted, of the learned core on a group, points of accuracy."""
    rows = _on_group(evidence, direction, group)
    return some(rows[rows["core"] == LEARNED], f"{group} of any set")


def _on_group(evidence: Evidence, direction: str, group: str) -> pd.DataFrame:
    """What is restored, or transmitted, of the core and of random ones in its place, on a group, points."""
    evidence.sound("mid", "high")
    table = evidence.table("mediation")
    rows = table[(table["direction"] == direction) & (table["measure"] == ACCURACY) & (table["group"] == group)]
    return rows[rows["subset"].isna() & rows["family"].isna()]
