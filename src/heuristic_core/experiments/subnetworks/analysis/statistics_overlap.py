"""Statistics for claims about overlap heads.

Overlap heads attend to the repeated word before fine-tuning. Lesions fine-tune the model without them.
"""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.accuracy import MIN_VALUES
from heuristic_core.experiments.subnetworks.analysis.core import count_common_heads
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence, require_rows
from heuristic_core.experiments.subnetworks.config.lesion import OVERLAP
from heuristic_core.stats.estimates import DoesNotApply, Estimate, FailedRuns, NotComputable, statistic
from heuristic_core.stats.seeds import CONFIDENCE_LEVEL

LESION_UNITS = "random lesions"
MIN_LESIONS = round(2 / (1 - CONFIDENCE_LEVEL)) - 1


@statistic
def overlap_core(evidence: Evidence) -> Estimate:
    """Test whether core heads are overlap heads more often than by chance.

    The test is hypergeometric within layers.

    Args:
        evidence: Tables of one fine-tuning run.

    Returns:
        p-value; the opposite p-value is for less often.

    Raises:
        DoesNotApply: If no head or every head is an overlap head.
    """
    evidence.require_sound("mid", "high")
    overlap_table = evidence.table("overlap_heads").set_index("component")
    heads = evidence.table("core").set_index("component").loc[overlap_table.index]
    overlap, in_core = overlap_table["overlap"].astype(bool), heads["in_core"].astype(bool)
    require_rows(heads[in_core], "core head")
    if overlap.all() or not overlap.any():
        raise DoesNotApply(f"{'every' if overlap.all() else 'no'} head attends to the repeated word before fine-tuning")
    common = count_common_heads(overlap_table["layer"], in_core, overlap)
    detail = (
        f"{common.observed} of {in_core.sum()} core heads attend to the repeated word before fine-tuning, as "
        f"{overlap.sum()} of all {len(overlap)} heads do; {common.expected:.2g} expected"
    )
    set_counts = [math.comb(len(layer), int(layer.sum())) for _, layer in in_core.groupby(overlap_table["layer"])]
    return Estimate.test(common.p, common.p_fewer, int(in_core.sum()), "core heads", detail, 1 / math.prod(set_counts))


@statistic
def lesion_cost(evidence: Evidence, group: str, share: float) -> Estimate:
    """Estimate final accuracy on a group without overlap heads minus without random heads, in points.

    Accuracy is measured at the last step. OOD accuracy and J are compared only if all models learned the task, that is,
    if ID accuracy reached the threshold of :meth:`.Evidence.share_of_best` for the unlesioned model: a model that
    rejects every pair is correct on all OOD pairs.

    Args:
        evidence: Tables of one fine-tuning run.
        group: Group of subsets, or J.
        share: Share of the unlesioned model's best ID accuracy above chance, 0 to 1.

    Returns:
        Difference from random lesions with its interval, see :func:`_compare_with_controls`.

    Raises:
        NotComputable: If the group was not evaluated during fine-tuning.
        FailedRuns: If a model did not learn the task and the group is not "id".
    """
    curves = _curves(evidence)
    last = {name: curve.iloc[-1] for name, curve in curves.items()}
    values = "; ".join(
        f"{label} " + "/".join(f"{row[column]:.1f}" if column in row else "unknown" for row in last.values())
        for label, column in (("ID", "id"), ("OOD", "ood"), ("entailment", "ood-entailment"), ("J", "j"))
    )
    detail = f"with all heads/without {_describe_lesion(evidence, curves)}/without random heads: {values} %"
    if any(group not in curve for curve in curves.values()):
        raise NotComputable(f"no {group} subset was evaluated over fine-tuning")
    if group != "id" and (
        failed := [name for name, step in _learning_steps(evidence, curves, share).items() if step is None]
    ):
        raise FailedRuns(f"the task is not learned in run {', '.join(failed)}; {detail}")
    _, lesioned, *controls = (row[group] for row in last.values())
    upper_bound = 100 - MIN_VALUES.get(group, 0)
    return Estimate(
        *_compare_with_controls(lesioned, controls),
        len(controls),
        LESION_UNITS,
        detail,
        minimum=-upper_bound,
        maximum=upper_bound,
    )


@statistic
def lesion_delay(evidence: Evidence, share: float) -> Estimate:
    """Estimate how many steps later J rises without overlap heads than without random heads.

    The step compared is the first at which J reaches half of the unlesioned model's last J. The search starts where ID
    accuracy reaches the threshold of :meth:`.Evidence.share_of_best` for the unlesioned model. A model that never
    reaches half is counted at the last step, which is a lower bound of its delay.

    Args:
        evidence: Tables of one fine-tuning run.
        share: Share of the unlesioned model's best ID accuracy above chance, 0 to 1.

    Returns:
        Delay in steps with its interval, see :func:`_compare_with_controls`; no interval if a random lesion never
        reaches half.

    Raises:
        NotComputable: If J was not evaluated during fine-tuning.
        DoesNotApply: If the unlesioned model ends without J above 0, or no lesioned model reaches half.
    """
    curves = _curves(evidence)
    learning_steps, unlesioned = _learning_steps(evidence, curves, share), curves["none"]
    if "j" not in unlesioned:
        raise NotComputable("no J was evaluated over fine-tuning")
    if not (half := unlesioned["j"].iloc[-1] / 2) > 0:
        raise DoesNotApply("the unlesioned model ends without J above 0")
    half_steps = {name: _first_step(curve, half, learning_steps[name]) for name, curve in curves.items()}
    lesioned, *others = (half_steps[name] for name in curves if name != "none")
    if lesioned is None and all(step is None for step in others):
        raise DoesNotApply(f"no lesioned model reaches {half:.1f} points of J, half of the unlesioned model's")
    last = int(unlesioned.index[-1])
    counted_steps = [last if step is None else step for step in (lesioned, *others)]
    labels = [f"never (counted as {last})" if step is None else str(step) for step in (lesioned, *others)]
    detail = (
        f"half is {half:.1f} points of J; reached at step {labels[0]} without {_describe_lesion(evidence, curves)}, "
        f"{', '.join(labels[1:])} without random heads, {half_steps['none']} with all"
    )
    value, low, high = _compare_with_controls(counted_steps[0], counted_steps[1:])
    if None in others:
        low = high = None
    return Estimate(value, low, high, len(others), LESION_UNITS, detail)


def _curves(evidence: Evidence) -> dict[str, pd.DataFrame]:
    """Return mean accuracy over fine-tuning, percent, [steps, groups], by model.

    The models are, in order, "none" (no lesion), without overlap heads, and without random heads.

    Raises:
        NotComputable: If no model was fine-tuned without overlap or random heads, or evaluated out of domain.
    """
    if evidence.tables.get("lesions") is None:
        raise NotComputable("nothing was fine-tuned without heads; set lesion, as config/lesion/overlap.yaml does")
    lesions, rows = evidence.table("lesions").set_index("lesion"), evidence.tables.get("lesion_accuracy")
    if rows is None:
        raise NotComputable("the study has no table lesion_accuracy")
    trained = [name for name in lesions.index if name in set(rows["lesion"])]
    if OVERLAP not in trained or len(trained) < 2:
        missing = OVERLAP if OVERLAP not in trained else lesions.index[lesions.index != OVERLAP][0]
        raise NotComputable(f"nothing was fine-tuned without {missing} heads: {lesions.loc[missing, 'reason']}")
    parts = {"none": evidence.table("finetune_accuracy")}
    parts |= {name: rows[rows["lesion"] == name] for name in sorted(trained, key=lambda name: name != OVERLAP)}
    curves = {name: evidence.average_by_step(part) for name, part in parts.items()}
    if any("ood" not in curve for curve in curves.values()):
        raise NotComputable("no out-of-domain subset was evaluated over fine-tuning")
    return curves


def _describe_lesion(evidence: Evidence, curves: dict[str, pd.DataFrame]) -> str:
    """Return a description such as "the 5 overlap heads", listing the controls that lack fewer heads."""
    sizes = evidence.table("lesions").set_index("lesion")["size"]
    fewer = [f"{name} {sizes[name]}" for name in curves if name in sizes and sizes[name] < sizes[OVERLAP]]
    return f"the {sizes[OVERLAP]} overlap heads" + (f" (too few others: {', '.join(fewer)})" if fewer else "")


def _learning_steps(evidence: Evidence, curves: dict[str, pd.DataFrame], share: float) -> dict[str, int | None]:
    """Return the first step at which each model's ID accuracy reaches the threshold, or None."""
    if any("id" not in curve for curve in curves.values()):
        raise NotComputable("no in-domain subset was evaluated over fine-tuning")
    bound = evidence.share_of_best(curves["none"]["id"], share)
    steps = {name: curve.index[curve["id"] >= bound] for name, curve in curves.items()}
    return {name: int(reached[0]) if len(reached) else None for name, reached in steps.items()}


def _first_step(curve: pd.DataFrame, level: float, learned: int | None) -> int | None:
    """Return the first step from `learned` on at which J is at least `level`, or None."""
    if learned is None:
        return None
    reached = curve.index[(curve.index >= learned) & (curve["j"] >= level)]
    return int(reached[0]) if len(reached) else None


def _compare_with_controls(value: float, controls: Sequence[float]) -> tuple[float, float | None, float | None]:
    """Return `value` minus the mean of `controls`, and the least and largest difference from any of them.

    One more control is outside the range of n others with probability 2 / (n + 1), whatever their distribution, so
    `MIN_LESIONS` are needed for an interval.
    """
    difference = float(value - np.mean(controls))
    if len(controls) < MIN_LESIONS:
        return difference, None, None
    return difference, float(value - np.max(controls)), float(value - np.min(controls))
