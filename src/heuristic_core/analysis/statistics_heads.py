"""Statistics of claims about heads: which are shared, and what the shared ones do."""

import numpy as np
import pandas as pd
from scipy import stats

from heuristic_core.analysis.accuracy import AUC, ENTAILMENT, ID, OOD, J
from heuristic_core.analysis.estimates import CannotSay, Estimate, Evidence, some
from heuristic_core.analysis.frames import numpy_generator

# Roles of the set that holds the whole core, by its size: three heads are all among the strongest three. The strongest
# of a larger core are chosen by what they cost, so that comparing them with random sets would favour them.
WHOLE_CORE = ("core-all", "strongest", "pair", "core")
PAIRS = "pairs, drawn by template where a subset has several"
NAMES = {OOD: "OOD", J: "J", AUC: "AUC"}
DRAWS = 10_000
LEAST = 20  # random sets, below which no p can be under 0.05


def shared_heads(evidence: Evidence, set: str) -> Estimate:
    """p that at least as many heads are in all subnetworks of a set, heads permuted within layers."""
    evidence.sound(*set.split("+"))
    rows = evidence.table("core_null")
    row = some(rows[rows["set"] == set], f"comparison of {set} subnetworks with chance").iloc[0]
    detail = f"{row['observed']} heads in all {row['n']}, {row['expected']:.2g} expected, p = {row['p']:.2g}"
    return Estimate(row["p"], None, None, int(row["n"]), "subnetworks", detail, exact=True, opposite=row.get("p_fewer"))


def ood_minus_id_drop(evidence: Evidence, group: str = OOD) -> Estimate:
    """What ablating the joint set costs on OOD minus what it costs on ID, points; pairs of both are independent.

    group: "ood", or "auc", or half of "j", which rejecting every pair does not raise.
    """
    rows = _joint(evidence)
    ood, id_ = (_group(rows, name) for name in (group, ID))
    if group == J:  # points of two classes: half is what either lost on average, as ID's points are
        ood = ood.copy()
        ood[["change", "change_low", "change_high"]] /= 2
    value = id_["change"] - ood["change"]
    name = f"half of {NAMES[J]}" if group == J else NAMES[group]
    detail = f"{ood['ablation']}: {name} {ood['change']:+.1f}, ID {id_['change']:+.1f}{_entailment(rows)} points"
    if pd.isna(ood["change_low"]) or pd.isna(id_["change_low"]):
        return Estimate(value, detail=detail)
    low = value - np.hypot(id_["change"] - id_["change_low"], ood["change_high"] - ood["change"])
    high = value + np.hypot(id_["change_high"] - id_["change"], ood["change"] - ood["change_low"])
    return Estimate(
        value, low, high, int(ood["n"] + id_["n"]), "pairs, drawn by template where a subset has several", detail
    )


def against_controls(evidence: Evidence, group: str = OOD) -> Estimate:
    """p that a random set of the same layers costs at least as much on a group (or of J, AUC) as the joint set."""
    joint = _group(_joint(evidence), group)
    table = evidence.table("ablations")
    roles = ["control", "non-core"] if joint["size"] == 1 else ["control"]
    matched = table["role"].isin(roles) & (table["layers"] == joint["layers"]) & (table["kind"] == joint["kind"])
    controls = table[matched & table["subset"].isna() & (table["group"] == group)]["change"]
    if not table["role"].isin(roles).any():
        raise CannotSay("no random sets of heads were ablated")
    some(controls.to_frame(), f"random sets like {joint['ablation']}: too few heads outside the core in its layers")
    if len(controls) < LEAST:
        raise CannotSay(f"{len(controls)} random sets cannot decide, {LEAST} can: see analysis.control_draws")
    tails = (controls <= joint["change"], controls >= joint["change"])
    p, opposite = ((1 + tail.sum()) / (1 + len(controls)) for tail in tails)
    detail = (
        f"{joint['ablation']} {joint['change']:+.1f} points {NAMES[group]}; {len(controls)} random sets "
        f"{controls.mean():+.1f} on average, {controls.min():+.1f} at most, p = {p:.2g}"
    )
    return Estimate(p, None, None, len(controls), "random sets", detail, exact=True, opposite=opposite)


def interaction(evidence: Evidence, of: str, group: str = OOD) -> Estimate:
    """Drop of the joint set minus its single drops on a group: points (of J, of AUC), or nats of log odds.

    Where ablating the set costs nothing there is no cost to compare: a model that comes to reject every pair gains OOD
    accuracy, up to a ceiling. J and AUC it does not gain.
    """
    rows = _joint(evidence)
    row = _group(rows, group)
    if row["size"] < 2:
        raise CannotSay(f"the core has one head only, {row['ablation']}")
    if row["change"] > 0:
        where = "out-of-domain" if group == OOD else f"on {group}"
        raise CannotSay(f"ablating {row['ablation']} gains {row['change']:.1f} points {where}{_entailment(rows)}")
    column = "interaction" if of == "accuracy" else "log_odds_interaction"
    if pd.isna(row[column]):
        raise CannotSay(f"no interaction in {of} of {row['ablation']}")
    ends = (None if pd.isna(row[end]) else row[end] for end in (f"{column}_low", f"{column}_high"))
    n = None if pd.isna(row["n"]) else int(row["n"])
    detail = f"{row['ablation']}: {row['change']:+.1f} points {NAMES[group]} together"
    return Estimate(row[column], *ends, n, PAIRS, detail)


def lowest_interaction(evidence: Evidence) -> Estimate:
    """The lowest interaction of the joint set over OOD subsets, points: negative is sub-additive.

    Of the subsets on which the set costs something and something is left: elsewhere there is no cost to compare, or no
    room for a larger one. Its interval holds for all of them together: their intervals, widened as for a level of 95 %
    shared among them (Bonferroni, normal); the ends are the lowest of the lower and of the upper ones. Where a subset
    has no interval, as in print, there is none.
    """
    rows = _joint(evidence)
    rows = rows[rows["subset"].notna() & (rows["group"] == "ood")].dropna(subset="interaction")
    count = len(some(rows, "interaction on any OOD subset"))
    margin = evidence.context.margin or 0.0
    rows = rows[(rows["change"] <= 0) & rows["accuracy"].between(margin, 100 - margin, inclusive="neither")]
    some(rows, f"OOD subset of {count} on which the set has a cost between floor and ceiling")
    each = ", ".join(f"{row.subset} {row.interaction:+.1f}" for row in rows.itertuples())
    value, n = rows["interaction"].min(), len(rows)
    left_out = f"; {count - n} more at a floor or ceiling, or gaining" if n < count else ""
    detail = f"negative on {(rows['interaction'] < 0).sum()} of {n}: {each}{left_out}"
    wider = stats.norm.ppf(1 - 0.025 / n) / stats.norm.ppf(0.975)
    low = rows["interaction"] - wider * (rows["interaction"] - rows["interaction_low"])
    high = rows["interaction"] + wider * (rows["interaction_high"] - rows["interaction"])
    return Estimate(value, low.min(skipna=False), high.min(skipna=False), n, "OOD subsets", detail)


def repeated_word_attention(evidence: Evidence) -> Estimate:
    """p that as many random heads of the same layers attend as much to the repeated word as the core's do."""
    evidence.sound("mid", "high")
    rows = evidence.table("attention")
    shares = rows[rows["category"] == "repeated"].set_index("component")["share"]
    heads = evidence.table("core")
    heads = heads[heads["kind"] == "head"].set_index("component")
    in_core = heads["in_core"].astype(bool)
    core = shares[in_core[in_core].index]
    some(core.to_frame(), "core head")
    draw, drawn = numpy_generator("repeated word attention", int(evidence.context.last)), np.zeros(DRAWS)
    for _, layer in heads.groupby("layer"):
        count = int(in_core[layer.index].sum())
        values = np.tile(shares[layer.index].to_numpy(), (DRAWS, 1))
        drawn += draw.permuted(values, axis=1)[:, :count].sum(axis=1)
    tails = (drawn >= core.sum() - 1e-12, drawn <= core.sum() + 1e-12)
    p, opposite = ((1 + tail.sum()) / (1 + DRAWS) for tail in tails)
    others = shares[in_core[~in_core].index]
    detail = f"core {100 * core.mean():.1f} %, others {100 * others.mean():.1f} %, p = {p:.2g}"
    return Estimate(p, None, None, len(core), "core heads", detail, exact=True, opposite=opposite)


def _joint(evidence: Evidence) -> pd.DataFrame:
    """The rows of the whole core together, of the first kind of ablation."""
    evidence.sound("mid", "high")
    table = evidence.table("ablations")
    table = table[table["kind"] == table["kind"].iloc[0]]
    for role in WHOLE_CORE:
        rows = table[table["role"] == role]
        if len(rows):
            return rows[rows["ablation"] == rows["ablation"].iloc[0]]
    raise CannotSay("no core head was ablated")


def _group(rows: pd.DataFrame, group: str) -> pd.Series:
    here = rows[rows["subset"].isna() & (rows["group"] == group)].dropna(subset="change")
    return some(here, f"{group} accuracy of ablation {rows['ablation'].iloc[0]}").iloc[0]


def _entailment(rows: pd.DataFrame) -> str:
    here = rows[rows["subset"].isna() & (rows["group"] == ENTAILMENT)]
    return f", entailment class {here['change'].iloc[0]:+.1f}" if len(here) else ""


STATISTICS = {
    f.__name__: f
    for f in (
        shared_heads, ood_minus_id_drop, against_controls, interaction, lowest_interaction, repeated_word_attention,
    )
}  # fmt: skip
