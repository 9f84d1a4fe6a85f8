"""Statistics for claims about ablating the whole core: its cost, its specificity, and its interaction."""

import numpy as np
import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.accuracy import ID, LABELS, MIN_VALUES, J
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence, require_rows
from heuristic_core.experiments.subnetworks.analysis.joint_ablation import (
    get_full_accuracy,
    limit_cost,
    select_controls,
    select_group_row,
    select_joint_ablation,
    select_joint_ablations,
)
from heuristic_core.experiments.subnetworks.analysis.statistics_accuracy import list_interval_units
from heuristic_core.stats.bootstrap import difference_interval
from heuristic_core.stats.estimates import DoesNotApply, Estimate, NotComputable, statistic
from heuristic_core.stats.randomisation import tail_p_values

EXAMPLE_UNITS = "examples, drawn by template where a subset has several"
CHANGE_COLUMNS = ["change", "change_low", "change_high"]


@statistic
def share_lost_beyond_the_task(evidence: Evidence) -> Estimate:
    """Estimate the share of J minus the share of ID accuracy above chance lost by ablating the core, percentage points.

    Each loss is a share of the full model's value on the same pairs, which is treated as known. Losses in points would
    not be comparable, because J can lose 200 points. J and ID accuracy above chance are both 0 for a constant class.
    The two use independent evaluation pairs.

    Most random sets of heads also lose more of J; :func:`share_lost_against_controls` compares the core with them.

    Args:
        evidence: Tables of one fine-tuning run.

    Returns:
        Difference of the two losses with an interval over evaluation pairs.

    Raises:
        DoesNotApply: If the full model's J or ID accuracy above chance is not above 0.
    """
    rows = select_joint_ablation(evidence)
    j, id_ = (select_group_row(rows, group) for group in (J, ID))
    full_j, full_id = _full_above_chance(evidence, j, id_)
    lost_j, lost_id = (-100 * row[CHANGE_COLUMNS].astype(float) / full for row, full in ((j, full_j), (id_, full_id)))
    detail = (
        f"{j['ablation']}: J {j['change']:+z.1f} of {full_j:.1f} points ({lost_j['change']:.0f} %), ID "
        f"{id_['change']:+z.1f} of {full_id:.1f} above chance ({lost_id['change']:.0f} %)"
    )
    intervals = [(lost["change"], lost["change_high"], lost["change_low"]) for lost in (lost_id, lost_j)]
    low, high = difference_interval(*intervals)
    n = None if pd.isna(low) else int(j["n"] + id_["n"])
    value, unit = lost_j["change"] - lost_id["change"], EXAMPLE_UNITS if n else None
    return Estimate.over_pairs(value, low, high, n, unit, detail)


@statistic
def share_lost_against_controls(evidence: Evidence) -> Estimate:
    """Test whether the core loses more of J, relative to its loss of ID accuracy, than random sets of heads.

    Losses are the shares of :func:`share_lost_beyond_the_task`. Random sets are those of :func:`against_controls`.

    Args:
        evidence: Tables of one fine-tuning run.

    Returns:
        p-value; the opposite p-value is for a smaller difference.

    Raises:
        DoesNotApply: If the full model's J or ID accuracy above chance is not above 0.
    """
    rows = select_joint_ablation(evidence)
    j, id_ = (select_group_row(rows, group) for group in (J, ID))
    full_j, full_id = _full_above_chance(evidence, j, id_)
    controls = select_controls(evidence.table("ablations"), j)
    controls = controls[controls["subset"].isna() & controls["group"].isin([J, ID])]
    changes = controls.pivot(index="ablation", columns="group", values="change").reindex(columns=[J, ID]).dropna()
    require_rows(changes, f"random sets like {j['ablation']} with J and ID accuracy")
    differences = -100 * (changes[J] / full_j - changes[ID] / full_id)
    core_difference = -100 * (j["change"] / full_j - id_["change"] / full_id)
    p, opposite = tail_p_values(differences, core_difference)
    detail = (
        f"{j['ablation']} loses {core_difference:+z.0f} percentage points more of J than of ID; {len(differences)} "
        f"random sets {differences.mean():+z.0f} on average, {differences.max():+z.0f} at most, "
        f"{(differences > 0).sum()} of them more of J"
    )
    return Estimate.test(p, opposite, len(differences), "random sets", detail, 1 / (1 + len(differences)))


@statistic
def remaining_accuracy(evidence: Evidence, group: str) -> Estimate:
    """Estimate accuracy on a group with the whole core ablated.

    Args:
        evidence: Tables of one fine-tuning run.
        group: Group of subsets, or J.

    Returns:
        Accuracy in percent (J: points), with the ablated model's interval over the templates or pairs of its subsets.

    Raises:
        NotComputable: If table "ablations" has no intervals of accuracy, as in archives of older versions.
    """
    return estimate_remaining(select_group_row(select_joint_ablation(evidence), group))


def estimate_remaining(row: pd.Series) -> Estimate:
    """Estimate the accuracy that an ablation leaves.

    Args:
        row: Row of table "ablations" about a group.

    Raises:
        NotComputable: If table "ablations" has no intervals of accuracy, as in archives of older versions.
    """
    group = row["group"]
    if "units" not in row:  # archives of older versions
        raise NotComputable("table ablations has no intervals of accuracy")
    n, unit = list_interval_units(row.to_frame().T)
    detail = f"{row['ablation']}: {LABELS[group]} from {get_full_accuracy(row):z.1f} to {row['accuracy']:z.1f}"
    limits = {"minimum": MIN_VALUES.get(group, 0), "maximum": 100}
    return Estimate.over_pairs(row["accuracy"], row["low"], row["high"], n, unit, detail, **limits)


@statistic
def against_controls(evidence: Evidence, group: str) -> Estimate:
    """Test whether ablating the whole core costs more J (or AUC) than ablating random sets of heads in the same layers.

    Args:
        evidence: Tables of one fine-tuning run.
        group: "j" or "auc".

    Returns:
        p-value; the opposite p-value is for a smaller cost.

    Raises:
        NotComputable: If no random sets were ablated.
    """
    joint = select_group_row(select_joint_ablation(evidence), group)
    table = evidence.table("ablations")
    matching = select_controls(table, joint)
    controls = matching[matching["subset"].isna() & (matching["group"] == group)]["change"]
    if joint["size"] > 1 and not (table["role"] == "control").any():
        raise NotComputable("no random sets of heads were ablated")
    require_rows(controls, f"random sets like {joint['ablation']}: its layers have no other set of as many heads")
    opposite, p = tail_p_values(controls, joint["change"])
    detail = (
        f"{joint['ablation']} {joint['change']:+z.1f} points {LABELS[group]}; {len(controls)} random sets "
        f"{controls.mean():+z.1f} on average, {controls.min():+z.1f} at most (analysis.control_draws)"
    )
    return Estimate.test(p, opposite, len(controls), "random sets", detail, 1 / (1 + len(controls)))


@statistic
def least_cost(evidence: Evidence, group: str) -> Estimate:
    """Estimate the cost of ablating the whole core on a group, in points, in the kind where it is smallest.

    The core has a cost in every kind of ablation if the smallest is above 0. The lower end of the interval is
    therefore the lowest over all kinds.

    Args:
        evidence: Tables of one fine-tuning run.
        group: Group of subsets or measure.

    Raises:
        DoesNotApply: If heads are ablated in only one kind.
    """
    rows = {kind: select_group_row(ablations, group) for kind, ablations in select_joint_ablations(evidence).items()}
    if len(rows) < 2:
        raise DoesNotApply(f"heads are ablated in one kind alone, {next(iter(rows))} (analysis.ablation_kinds)")
    cheapest = max(rows.values(), key=lambda row: row["change"])
    n = None if pd.isna(cheapest["n"]) else int(cheapest["n"])
    changes = ", ".join(f"{kind} {row['change']:+z.1f}" for kind, row in rows.items())
    detail = f"{cheapest['ablation']}: {changes} points {LABELS[group]}"
    low = np.min([-row["change_high"] for row in rows.values()])  # NaN if a kind has no interval
    limits = limit_cost(group)
    return Estimate.over_pairs(-cheapest["change"], low, -cheapest["change_low"], n, EXAMPLE_UNITS, detail, **limits)


@statistic
def interaction(evidence: Evidence, of: str, group: str) -> Estimate:
    """Estimate the drop from ablating the whole core minus the sum of the drops from ablating each of its heads.

    Args:
        evidence: Tables of one fine-tuning run.
        of: "accuracy" (points, also of J or AUC) or "log_odds" (nats).
        group: Group of subsets or measure.

    Raises:
        DoesNotApply: If the core has only one head, or if the drops of its heads add up to all that the full model has
            (accuracy and J above 0), so that together they cannot cost more.
        NotComputable: If the interaction is missing.
    """
    row = select_group_row(select_joint_ablation(evidence), group)
    if row["size"] < 2:
        raise DoesNotApply(f"the core has one head only, {row['ablation']}")
    column = "interaction" if of == "accuracy" else "log_odds_interaction"
    if pd.isna(row[column]):
        raise NotComputable(f"no interaction in {of} of {row['ablation']}")
    one_by_one, full = -row["change"] - row["interaction"], get_full_accuracy(row)
    if of == "accuracy" and one_by_one >= full:
        raise DoesNotApply(
            f"ablated one by one, the heads of {row['ablation']} cost {one_by_one:.1f} points of {LABELS[group]}, and "
            f"the full model has {full:.1f}"
        )
    n = None if pd.isna(row["n"]) else int(row["n"])
    detail = f"{row['ablation']}: {row['change']:+z.1f} points {LABELS[group]} together"
    return Estimate.over_pairs(row[column], row[f"{column}_low"], row[f"{column}_high"], n, EXAMPLE_UNITS, detail)


def _full_above_chance(evidence: Evidence, j: pd.Series, id_: pd.Series) -> tuple[float, float]:
    """Return the full model's J and ID accuracy above chance on the pairs of two rows of an ablation, points.

    Raises:
        DoesNotApply: If either is not above 0.
    """
    full_j, full_id = get_full_accuracy(j), evidence.above_chance(get_full_accuracy(id_))
    if round(min(full_j, full_id), 3) <= 0:  # sums of single-precision accuracies are not exactly 0
        raise DoesNotApply(
            f"the full model has {full_j:z.1f} points of J, and {full_id:z.1f} of ID accuracy above chance"
        )
    return full_j, full_id
