"""Statistics for claims about the accuracy of the full model and of subnetworks, learned or control."""

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from heuristic_core.common.draws import numpy_generator
from heuristic_core.common.errors import format_count
from heuristic_core.experiments.subnetworks.analysis.accuracy import LABELS, MIN_VALUES, compute_mean_interval
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence, require_rows
from heuristic_core.stats.estimates import DoesNotApply, Estimate, NotComputable, TooFewUnits, statistic
from heuristic_core.stats.randomisation import PERMUTATIONS, tail_p_values
from heuristic_core.stats.seeds import PRUNING_SEEDS

# Required from saturation on: evaluations, and share of the training steps. With less, a model that is still learning
# would look saturated, because the best value of a steady rise is its last.
MIN_PLATEAU, MIN_PLATEAU_SHARE = 3, 1 / 3


@statistic
def ood_at_saturation(evidence: Evidence, share: float) -> Estimate:
    """Estimate OOD accuracy, in percent, at the step where ID accuracy saturates.

    ID accuracy is saturated from the first evaluation after which ID accuracy above chance never falls below `share`
    of its best value. At least `MIN_PLATEAU` evaluations, over at least `MIN_PLATEAU_SHARE` of the steps, must follow.
    This step tends to be late, since noisy values are compared with the highest of them. The interval therefore extends
    down to OOD accuracy from the earliest step that the intervals of ID accuracy allow.

    Args:
        evidence: Tables of one fine-tuning run.
        share: Share of the best ID accuracy above chance, 0 to 1.

    Returns:
        OOD accuracy at saturation with a bootstrap interval.

    Raises:
        NotComputable: If no ID or no OOD subset was evaluated during fine-tuning.
        TooFewUnits: If there are fewer than `MIN_PLATEAU` evaluations.
        DoesNotApply: If ID accuracy saturates too late, or never.
    """
    evidence.require_learned()
    rows = evidence.table("finetune_accuracy")
    rows = evidence.select_analysed(rows[rows["subset"].notna()])
    curve = evidence.average_by_step(rows)
    if missing := {"id", "ood"} - set(curve):
        raise NotComputable(f"no {' and no '.join(sorted(missing))} subset was evaluated over fine-tuning")
    curve = require_rows(curve.dropna(subset=["id", "ood"]), "evaluation of the full model over fine-tuning")
    if len(curve) < MIN_PLATEAU:
        raise TooFewUnits(
            f"{format_count(len(curve), 'evaluation')} over fine-tuning; saturation requires {MIN_PLATEAU}"
        )
    saturated = evidence.share_of_best(curve["id"], share)
    highest = rows[rows["group"] == "id"].groupby("step").apply(lambda at: compute_mean_interval(at)[1])
    earliest, first = (
        _first_above(ends, saturated) for ends in (highest[curve.index].fillna(curve["id"]), curve["id"])
    )
    steps = curve.index[first:]
    if len(steps) < MIN_PLATEAU or steps[-1] - steps[0] < MIN_PLATEAU_SHARE * steps[-1]:
        raise DoesNotApply(
            f"ID accuracy is at {100 * share:g} % of its best in the last {len(steps)} of {len(curve)} evaluations; "
            f"saturation requires {MIN_PLATEAU} evaluations and a third of the steps"
        )
    step = steps[0]
    at, by_step = curve.loc[step], dict(list(rows[rows["group"] == "ood"].groupby("step")))
    ood = by_step[step]
    low = min(compute_mean_interval(by_step[k])[0] for k in curve.index[earliest : first + 1])
    high = compute_mean_interval(ood)[1]
    entailment = f", entailment class {at['ood-entailment']:.1f} %" if "ood-entailment" in at else ""
    detail = f"at step {step}: ID {at['id']:.1f} % (best {curve['id'].max():.1f}), OOD {at['ood']:.1f} %{entailment}"
    return Estimate.over_pairs(at["ood"], low, high, *list_interval_units(ood), detail, minimum=0, maximum=100)


def _first_above(values: pd.Series, threshold: float) -> int:
    """Return the position of the first value from which on none is below a threshold."""
    below = np.flatnonzero(values < threshold)
    return int(below[-1]) + 1 if len(below) else 0


@statistic
def full_accuracy(evidence: Evidence, group: str) -> Estimate:
    """Estimate the full model's accuracy on a group at the last checkpoint.

    Args:
        evidence: Tables of one fine-tuning run.
        group: Group of subsets, or J.

    Returns:
        Accuracy in percent (J: points) with a bootstrap interval.
    """
    evidence.require_learned()
    row = evidence.full(group)
    n, unit = list_interval_units(row.to_frame().T)
    lower_bound = MIN_VALUES.get(row["group"], 0)
    detail = f"{LABELS[row['group']]} at step {evidence.context.last}"
    return Estimate.over_pairs(
        row["accuracy"], row["low"], row["high"], n, unit, detail, minimum=lower_bound, maximum=100
    )


@statistic
def sparsity_correlation(evidence: Evidence, group: str, sparsity: str) -> Estimate:
    """Test whether actual sparsity and accuracy on a group are correlated over pruning seeds.

    The test is a two-sided permutation test of Spearman's rho.

    Args:
        evidence: Tables of one fine-tuning run.
        group: Group of subsets, or J.
        sparsity: Target sparsity of the subnetworks, "mid" or "high".

    Returns:
        p-value.

    Raises:
        TooFewUnits: If there are fewer than two subnetworks.
        DoesNotApply: If all subnetworks have the same actual sparsity or the same accuracy.
    """
    source = "actual_sparsity" if "actual_sparsity" in evidence.tables else "components"
    actual = evidence.cell(source, sparsity)[["seed", "actual_sparsity"]].drop_duplicates()
    rows = evidence.spread("group_accuracy", group, sparsity).merge(actual, on="seed")
    n = _count_values(rows["accuracy"])
    if rows["actual_sparsity"].nunique() == 1:
        raise DoesNotApply(
            f"all keep the same number of components: {100 * rows['actual_sparsity'].iloc[0]:.1f} % sparse"
        )
    if rows["accuracy"].nunique() == 1:
        raise DoesNotApply(f"all have the same {group} accuracy, {rows['accuracy'].iloc[0]:.1f} %")
    sparsity_ranks, accuracy_ranks = rankdata(rows["actual_sparsity"]), rankdata(rows["accuracy"])
    permuted = numpy_generator("sparsity correlation", group).permuted(
        np.tile(accuracy_ranks, (PERMUTATIONS, 1)), axis=1
    )
    rho, null = (
        np.corrcoef(sparsity_ranks, accuracy_ranks)[0, 1],
        np.array([np.corrcoef(sparsity_ranks, draw)[0, 1] for draw in permuted]),
    )
    p, _ = tail_p_values(np.abs(null), abs(rho))
    between = f"{100 * rows['actual_sparsity'].min():.1f} to {100 * rows['actual_sparsity'].max():.1f} %"
    detail = f"rho {rho:z.2f}, actual sparsity {between}"
    return Estimate.test(p, None, n, PRUNING_SEEDS, detail)


def list_interval_units(rows: pd.DataFrame) -> tuple[int | None, str | None]:
    """Return the number and the name of the units that bootstrap intervals resample.

    Args:
        rows: Rows with columns units and unit.

    Returns:
        Total number of units and their name in the plural; both None if any row has no interval.
    """
    if rows["units"].isna().any():
        return None, None
    plurals = {
        "example": "examples", "example of one template": "examples of one template", "template": "templates",
    }  # fmt: skip
    units = {unit for units in rows["unit"].unique() for unit in units.split(" or ")}
    return int(rows["units"].sum()), " or ".join(plurals[unit] for unit in sorted(units))


def _count_values(values) -> int:
    """Return the number of values; raise TooFewUnits if there are fewer than two."""
    if len(values) < 2:
        raise TooFewUnits(f"only {len(values)} subnetworks")
    return len(values)
