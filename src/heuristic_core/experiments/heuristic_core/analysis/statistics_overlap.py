"""Statistics of claims about overlap heads, which are there before fine-tuning, and about fine-tuning without them."""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from heuristic_core.analysis.estimates import CannotSay, DoesNotApply, Estimate, FailedRuns, statistic
from heuristic_core.analysis.seeds import LEVEL
from heuristic_core.experiments.heuristic_core.analysis.accuracy import LEAST
from heuristic_core.experiments.heuristic_core.analysis.core import common_heads
from heuristic_core.experiments.heuristic_core.analysis.evidence import Evidence, some
from heuristic_core.experiments.heuristic_core.config.lesion import OVERLAP

LESIONS = "random lesions"


@statistic
def overlap_core(evidence: Evidence) -> Estimate:
    """p (hypergeometric within layers) of at least as many core heads among the overlap heads; opposite: at most."""
    evidence.sound("mid", "high")
    before = evidence.table("overlap_heads").set_index("component")
    heads = evidence.table("core").set_index("component").loc[before.index]
    overlap, in_core = before["overlap"].astype(bool), heads["in_core"].astype(bool)
    some(heads[in_core], "core head")
    if overlap.all() or not overlap.any():
        raise DoesNotApply(f"{'every' if overlap.all() else 'no'} head attends to the repeated word before fine-tuning")
    common = common_heads(before["layer"], in_core, overlap)
    detail = (
        f"{common.observed} of {in_core.sum()} core heads attend to the repeated word before fine-tuning, as "
        f"{overlap.sum()} of all {len(overlap)} heads do; {common.expected:.2g} expected, p = {common.p:.2g}"
    )
    sets = [math.comb(len(layer), int(layer.sum())) for _, layer in in_core.groupby(before["layer"])]
    return Estimate.test(common.p, common.p_fewer, int(in_core.sum()), "core heads", detail, 1 / math.prod(sets))


@statistic
def lesion_cost(evidence: Evidence, group: str, share: float) -> Estimate:
    """Accuracy on a group after the last step: without the overlap heads minus without random heads, points.

    OOD accuracy is compared only of models that learned the task: their ID accuracy is at least `share` of the
    unlesioned model's best. A model that rejects every pair has all OOD pairs right. The interval is for one more
    random lesion.
    """
    curves = _curves(evidence)
    last = {name: curve.iloc[-1] for name, curve in curves.items()}
    ends = "; ".join(
        f"{label} " + "/".join(f"{row[column]:.1f}" if column in row else "unknown" for row in last.values())
        for label, column in (("ID", "id"), ("OOD", "ood"), ("entailment", "ood-entailment"), ("J", "j"))
    )
    detail = f"with all heads/without {_heads(evidence, curves)}/without random heads: {ends} %"
    if any(group not in curve for curve in curves.values()):
        raise CannotSay(f"no {group} subset was evaluated over fine-tuning")
    if group != "id" and (failed := [name for name, at in _learned(evidence, curves, share).items() if at is None]):
        raise FailedRuns(f"the task is not learned in run {', '.join(failed)}; {detail}")
    _, own, *controls = (row[group] for row in last.values())
    most = 100 - LEAST.get(group, 0)
    return Estimate(*_against(own, controls), len(controls), LESIONS, detail, least=-most, most=most)


@statistic
def lesion_delay(evidence: Evidence, share: float) -> Estimate:
    """When OOD accuracy reaches half of the unlesioned model's last: without the overlap heads minus without random
    heads, steps.

    The search begins where ID accuracy is at least `share` of the unlesioned model's best: a model that rejects every
    pair has all OOD pairs right. A model that never reaches the half counts as if it did at the last step: a lower
    bound of its own delay. Where a random lesion never does, there is no interval.
    """
    curves = _curves(evidence)
    learned, whole = _learned(evidence, curves, share), curves["none"]
    if not (half := whole["ood"].iloc[-1] / 2) > 0:
        raise DoesNotApply("the unlesioned model ends with 0 % out-of-domain")
    reached = {name: _reached(curve, half, learned[name]) for name, curve in curves.items()}
    own, *others = (reached[name] for name in curves if name != "none")
    if own is None and all(step is None for step in others):
        raise DoesNotApply(f"no lesioned model reaches {half:.1f} % out-of-domain, half of the unlesioned model's")
    last = int(whole.index[-1])
    counted = [last if step is None else step for step in (own, *others)]
    said = [f"never (counted as {last})" if step is None else str(step) for step in (own, *others)]
    detail = (
        f"half is {half:.1f} %; reached at step {said[0]} without {_heads(evidence, curves)}, {', '.join(said[1:])} "
        f"without random heads, {reached['none']} with all"
    )
    value, low, high = _against(counted[0], counted[1:])
    if None in others:
        low = high = None
    return Estimate(value, low, high, len(others), LESIONS, detail)


def _curves(evidence: Evidence) -> dict[str, pd.DataFrame]:
    """Mean accuracy, percent, [steps, groups]: of the unlesioned model ("none"), without overlap heads, of controls."""
    if evidence.tables.get("lesions") is None:
        raise CannotSay("nothing was fine-tuned without heads; set lesion, as config/lesion/overlap.yaml does")
    made, rows = evidence.table("lesions").set_index("lesion"), evidence.tables.get("lesion_accuracy")
    if rows is None:
        raise CannotSay("the study has no table lesion_accuracy")
    trained = [name for name in made.index if name in set(rows["lesion"])]
    if OVERLAP not in trained or len(trained) < 2:
        lacking = OVERLAP if OVERLAP not in trained else made.index[made.index != OVERLAP][0]
        raise CannotSay(f"nothing was fine-tuned without {lacking} heads: {made.loc[lacking, 'reason']}")
    parts = {"none": evidence.table("finetune_accuracy")}
    parts |= {name: rows[rows["lesion"] == name] for name in sorted(trained, key=lambda name: name != OVERLAP)}
    curves = {name: evidence.over_steps(part) for name, part in parts.items()}
    if any("ood" not in curve for curve in curves.values()):
        raise CannotSay("no out-of-domain subset was evaluated over fine-tuning")
    return curves


def _heads(evidence: Evidence, curves: dict[str, pd.DataFrame]) -> str:
    """For instance "the 5 overlap heads", and how many heads the controls lack where they lack fewer."""
    sizes = evidence.table("lesions").set_index("lesion")["size"]
    fewer = [f"{name} {sizes[name]}" for name in curves if name in sizes and sizes[name] < sizes[OVERLAP]]
    return f"the {sizes[OVERLAP]} overlap heads" + (f" (too few others: {', '.join(fewer)})" if fewer else "")


def _learned(evidence: Evidence, curves: dict[str, pd.DataFrame], share: float) -> dict[str, int | None]:
    """The first step at which each model's ID accuracy is at least `share` of the unlesioned model's best."""
    if any("id" not in curve for curve in curves.values()):
        raise CannotSay("no in-domain subset was evaluated over fine-tuning")
    bound = evidence.share_of_best(curves["none"]["id"], share)
    steps = {name: curve.index[curve["id"] >= bound] for name, curve in curves.items()}
    return {name: int(there[0]) if len(there) else None for name, there in steps.items()}


def _reached(curve: pd.DataFrame, level: float, learned: int | None) -> int | None:
    """The first step from `learned` on at which OOD accuracy is at least `level`."""
    if learned is None:
        return None
    there = curve.index[(curve.index >= learned) & (curve["ood"] >= level)]
    return int(there[0]) if len(there) else None


def _against(value: float, controls: Sequence[float]) -> tuple[float, float | None, float | None]:
    """`value` minus the mean of `controls`, and the ends of the t interval for one more control."""
    difference, n = float(value - np.mean(controls)), len(controls)
    if n < 2:
        return difference, None, None
    half = stats.t.ppf((1 + LEVEL) / 2, n - 1) * np.std(controls, ddof=1) * np.sqrt(1 + 1 / n)
    return difference, difference - half, difference + half
