"""Statistics of claims about stages, and about the local learning coefficient (LLC) in them.

No claim about the LLC rests on one estimator: estimators measure different things, and none is absolute.
"""

import pandas as pd
from scipy import stats

from heuristic_core.analysis.estimates import CannotSay, Estimate, statistic
from heuristic_core.analysis.seeds import LEVEL
from heuristic_core.experiments.list_sorting.evidence import DATA, MODEL, Evidence
from heuristic_core.experiments.list_sorting.intervals import extreme

Changes = dict[str, pd.Series]  # by estimator: a change for each condition and seed, percent


@statistic
def models_with_stage(evidence: Evidence, stage: str) -> Estimate:
    """The share of models whose curves have a stage, percent, with Clopper's and Pearson's interval over models."""
    rows = evidence.table("sorting_stages")
    rows = rows[(rows["stage"] == stage) & (rows["point"] == "start")]
    if rows.empty:
        raise CannotSay(f"no stage {stage} in table sorting_stages")
    have, of = int(rows["seeds"].sum()), int(rows["of"].sum())
    low, high = stats.binomtest(have, of).proportion_ci(LEVEL)
    reasons = "; ".join(rows["reason"].dropna().drop_duplicates())
    return Estimate(100 * have / of, 100 * low, 100 * high, of, "models", reasons)


@statistic
def llc_change(evidence: Evidence, stage: str, which: str, overlap: float, least: int = 2) -> Estimate:
    """The change of the LLC in a stage by the estimator with the lowest or highest change, percent.

    Of the conditions whose soft overlap ends below `overlap` percent; percent of the highest mean of the condition's
    curve. From the last sampled step before the stage to the first one after it. least: estimators that are needed.
    """
    changes = _changes(evidence, stage, evidence.specialised(overlap)[0])
    return _over_estimators(changes, which, least)


@statistic
def llc_change_beyond_control(evidence: Evidence, stage: str, which: str, overlap: float, least: int = 2) -> Estimate:
    """:func:`llc_change` less the change of controls between the same steps, points, seed by seed.

    Controls: conditions of the same data and model whose soft overlap ends at `overlap` percent or above.
    """
    rows = evidence.conditions().set_index("condition")
    special, others = evidence.specialised(overlap)
    same = [*DATA, *MODEL]
    pairs = [(a, b) for a in special for b in others if (rows.loc[a, same] == rows.loc[b, same]).all()]
    sampled = set(evidence.table("sorting_llc")["condition"])
    pairs = [pair for pair in pairs if sampled.issuperset(pair)]
    if not pairs:
        raise CannotSay(
            "no control: no two conditions of the same data and model have a sampled LLC, of which one ends "
            f"with a soft overlap below {overlap:g} %, and the other does not"
        )
    found: Changes = {}
    for one, control in pairs:
        own, its = _changes(evidence, stage, [one]), _changes(evidence, stage, [control], at=one)
        for name in own.keys() & its.keys():
            difference = own[name].droplevel("condition") - its[name].droplevel("condition")
            difference = pd.concat({one: difference}, names=["condition"])
            found[name] = pd.concat([found[name], difference]) if name in found else difference
    return _over_estimators(dict(sorted(found.items())), which, least)


def _changes(evidence: Evidence, stage: str, conditions: list[str], at: str | None = None) -> Changes:
    """Changes of the LLC in a stage of each condition, or between the steps of condition `at`'s stage."""
    llc = evidence.table("sorting_llc")
    found: Changes = {}
    for condition in conditions:
        rows = llc[llc["condition"] == condition]
        steps = _around(evidence, at or condition, stage, sorted(rows["step"].unique()))
        if steps is None:
            continue
        for name, of_estimator in rows.groupby("estimator", sort=False):
            curve = of_estimator.pivot(index="seed", columns="step", values="value").astype(float)
            change = 100 * (curve[steps[1]] - curve[steps[0]]) / curve.mean().abs().max()
            change = pd.concat({condition: change.dropna()}, names=["condition"])
            found[name] = pd.concat([found[name], change]) if name in found else change
    return found


def _around(evidence: Evidence, condition: str, stage: str, sampled: list[int]) -> tuple[int, int] | None:
    """The last sampled step before a stage and the first one after it; None where there are none."""
    rows = evidence.table("sorting_stages")
    rows = rows[(rows["condition"] == condition) & (rows["stage"] == stage)].set_index("point")["step"]
    if rows.reindex(["start", "end"]).isna().any():
        return None
    # The steps of a stage are geometric means: of seeds at one step they can miss it by rounding.
    before = [step for step in sampled if step <= rows["start"] * (1 + 1e-6)]
    after = [step for step in sampled if step >= rows["end"] * (1 - 1e-6)]
    return (before[-1], after[0]) if before and after and before[-1] < after[0] else None


def _over_estimators(changes: Changes, which: str, least: int) -> Estimate:
    known = {name: values.groupby("seed").mean() for name, values in changes.items() if len(values)}
    if len(known) < least:
        named = f" ({', '.join(known)})" if known else ""
        raise CannotSay(
            f"a change of the LLC in the stage is known by {len(known)} estimators{named}, and {least} are needed"
        )
    conditions = dict.fromkeys(c for values in changes.values() for c in values.index.get_level_values("condition"))
    each = ", ".join(f"{name} {values.mean():+.0f}" for name, values in known.items())
    return extreme(known, which, f"{each}; of {', '.join(conditions)}")
