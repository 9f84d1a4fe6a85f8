"""Statistics for claims about the stable core, and about the model with only core heads."""

import pandas as pd

from heuristic_core.common.errors import format_count
from heuristic_core.experiments.subnetworks.analysis.accuracy import LABELS, J
from heuristic_core.experiments.subnetworks.analysis.completeness_sets import (
    ALL_BUT_CORE,
    ALL_BUT_STABLE,
    ALL_HEADS,
    SET_NAMES,
    STABLE_CORE,
    control_role,
)
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence
from heuristic_core.experiments.subnetworks.analysis.joint_ablation import select_group_row
from heuristic_core.experiments.subnetworks.analysis.statistics_heads import estimate_remaining
from heuristic_core.stats.estimates import DoesNotApply, Estimate, NotComputable, TooFewUnits, statistic
from heuristic_core.stats.randomisation import tail_p_values


@statistic
def stable_head_count(evidence: Evidence) -> Estimate:
    """Test whether more heads are stable than under permutation of heads within layers.

    Args:
        evidence: Tables of one fine-tuning run.

    Returns:
        p-value; the opposite p-value is for fewer stable heads.
    """
    row = _stable_core_row(evidence)
    detail = (
        f"{format_count(int(row['observed']), 'head')} kept by {row['least']} or more of {row['seeds']} seeds, "
        f"{row['expected']:.2g} expected"
    )
    return Estimate.test(
        row["p"], row["p_fewer"], int(row["seeds"]), "pruning seeds", detail, 1 / (1 + int(row["permutations"]))
    )


@statistic
def stable_core_against_controls(evidence: Evidence, group: str) -> Estimate:
    """Test whether ablating the stable core costs more than ablating random sets of heads in the same layers.

    Args:
        evidence: Tables of one fine-tuning run.
        group: "j" or "auc".

    Returns:
        p-value; the opposite p-value is for a smaller cost.

    Raises:
        DoesNotApply: If the stable core is empty, equals the core, or holds all heads.
    """
    _require_stable_core(evidence)
    stable_row, controls = _with_controls(evidence, STABLE_CORE, group)
    opposite, p = tail_p_values(controls["change"], stable_row["change"])
    detail = (
        f"{format_count(int(stable_row['size']), 'head')} {stable_row['change']:+z.1f} points {LABELS[group]}; "
        f"{len(controls)} random sets {controls['change'].mean():+z.1f} on average, "
        f"{controls['change'].min():+z.1f} at most"
    )
    return Estimate.test(p, opposite, len(controls), "random sets", detail, 1 / (1 + len(controls)))


@statistic
def stable_core_remaining(evidence: Evidence, group: str) -> Estimate:
    """Estimate accuracy on a group with the stable core ablated.

    Args:
        evidence: Tables of one fine-tuning run.
        group: Group of subsets, or J.

    Returns:
        Accuracy in percent (J: points), with the ablated model's interval over the templates or pairs of its subsets.

    Raises:
        DoesNotApply: If the stable core is empty, equals the core, or holds all heads.
    """
    _require_stable_core(evidence)
    return estimate_remaining(select_group_row(_select_role(evidence, STABLE_CORE), group))


@statistic
def stable_core_alone(evidence: Evidence, group: str) -> Estimate:
    """Test the model with only the stable core's heads, as :func:`core_alone` does with the core's.

    Args:
        evidence: Tables of one fine-tuning run.
        group: "id" (percent), or "j" (points; chance is 0).

    Returns:
        p-value; the opposite p-value is for lower accuracy.

    Raises:
        DoesNotApply: If the stable core is empty, equals the core, or holds all heads.
        NotComputable: If in-domain chance is not recorded.
    """
    _require_stable_core(evidence)
    return _compare_alone(evidence, ALL_BUT_STABLE, group)


@statistic
def core_alone(evidence: Evidence, group: str) -> Estimate:
    """Test whether the model with only core heads is more accurate than with only random heads of the same layers.

    All other heads are ablated; MLPs are kept. Accuracies below chance are set to chance, because it is irrelevant
    which constant class is correct more often.

    Args:
        evidence: Tables of one fine-tuning run.
        group: "id" (percent), or "j" (points; chance is 0).

    Returns:
        p-value; the opposite p-value is for lower accuracy.

    Raises:
        DoesNotApply: If no head or all heads are in the core.
        NotComputable: If in-domain chance is not recorded.
    """
    in_core = _head_flags(evidence, "in_core")
    if in_core.all() or not in_core.any():
        raise DoesNotApply(f"{'all heads are' if in_core.all() else 'no head is'} in the core")
    return _compare_alone(evidence, ALL_BUT_CORE, group)


def _compare_alone(evidence: Evidence, role: str, group: str) -> Estimate:
    """Compare the model with only the heads that a role keeps with those that keep random heads; see `core_alone`."""
    core_row, controls = _with_controls(evidence, role, group)
    chance = 0.0 if group == J else evidence.chance()
    if chance is None:
        raise NotComputable("chance is not known in-domain")
    p, opposite = tail_p_values(controls["accuracy"].clip(lower=chance), max(core_row["accuracy"], chance))
    without_heads = select_group_row(_select_role(evidence, ALL_HEADS), group)
    detail = (
        f"{LABELS[group]} {core_row['accuracy']:z.1f} of these heads alone, "
        f"{without_heads['accuracy']:z.1f} of no head, chance {chance:.1f}; "
        f"{len(controls)} random sets {controls['accuracy'].mean():z.1f} on average, {controls['accuracy'].max():z.1f} "
        "at most"
    )
    return Estimate.test(p, opposite, len(controls), "random sets", detail, 1 / (1 + len(controls)))


def _require_stable_core(evidence: Evidence) -> None:
    """Raise DoesNotApply if the stable core is empty, equals the core, or holds all heads."""
    if _stable_core_row(evidence)["observed"] == 0:
        raise DoesNotApply("no head is in the stable core")
    heads = _head_flags(evidence, "in_stable_core")
    if heads.equals(_head_flags(evidence, "in_core")):
        raise DoesNotApply("the stable core is the core")
    if heads.all():
        raise DoesNotApply("all heads are in the stable core")


def _stable_core_row(evidence: Evidence) -> pd.Series:
    """Return the row of table "stable_core"; raise TooFewUnits if no share of seeds can exceed chance."""
    evidence.require_sound("mid", "high")
    row = evidence.table("stable_core").iloc[0]
    if pd.isna(row["least"]):
        raise TooFewUnits(row["reason"])
    return row


def _head_flags(evidence: Evidence, column: str) -> pd.Series:
    """Return column "in_core" or "in_stable_core" of table "core" for heads, bool by component index."""
    core = evidence.table("core")
    if column not in core or core[column].isna().all():  # archives of older versions
        raise NotComputable(f"table core has no column {column}")
    heads = core[core["kind"] == "head"].set_index("component")[column]
    return heads.astype(bool).rename(None)


def _select_role(evidence: Evidence, role: str) -> pd.DataFrame:
    """Select the ablations with a role, of the first kind of ablation; raise NotComputable if there are none."""
    evidence.require_sound("mid", "high")
    table = evidence.table("ablations")
    rows = table[(table["kind"] == table["kind"].iloc[0]) & (table["role"] == role)]
    if rows.empty:
        raise NotComputable(f"{SET_NAMES[role]} were not ablated together")
    return rows


def _with_controls(evidence: Evidence, role: str, group: str) -> tuple[pd.Series, pd.DataFrame]:
    """Return the row of the set with a role on a group, and the rows of its random sets."""
    row, table = select_group_row(_select_role(evidence, role), group), evidence.table("ablations")
    random = table[(table["kind"] == row["kind"]) & (table["role"] == control_role(role))]
    controls = random[random["subset"].isna() & (random["group"] == group)]
    if controls.empty:
        raise NotComputable(f"no random sets like {row['ablation']}: its layers have no other set of as many heads")
    return row, controls
