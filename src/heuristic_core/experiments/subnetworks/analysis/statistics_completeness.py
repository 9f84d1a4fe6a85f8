"""Statistics of claims about the stable core, and about the core without other heads."""

import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.accuracy import LABELS, J
from heuristic_core.experiments.subnetworks.analysis.completeness_sets import (
    ALL_BUT_CORE,
    ALL_HEADS,
    SET_NAMES,
    STABLE_CORE,
    control_role,
)
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence
from heuristic_core.experiments.subnetworks.analysis.joint_ablation import select_group_row
from heuristic_core.stats.estimates import DoesNotApply, Estimate, NotComputable, TooFewUnits, statistic
from heuristic_core.stats.randomisation import tail_p_values


@statistic
def stable_head_count(evidence: Evidence) -> Estimate:
    """Test whether more heads are stable than if heads are permuted within layers; opposite: fewer."""
    row = _stable_core_row(evidence)
    detail = (
        f"{row['observed']} heads are kept by {row['least']} or more of {row['seeds']} seeds, {row['expected']:.2g} "
        f"expected, p = {row['p']:.2g}"
    )
    return Estimate.test(
        row["p"], row["p_fewer"], int(row["seeds"]), "pruning seeds", detail, 1 / (1 + int(row["permutations"]))
    )


@statistic
def stable_core_against_controls(evidence: Evidence, group: str) -> Estimate:
    """Test whether the stable core costs more than random sets of the same layers; opposite: less.

    Args:
        evidence: Tables of one run.
        group: "j" or "auc".
    """
    if _stable_core_row(evidence)["observed"] == 0:
        raise DoesNotApply("no head is in the stable core")
    heads = _head_flags(evidence, "in_stable_core")
    if heads.equals(_head_flags(evidence, "in_core")):
        raise DoesNotApply("the stable core is the core")
    if heads.all():
        raise DoesNotApply("all heads are in the stable core")
    stable_row, controls = _with_controls(evidence, STABLE_CORE, group)
    opposite, p = tail_p_values(controls["change"], stable_row["change"])
    detail = (
        f"{int(stable_row['size'])} heads {stable_row['change']:+.1f} points {LABELS[group]}; "
        f"{len(controls)} random sets {controls['change'].mean():+.1f} on average, "
        f"{controls['change'].min():+.1f} at most, p = {p:.2g}"
    )
    return Estimate.test(p, opposite, len(controls), "random sets", detail, 1 / (1 + len(controls)))


@statistic
def core_alone(evidence: Evidence, group: str) -> Estimate:
    """Test whether the core alone is more accurate than random heads of the same layers alone; opposite: less.

    All other heads are ablated, MLPs are not. Accuracies below chance count as chance: which constant class is right
    more often is irrelevant.

    Args:
        evidence: Tables of one run.
        group: "id", or "j" in points, whose chance is 0.
    """
    in_core = _head_flags(evidence, "in_core")
    if in_core.all() or not in_core.any():
        raise DoesNotApply(f"{'all heads are' if in_core.all() else 'no head is'} in the core")
    core_row, controls = _with_controls(evidence, ALL_BUT_CORE, group)
    chance = 0.0 if group == J else evidence.chance()
    if chance is None:
        raise NotComputable("chance is not known in-domain")
    p, opposite = tail_p_values(controls["accuracy"].clip(lower=chance), max(core_row["accuracy"], chance))
    without_heads = select_group_row(_select_role(evidence, ALL_HEADS), group)
    detail = (
        f"{LABELS[group]} {core_row['accuracy']:.1f} of the core's heads alone, "
        f"{without_heads['accuracy']:.1f} of no head, chance {chance:.1f}; "
        f"{len(controls)} random sets {controls['accuracy'].mean():.1f} on average, {controls['accuracy'].max():.1f} "
        f"at most, p = {p:.2g}"
    )
    return Estimate.test(p, opposite, len(controls), "random sets", detail, 1 / (1 + len(controls)))


def _stable_core_row(evidence: Evidence) -> pd.Series:
    """Return the row of table "stable_core". Raises TooFewUnits if no share of the pruning seeds is beyond chance."""
    evidence.require_sound("mid", "high")
    row = evidence.table("stable_core").iloc[0]
    if pd.isna(row["least"]):
        raise TooFewUnits(row["reason"])
    return row


def _head_flags(evidence: Evidence, column: str) -> pd.Series:
    """Return whether each head is in the core or the stable core, bool by component index."""
    core = evidence.table("core")
    if column not in core or core[column].isna().all():  # archives of older versions
        raise NotComputable(f"table core has no column {column}")
    heads = core[core["kind"] == "head"].set_index("component")[column]
    return heads.astype(bool).rename(None)


def _select_role(evidence: Evidence, role: str) -> pd.DataFrame:
    """Select the ablations with one role, of the first kind of ablation. Raises NotComputable without any."""
    evidence.require_sound("mid", "high")
    table = evidence.table("ablations")
    rows = table[(table["kind"] == table["kind"].iloc[0]) & (table["role"] == role)]
    if rows.empty:
        raise NotComputable(f"{SET_NAMES[role]} were not ablated together")
    return rows


def _with_controls(evidence: Evidence, role: str, group: str) -> tuple[pd.Series, pd.DataFrame]:
    """Return the row of the set with this role on a group, and the rows of its random sets."""
    row, table = select_group_row(_select_role(evidence, role), group), evidence.table("ablations")
    random = table[(table["kind"] == row["kind"]) & (table["role"] == control_role(role))]
    controls = random[random["subset"].isna() & (random["group"] == group)]
    if controls.empty:
        raise NotComputable(f"no random sets like {row['ablation']}: its layers have no other set of as many heads")
    return row, controls
