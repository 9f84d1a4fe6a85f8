"""Statistics of claims about stages, and about the local learning coefficient (LLC) in them.

No claim about the LLC rests on one estimator: estimators measure different things, and none is absolute.
"""

import pandas as pd

from heuristic_core.analysis.estimates import CannotSay, Estimate
from heuristic_core.analysis.training_seeds import extreme, over_seeds
from heuristic_core.experiments.list_sorting.evidence import Evidence, statistic_of_sorting
from heuristic_core.experiments.list_sorting.llc_stages import bracket, stage_of

FEWEST = 2  # seeds behind an interval


@statistic_of_sorting
def models_with_stage(evidence: Evidence, stage: str, overlap: float) -> Estimate:
    """The share of models whose curves have a stage, percent: each seed's share, and its t interval over seeds.

    Of the conditions whose soft overlap ends below `overlap` percent.
    """
    rows = evidence.table("sorting_seed_stages")
    rows = rows[(rows["stage"] == stage) & rows["condition"].isin(special := evidence.specialised(overlap)[0])]
    if rows.empty:
        raise CannotSay(f"no model's soft overlap ends below {overlap:g} %")
    shares = 100 * rows["reason"].isna().groupby(rows["seed"]).mean()
    reasons = rows["reason"].dropna().drop_duplicates()
    return over_seeds(shares, "; ".join([f"of {', '.join(special)}", *reasons]), percent=True)


@statistic_of_sorting
def llc_change(evidence: Evidence, stage: str, which: str, estimators: str, overlap: float) -> Estimate:
    """The change of the LLC in a stage by the estimator and in the condition with least or most of it, percent.

    Of the conditions whose soft overlap ends below `overlap` percent; percent of the highest mean of the condition's
    curve by this estimator. Seed by seed, between the sampled steps next to the model's own stage. which: lowest or
    highest. estimators: names, such as "raw tilted", by all of which the change must be known.
    """
    special = [name for name in evidence.specialised(overlap)[0] if name in _sampled(evidence)]
    changes = _Changes(evidence, stage)
    groups = {
        (name, condition): changes.of(name, condition, at=condition)
        for condition in special
        for name in estimators.split()
    }
    return _over(groups, changes.reasons, which, estimators)


@statistic_of_sorting
def llc_change_beyond_control(evidence: Evidence, stage: str, which: str, estimators: str, overlap: float) -> Estimate:
    """:func:`llc_change` less the change of controls between the same steps, points, seed by seed.

    Controls: conditions that differ in optimiser and weight decay alone and whose soft overlap ends at `overlap`
    percent or above.
    """
    known = _sampled(evidence)
    special, others = ([name for name in names if name in known] for names in evidence.specialised(overlap))
    if not (pairs := evidence.pairs("but_decay", special, others)):
        raise CannotSay(
            "no control: no two conditions that differ in weight decay alone have a sampled LLC, of which one ends "
            f"with a soft overlap below {overlap:g} %, and the other does not"
        )
    changes = _Changes(evidence, stage)
    groups = {
        (name, f"{one} less {control}"): changes.of(name, one, at=one) - changes.of(name, control, at=one)
        for one, control in pairs
        for name in estimators.split()
    }
    return _over(groups, changes.reasons, which, estimators)


class _Changes:
    """Changes of the LLC in a stage. reasons: why models have none."""

    def __init__(self, evidence: Evidence, stage: str):
        self._llc, self._stage = evidence.table("sorting_llc"), stage
        self._stages, self._models = evidence.table("sorting_seed_stages"), evidence.table("sorting_models")
        self.reasons: dict[str, None] = {}

    def of(self, estimator: str, condition: str, at: str) -> pd.Series:
        """A condition's change by an estimator, percent, by seed: in the seed's stage of condition `at`."""
        rows = self._llc[(self._llc["condition"] == condition) & (self._llc["estimator"] == estimator)]
        curves = rows.pivot(index="seed", columns="step", values="value").astype(float)
        found = {}
        for seed, curve in curves.iterrows():
            try:
                low, high = self._steps(at, seed, sorted(curves))
            except CannotSay as reason:
                self.reasons[f"{at}, seed {seed}: {reason}"] = None
                continue
            found[seed] = curve[high] - curve[low]
            if pd.isna(found[seed]):
                self.reasons[f"{condition}, seed {seed}: no {estimator} value at step {low} or {high}"] = None
        return 100 * pd.Series(found, dtype=float) / curves.mean().abs().max()

    def _steps(self, condition: str, seed: int, sampled: list[int]) -> tuple[int, int]:
        stages, models = (
            rows[(rows["condition"] == condition) & (rows["seed"] == seed)] for rows in (self._stages, self._models)
        )
        return bracket(*stage_of(stages, self._stage), sampled, sorted(models["step"]))


def _sampled(evidence: Evidence) -> set[str]:
    return set(evidence.table("sorting_llc")["condition"])


def _over(groups: dict[tuple[str, str], pd.Series], reasons: dict[str, None], which: str, estimators: str) -> Estimate:
    """The group with least or most change. groups: by estimator and condition; those of too few seeds are left out."""
    groups = {key: values.dropna() for key, values in groups.items()}
    groups = {key: values for key, values in groups.items() if len(values) >= FEWEST}
    why = "; ".join(reasons)
    if missing := [name for name in estimators.split() if name not in {name for name, _ in groups}]:
        raise CannotSay("; ".join(filter(None, [
            f"no condition has a change of the LLC in the stage by estimator {missing[0]} with {FEWEST} seeds", why
        ])))  # fmt: skip
    each = ", ".join(f"{name} of {condition} {values.mean():+.0f}" for (name, condition), values in groups.items())
    named = {f"{name} of {condition}": values for (name, condition), values in groups.items()}
    return extreme(named, which, "; ".join(filter(None, [each, why])))
