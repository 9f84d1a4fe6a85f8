"""Statistics of claims about what is there before fine-tuning: overlap heads, and what fine-tuning is without them."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from heuristic_core.analysis.accuracy import group_means, interval_of_mean
from heuristic_core.analysis.core import common_heads
from heuristic_core.analysis.estimates import CannotSay, Estimate, Evidence, some
from heuristic_core.analysis.seeds import LEVEL
from heuristic_core.config.lesion import OVERLAP

CONTROLS = "random lesions"


def overlap_core(evidence: Evidence) -> Estimate:
    """p (hypergeometric within layers) that so many core heads attend to the repeated word before fine-tuning."""
    before = evidence.table("overlap_heads").set_index("component")
    heads = evidence.table("core").set_index("component").loc[before.index]
    overlap, in_core = before["overlap"].astype(bool), heads["in_core"].astype(bool)
    some(heads[in_core], "core head")
    if overlap.all() or not overlap.any():
        raise CannotSay(f"{'every' if overlap.all() else 'no'} head attends to the repeated word before fine-tuning")
    observed, expected, p = common_heads(before["layer"], in_core, overlap)
    detail = (
        f"{observed} of {in_core.sum()} core heads attend to the repeated word before fine-tuning, as "
        f"{overlap.sum()} of all {len(overlap)} heads do; {expected:.2g} expected, p = {p:.2g}"
    )
    return Estimate(p, None, None, int(in_core.sum()), "core heads", detail, exact=True)


def lesion_cost(evidence: Evidence) -> Estimate:
    """OOD accuracy after the last step, fine-tuned without the overlap heads minus without random ones, points.

    With one random set alone the interval is over pairs, and says nothing of other random sets.
    """
    curves = _curves(evidence)
    whole, lesion, *controls = (curve["ood"].iloc[-1] for curve in curves.values())
    others = ", ".join(f"{value:.1f}" for value in controls)
    in_domain = "/".join(f"{curve['id'].iloc[-1]:.1f}" if "id" in curve else "unknown" for curve in curves.values())
    detail = (
        f"OOD {lesion:.1f} % without {_heads(evidence, curves)}, {others} % without random heads, {whole:.1f} % with "
        f"all; ID with all/without overlap/without random: {in_domain} %"
    )
    if len(controls) > 1:
        return Estimate(*_against(lesion, controls), len(controls), CONTROLS, detail)
    (below, above, n, unit), (control_below, control_above, *_) = (_last(evidence, name) for name in list(curves)[1:])
    value = lesion - controls[0]
    low, high = value - np.hypot(below, control_above), value + np.hypot(above, control_below)
    return Estimate(value, low, high, n, unit, detail)


def lesion_delay(evidence: Evidence, share: float) -> Estimate:
    """When OOD accuracy reaches half of what the unlesioned model ends with, fine-tuned without the overlap heads minus
    without random ones, steps.

    It is looked for from the evaluation on at which the same model's ID accuracy is at least `share` of its best:
    before that a model that rejects every pair has all OOD pairs right. One that never gets there counts as if it did
    at the last step: a lower bound of its own delay.
    """
    curves = _curves(evidence)
    if any("id" not in curve for curve in curves.values()):
        raise CannotSay("no in-domain subset was evaluated over fine-tuning")
    whole = curves["none"]
    if not (half := whole["ood"].iloc[-1] / 2) > 0:
        raise CannotSay("the unlesioned model ends with 0 % out-of-domain")
    reached = {name: _reached(curve, half, share) for name, curve in curves.items()}
    own, *others = (reached[name] for name in curves if name != "none")
    if own is None and all(step is None for step in others):
        raise CannotSay(f"no lesioned model reaches {half:.1f} % out-of-domain, half of the unlesioned model's")
    last = int(whole.index[-1])
    counted = [last if step is None else step for step in (own, *others)]
    said = [f"never (counted as {last}: a lower bound)" if step is None else str(step) for step in (own, *others)]
    first = "never" if reached["none"] is None else reached["none"]
    detail = (
        f"half is {half:.1f} %; reached at step {said[0]} without {_heads(evidence, curves)}, {', '.join(said[1:])} "
        f"without random heads, {first} with all"
    )
    return Estimate(*_against(counted[0], counted[1:]), len(others), CONTROLS, detail)


def _curves(evidence: Evidence) -> dict[str, pd.DataFrame]:
    """Mean accuracy by evaluation and group: of the unlesioned model ("none"), without overlap heads, of controls."""
    made, rows = evidence.table("lesions").set_index("lesion"), evidence.tables["lesion_accuracy"]
    trained = [name for name in made.index if name in set(rows["lesion"])]
    if OVERLAP not in trained or len(trained) < 2:
        lacking = OVERLAP if OVERLAP not in trained else made.index[made.index != OVERLAP][0]
        raise CannotSay(f"nothing was fine-tuned without {lacking} heads: {made.loc[lacking, 'reason']}")
    parts = {"none": evidence.table("finetune_accuracy")}
    parts |= {name: rows[rows["lesion"] == name] for name in sorted(trained, key=lambda name: name != OVERLAP)}
    curves = {
        name: group_means(evidence.analysed(part)).pivot(index="step", columns="group", values="accuracy")
        for name, part in parts.items()
    }
    if any("ood" not in curve for curve in curves.values()):
        raise CannotSay("no out-of-domain subset was evaluated over fine-tuning")
    return curves


def _last(evidence: Evidence, lesion: str) -> tuple[float, float, int, str]:
    """How far the interval of a lesioned model's last OOD accuracy reaches below and above it, points; over what."""
    rows = evidence.analysed(evidence.tables["lesion_accuracy"])
    rows = rows[(rows["lesion"] == lesion) & (rows["group"] == "ood") & (rows["step"] == rows["step"].max())]
    low, high = interval_of_mean(rows)
    mean = rows["accuracy"].mean()
    return mean - low, high - mean, int(rows["units"].sum()), " or ".join(sorted({f"{u}s" for u in rows["unit"]}))


def _heads(evidence: Evidence, curves: dict[str, pd.DataFrame]) -> str:
    """For instance "the 5 overlap heads", and how many heads the controls lack where they lack fewer."""
    sizes = evidence.table("lesions").set_index("lesion")["size"]
    fewer = [f"{name} {sizes[name]}" for name in curves if name in sizes and sizes[name] < sizes[OVERLAP]]
    return f"the {sizes[OVERLAP]} overlap heads" + (f" (too few others: {', '.join(fewer)})" if fewer else "")


def _reached(curve: pd.DataFrame, level: float, share: float) -> int | None:
    """The first step at which OOD accuracy is at least `level`, from when ID accuracy is at `share` of its best."""
    learned = curve.index[curve["id"] >= share * curve["id"].max()][0]
    there = curve.index[(curve.index >= learned) & (curve["ood"] >= level)]
    return int(there[0]) if len(there) else None


def _against(value: float, controls: Sequence[float]) -> tuple[float, float | None, float | None]:
    """`value` minus the mean of `controls`; its ends are those of the t interval in which one more control lies."""
    difference, n = float(value - np.mean(controls)), len(controls)
    if n < 2:
        return difference, None, None
    half = stats.t.ppf((1 + LEVEL) / 2, n - 1) * np.std(controls, ddof=1) * np.sqrt(1 + 1 / n)
    return difference, difference - half, difference + half


STATISTICS = {f.__name__: f for f in (overlap_core, lesion_cost, lesion_delay)}
