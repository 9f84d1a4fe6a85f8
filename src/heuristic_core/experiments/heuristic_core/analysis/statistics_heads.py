"""Statistics of claims about the whole core, ablated together: what it costs, of what, and beyond single heads."""

import numpy as np
import pandas as pd

from heuristic_core.analysis.bootstrap import of_difference
from heuristic_core.analysis.estimates import CannotSay, DoesNotApply, Estimate, statistic
from heuristic_core.analysis.randomisation import tails
from heuristic_core.experiments.heuristic_core.analysis.accuracy import ID, LABELS, J
from heuristic_core.experiments.heuristic_core.analysis.evidence import Evidence, some
from heuristic_core.experiments.heuristic_core.analysis.joint_ablation import (
    joint_ablation,
    joint_ablations,
    matched,
    on_group,
)

PAIRS = "pairs, drawn by template where a subset has several"
CHANGE = ["change", "change_low", "change_high"]


@statistic
def share_lost_beyond_the_task(evidence: Evidence) -> Estimate:
    """The share of J that ablating the whole core costs minus the share of ID accuracy above chance, percentage points.

    J is 0 of a constant class, as ID accuracy above chance is. Points of both would not compare: J may lose 200.
    Pairs of both are independent. What the full model has is taken as known.
    """
    rows = joint_ablation(evidence)
    j, id_ = (on_group(rows, group) for group in (J, ID))
    of_j, of_id = evidence.full(J)["accuracy"], evidence.above_chance(evidence.full(ID)["accuracy"])
    if of_j <= 0 or of_id <= 0:
        raise DoesNotApply(f"the full model has {of_j:.1f} points of J, and {of_id:.1f} of ID accuracy above chance")
    lost_j, lost_id = (-100 * row[CHANGE].astype(float) / of for row, of in ((j, of_j), (id_, of_id)))
    detail = (
        f"{j['ablation']}: J {j['change']:+.1f} of {of_j:.1f} points ({lost_j['change']:.0f} %), ID "
        f"{id_['change']:+.1f} of {of_id:.1f} above chance ({lost_id['change']:.0f} %)"
    )
    ends = [(lost["change"], lost["change_high"], lost["change_low"]) for lost in (lost_id, lost_j)]
    low, high = of_difference(*ends)
    n = None if pd.isna(low) else int(j["n"] + id_["n"])
    return Estimate(lost_j["change"] - lost_id["change"], low, high, n, PAIRS if n else None, detail)


@statistic
def against_controls(evidence: Evidence, group: str) -> Estimate:
    """p that a random set of the same layers costs at least as much J (or AUC) as the whole core; opposite: at most."""
    joint = on_group(joint_ablation(evidence), group)
    table = evidence.table("ablations")
    like = matched(table, joint)
    controls = like[like["subset"].isna() & (like["group"] == group)]["change"]
    if joint["size"] > 1 and not (table["role"] == "control").any():
        raise CannotSay("no random sets of heads were ablated")
    some(controls, f"random sets like {joint['ablation']}: its layers have no other set of as many heads")
    opposite, p = tails(controls, joint["change"])
    detail = (
        f"{joint['ablation']} {joint['change']:+.1f} points {LABELS[group]}; {len(controls)} random sets "
        f"{controls.mean():+.1f} on average, {controls.min():+.1f} at most (analysis.control_draws), p = {p:.2g}"
    )
    return Estimate.test(p, opposite, len(controls), "random sets", detail, 1 / (1 + len(controls)))


@statistic
def least_cost(evidence: Evidence, group: str) -> Estimate:
    """What ablating the whole core costs on a group in the kind of ablation in which it costs least, points.

    It costs something in every kind where it does in each: the lower end is the lowest of the kinds' own.
    """
    rows = {kind: on_group(ablations, group) for kind, ablations in joint_ablations(evidence).items()}
    if len(rows) < 2:
        raise DoesNotApply(f"heads are ablated in one kind alone, {next(iter(rows))} (analysis.ablation_kinds)")
    least = max(rows.values(), key=lambda row: row["change"])
    n = None if pd.isna(least["n"]) else int(least["n"])
    changes = ", ".join(f"{kind} {row['change']:+.1f}" for kind, row in rows.items())
    detail = f"{least['ablation']}: {changes} points {LABELS[group]}"
    low = np.min([-row["change_high"] for row in rows.values()])  # NaN where a kind has no interval
    return Estimate(-least["change"], low, -least["change_low"], n, PAIRS, detail)


@statistic
def interaction(evidence: Evidence, of: str, group: str) -> Estimate:
    """The drop of the whole core minus its single drops on a group: points (of J, of AUC), or nats of log odds.

    of: "accuracy" or "log_odds".
    """
    row = on_group(joint_ablation(evidence), group)
    if row["size"] < 2:
        raise DoesNotApply(f"the core has one head only, {row['ablation']}")
    column = "interaction" if of == "accuracy" else "log_odds_interaction"
    if pd.isna(row[column]):
        raise CannotSay(f"no interaction in {of} of {row['ablation']}")
    n = None if pd.isna(row["n"]) else int(row["n"])
    detail = f"{row['ablation']}: {row['change']:+.1f} points {LABELS[group]} together"
    return Estimate(row[column], row[f"{column}_low"], row[f"{column}_high"], n, PAIRS, detail)
