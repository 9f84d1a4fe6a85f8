"""Statistics of claims about core heads ablated together: their cost, and their cost beyond the sum of single heads.

Two sets are judged: the whole core, and its strongest three heads, which half of the pairs chose, on the other half.
"""

import pandas as pd

from heuristic_core.analysis.bootstrap import of_difference, simultaneous
from heuristic_core.analysis.estimates import CannotSay, Estimate, statistic
from heuristic_core.analysis.randomisation import tails
from heuristic_core.experiments.heuristic_core.analysis.accuracy import ENTAILMENT, ID, LABELS, OOD, J
from heuristic_core.experiments.heuristic_core.analysis.evidence import Evidence, some
from heuristic_core.experiments.heuristic_core.analysis.joint_ablation import joint_ablation, matched, on_group
from heuristic_core.experiments.heuristic_core.analysis.triples import CONTROL, TRIPLE

PAIRS = "pairs, drawn by template where a subset has several"
OTHER_HALF = "pairs that did not choose, drawn by template where a subset has several"
FEWEST_SETS = 20  # random sets; with fewer no p is under 0.05
CHANGE = ["change", "change_low", "change_high"]


@statistic
def ood_minus_id_drop(evidence: Evidence, group: str = OOD) -> Estimate:
    """The cost of ablating the whole core on OOD minus its cost on ID, points; pairs of both are independent.

    group: "ood", or instead of it "auc", or half of "j", which rejecting every pair does not raise.
    """
    rows = joint_ablation(evidence)
    ood, id_ = (on_group(rows, name) for name in (group, ID))
    # Points of J are of two classes: half is what either lost on average, as ID's points are.
    cost, name = (ood[CHANGE] / 2, f"half of {LABELS[J]}") if group == J else (ood[CHANGE], LABELS[group])
    detail = f"{ood['ablation']}: {name} {cost['change']:+.1f}, ID {id_['change']:+.1f}{_entailment(rows)} points"
    low, high = of_difference(cost, id_[CHANGE])
    n = None if pd.isna(low) else int(ood["n"] + id_["n"])
    return Estimate(id_["change"] - cost["change"], low, high, n, PAIRS if n else None, detail)


@statistic
def against_controls(evidence: Evidence, group: str = OOD) -> Estimate:
    """p that a random set of the same layers costs at least as much on a group (or of J, AUC) as the whole core."""
    joint = on_group(joint_ablation(evidence), group)
    table = evidence.table("ablations")
    like = matched(table, joint)
    controls = like[like["subset"].isna() & (like["group"] == group)]["change"]
    if joint["size"] > 1 and not (table["role"] == "control").any():
        raise CannotSay("no random sets of heads were ablated")
    some(controls, f"random sets like {joint['ablation']}: its layers have no other set of as many heads")
    return _against(controls, joint["change"], f"{joint['ablation']} {joint['change']:+.1f} points {LABELS[group]}; ")


@statistic
def triple_cost(evidence: Evidence, group: str) -> Estimate:
    """p that the strongest three of a random set cost at least as much on a group; opposite: at most as much."""
    rows = _triples(evidence, group)
    own, controls = rows[rows["role"] == TRIPLE].iloc[0], rows.loc[rows["role"] == CONTROL, "change"]
    what = f"three heads of layers {own['layers']} {own['change']:+.1f} points, the strongest three of "
    return _against(controls, own["change"], what)


@statistic
def interaction(evidence: Evidence, of: str, group: str = OOD) -> Estimate:
    """The drop of the whole core minus its single drops on a group: points (of J, of AUC), or nats of log odds.

    of: "accuracy" or "log_odds". Where ablating the core costs nothing there is no cost to compare: a model that comes
    to reject every pair gains OOD accuracy, up to a ceiling. It does not gain J or AUC.
    """
    rows = joint_ablation(evidence)
    row = on_group(rows, group)
    if row["size"] < 2:
        raise CannotSay(f"the core has one head only, {row['ablation']}")
    if row["change"] > 0:
        where = "out-of-domain" if group == OOD else f"on {group}"
        raise CannotSay(f"ablating {row['ablation']} gains {row['change']:.1f} points {where}{_entailment(rows)}")
    return _beyond_single(row, of, row["ablation"], f"points {LABELS[group]}", PAIRS)


@statistic
def triple_interaction(evidence: Evidence, group: str, of: str) -> Estimate:
    """The drop of the strongest three minus their single drops on a group: points, or nats of log odds."""
    row = _triples(evidence, group).set_index("role").loc[TRIPLE]
    if row["change"] > 0:
        raise CannotSay(f"ablating the three strongest heads gains {row['change']:.1f} points on {group}")
    return _beyond_single(row, of, f"three heads of layers {row['layers']}", "points", OTHER_HALF)


@statistic
def lowest_interaction(evidence: Evidence) -> Estimate:
    """The lowest interaction of the whole core over OOD subsets, points: negative is sub-additive.

    Only subsets count on which the core costs something and something is left: elsewhere there is no cost to compare,
    or no room for a larger cost. The intervals of the subsets hold together (Bonferroni, normal); the ends are the
    lowest lower end and the lowest upper end. Where a subset has no interval, as in print, there is none.
    """
    rows = joint_ablation(evidence)
    rows = rows[rows["subset"].notna() & (rows["group"] == OOD)].dropna(subset="interaction")
    count = len(some(rows, "interaction on any OOD subset"))
    margin = evidence.context.margin or 0.0
    rows = rows[(rows["change"] <= 0) & rows["accuracy"].between(margin, 100 - margin, inclusive="neither")]
    some(rows, f"OOD subset of {count} on which the set has a cost between floor and ceiling")
    each = ", ".join(f"{row.subset} {row.interaction:+.1f}" for row in rows.itertuples())
    value, n = rows["interaction"].min(), len(rows)
    left_out = f"; {count - n} more at a floor or ceiling, or gaining" if n < count else ""
    detail = f"negative on {(rows['interaction'] < 0).sum()} of {n}: {each}{left_out}"
    low, high = simultaneous(rows["interaction"], rows["interaction_low"], rows["interaction_high"])
    return Estimate(value, low.min(skipna=False), high.min(skipna=False), n, "OOD subsets", detail)


def _triples(evidence: Evidence, group: str) -> pd.DataFrame:
    """The rows of the core's triple and of its controls on a group."""
    evidence.sound("mid", "high")
    rows = evidence.tables.get("triples")
    if rows is None or rows.empty:
        raise CannotSay("the core has three heads or fewer, so that no three were chosen on half of the pairs")
    rows = rows[rows["subset"].isna() & (rows["group"] == group)].dropna(subset="change")
    own = some(rows[rows["role"] == TRIPLE], f"{group} accuracy without the three strongest heads").iloc[0]
    margin = evidence.context.margin or 0.0
    if group == OOD and (own["accuracy"] <= margin or own["accuracy"] >= 100 - margin):
        where = "floor" if own["accuracy"] <= margin else "ceiling"
        raise CannotSay(f"OOD accuracy without the three strongest heads is at its {where}: {own['accuracy']:.1f} %")
    return rows


def _against(controls: pd.Series, change: float, what: str) -> Estimate:
    """p that a random set costs at least as much. controls: changes of random sets, points. what: begins the detail."""
    if len(controls) < FEWEST_SETS:
        raise CannotSay(
            f"{len(controls)} random sets cannot decide, {FEWEST_SETS} can: more draws (analysis.control_draws), where "
            "the core's layers have more sets of as many heads"
        )
    opposite, p = tails(controls, change)
    random = f"{len(controls)} random sets {controls.mean():+.1f} on average, {controls.min():+.1f} at most"
    return Estimate.test(p, opposite, len(controls), "random sets", f"{what}{random}, p = {p:.2g}")


def _beyond_single(row: pd.Series, of: str, what: str, points: str, unit: str) -> Estimate:
    """The interaction of an ablation with its interval. of: "accuracy" or "log_odds"."""
    column = "interaction" if of == "accuracy" else "log_odds_interaction"
    if pd.isna(row[column]):
        raise CannotSay(f"no interaction in {of} of {what}")
    n = None if pd.isna(row["n"]) else int(row["n"])
    detail = f"{what}: {row['change']:+.1f} {points} together"
    return Estimate(row[column], row[f"{column}_low"], row[f"{column}_high"], n, unit, detail)


def _entailment(rows: pd.DataFrame) -> str:
    here = rows[rows["subset"].isna() & (rows["group"] == ENTAILMENT)]
    return f", entailment class {here['change'].iloc[0]:+.1f}" if len(here) else ""
