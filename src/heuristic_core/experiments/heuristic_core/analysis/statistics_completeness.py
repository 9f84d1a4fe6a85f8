"""Statistics of claims about the stable core, and about what the core does alone."""

import pandas as pd

from heuristic_core.analysis.estimates import CannotSay, DoesNotApply, Estimate, TooFew, statistic
from heuristic_core.analysis.randomisation import tails
from heuristic_core.experiments.heuristic_core.analysis.accuracy import LABELS, J
from heuristic_core.experiments.heuristic_core.analysis.completeness_sets import (
    ALL_BUT_CORE,
    EVERY_HEAD,
    NAMES,
    STABLE,
    control_role,
)
from heuristic_core.experiments.heuristic_core.analysis.evidence import Evidence
from heuristic_core.experiments.heuristic_core.analysis.joint_ablation import on_group


@statistic
def stable_head_count(evidence: Evidence) -> Estimate:
    """p of at least as many stable heads, heads permuted within layers; opposite: of at most as many."""
    row = _selection(evidence)
    detail = (
        f"{row['observed']} heads are kept by {row['least']} or more of {row['seeds']} seeds, {row['expected']:.2g} "
        f"expected, p = {row['p']:.2g}"
    )
    return Estimate.test(
        row["p"], row["p_fewer"], int(row["seeds"]), "pruning seeds", detail, 1 / (1 + int(row["permutations"]))
    )


@statistic
def stable_core_against_controls(evidence: Evidence, group: str) -> Estimate:
    """p that a random set of the same layers costs at least as much as the stable core; opposite: at most as much.

    group: "j" or "auc".
    """
    if _selection(evidence)["observed"] == 0:
        raise DoesNotApply("no head is in the stable core")
    heads = _head_flags(evidence, "in_stable_core")
    if heads.equals(_head_flags(evidence, "in_core")):
        raise DoesNotApply("the stable core is the core")
    if heads.all():
        raise DoesNotApply("all heads are in the stable core")
    stable, controls = _with_controls(evidence, STABLE, group)
    opposite, p = tails(controls["change"], stable["change"])
    detail = (
        f"{int(stable['size'])} heads {stable['change']:+.1f} points {LABELS[group]}; {len(controls)} random sets "
        f"{controls['change'].mean():+.1f} on average, {controls['change'].min():+.1f} at most, p = {p:.2g}"
    )
    return Estimate.test(p, opposite, len(controls), "random sets", detail, 1 / (1 + len(controls)))


@statistic
def core_alone(evidence: Evidence, group: str) -> Estimate:
    """p that random heads of the same layers alone reach at least the core's accuracy alone; opposite: at most.

    All other heads are ablated, and MLPs are not. Below chance all are alike: one constant class may be right more
    often than another one. group: "id", or "j" in points, whose chance is 0.
    """
    in_core = _head_flags(evidence, "in_core")
    if in_core.all() or not in_core.any():
        raise DoesNotApply(f"{'all heads are' if in_core.all() else 'no head is'} in the core")
    alone, controls = _with_controls(evidence, ALL_BUT_CORE, group)
    chance = 0.0 if group == J else evidence.chance()
    if chance is None:
        raise CannotSay("chance is not known in-domain")
    p, opposite = tails(controls["accuracy"].clip(lower=chance), max(alone["accuracy"], chance))
    none = on_group(_select_role(evidence, EVERY_HEAD), group)
    detail = (
        f"{LABELS[group]} {alone['accuracy']:.1f} of the core's heads alone, {none['accuracy']:.1f} of no head, "
        f"chance {chance:.1f}; "
        f"{len(controls)} random sets {controls['accuracy'].mean():.1f} on average, {controls['accuracy'].max():.1f} "
        f"at most, p = {p:.2g}"
    )
    return Estimate.test(p, opposite, len(controls), "random sets", detail, 1 / (1 + len(controls)))


def _selection(evidence: Evidence) -> pd.Series:
    """The row of table "stable_core". Raises TooFew where no share of the pruning seeds is beyond chance."""
    evidence.sound("mid", "high")
    row = evidence.table("stable_core").iloc[0]
    if pd.isna(row["least"]):
        raise TooFew(row["reason"])
    return row


def _head_flags(evidence: Evidence, column: str) -> pd.Series:
    """Whether each head is in the core, or in the stable core, bool by component index."""
    core = evidence.table("core")
    if column not in core or core[column].isna().all():  # the archive of an older version
        raise CannotSay(f"table core has no column {column}")
    heads = core[core["kind"] == "head"].set_index("component")[column]
    return heads.astype(bool).rename(None)


def _select_role(evidence: Evidence, role: str) -> pd.DataFrame:
    """The rows of ablations of one role, of the first kind of ablation. Raises CannotSay without any."""
    evidence.sound("mid", "high")
    table = evidence.table("ablations")
    rows = table[(table["kind"] == table["kind"].iloc[0]) & (table["role"] == role)]
    if rows.empty:
        raise CannotSay(f"{NAMES[role]} were not ablated together")
    return rows


def _with_controls(evidence: Evidence, role: str, group: str) -> tuple[pd.Series, pd.DataFrame]:
    """The row of the set of this role on a group, and the rows of its random sets."""
    row, table = on_group(_select_role(evidence, role), group), evidence.table("ablations")
    random = table[(table["kind"] == row["kind"]) & (table["role"] == control_role(role))]
    controls = random[random["subset"].isna() & (random["group"] == group)]
    if controls.empty:
        raise CannotSay(f"no random sets like {row['ablation']}: its layers have no other set of as many heads")
    return row, controls
