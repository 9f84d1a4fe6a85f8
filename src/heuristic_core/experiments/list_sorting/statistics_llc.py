"""Statistics of claims about stages, and about the local learning coefficient (LLC) in them.

No claim about the LLC relies on one estimator: estimators measure different things, and none is absolute.

A stage of a model lasts from one measured step to another, and the LLC is sampled at few of them. It is compared
between the last sampled step up to the start and the first one from the end on. Each may be at most one measured step
outside the stage: with farther steps the change would include other stages.

Specialisation is the fall of the overlap after the loss's fall has ended. In tables it may begin while the loss still
falls; until then changes of the LLC cannot be separated from those of initial learning.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import pandas as pd

from heuristic_core.experiments.list_sorting.evidence import Evidence, sorting_statistic
from heuristic_core.experiments.list_sorting.stages import LEARNING, SPECIALISATION
from heuristic_core.stats.estimates import Estimate, NotComputable, TooFewUnits
from heuristic_core.stats.training_seeds import PERCENT, extreme_mean, mean_over_seeds

MIN_SEEDS = 2  # seeds behind an interval
MAX_STEPS_OUTSIDE = 1  # measured steps


@sorting_statistic
def models_with_stage(evidence: Evidence, stage: str, overlap: float) -> Estimate:
    """Compute the share of models whose curves have a stage, percent, and its interval over seeds.

    Args:
        evidence: Tables of the study.
        stage: Name of the stage.
        overlap: Percent; the conditions are those whose overlap ends below it.
    """
    rows = evidence.table("sorting_seed_stages")
    rows = rows[(rows["stage"] == stage) & rows["condition"].isin(specialised := evidence.split_by_overlap(overlap)[0])]
    shares = 100 * rows["reason"].isna().groupby(rows["seed"]).mean()
    reasons = rows["reason"].dropna().drop_duplicates()
    return mean_over_seeds(shares, "; ".join([f"of {', '.join(specialised)}", *reasons]), PERCENT)


@sorting_statistic
def llc_change(evidence: Evidence, stage: str, which: str, estimators: str, overlap: float) -> Estimate:
    """Compute the change of the LLC in a stage, percent, for the most extreme estimator and condition.

    The conditions are those whose overlap ends below `overlap` percent. The change is a percentage of the highest
    mean of the condition's curve by this estimator, seed by seed, between the sampled steps next to the model's own
    stage.

    Args:
        evidence: Tables of the study.
        stage: Name of the stage.
        which: lowest or highest.
        estimators: Names, such as "raw tilted"; the change must be known for all of them.
        overlap: Percent.
    """
    specialised = [name for name in evidence.split_by_overlap(overlap)[0] if name in _sampled(evidence)]
    changes = _Changes(evidence, stage)
    groups = {
        (name, condition): changes.by_seed(name, condition, at=condition)
        for condition in specialised
        for name in estimators.split()
    }
    return _select_extreme(groups, changes.reasons, which, estimators)


@sorting_statistic
def llc_change_beyond_control(evidence: Evidence, stage: str, which: str, estimators: str, overlap: float) -> Estimate:
    """Compute :func:`llc_change` minus the change of controls between the same steps, points, seed by seed.

    Controls are conditions that differ only in optimiser and weight decay and whose overlap ends at `overlap`
    percent or above.

    Args:
        evidence: Tables of the study.
        stage: Name of the stage.
        which: lowest or highest.
        estimators: Names, such as "raw tilted"; the change must be known for all of them.
        overlap: Percent.

    Raises:
        NotComputable: If no condition has a control.
    """
    sampled = _sampled(evidence)
    specialised, others = ([name for name in names if name in sampled] for names in evidence.split_by_overlap(overlap))
    if not (pairs := evidence.pair_conditions("but_decay", specialised, others)):
        raise NotComputable(
            "no control: no two conditions that differ in weight decay alone have a sampled LLC, of which one ends "
            f"with an overlap below {overlap:g} %, and the other does not"
        )
    changes = _Changes(evidence, stage)
    groups = {
        (name, f"{condition} less {control}"): changes.by_seed(name, condition, at=condition)
        - changes.by_seed(name, control, at=condition)
        for condition, control in pairs
        for name in estimators.split()
    }
    return _select_extreme(groups, changes.reasons, which, estimators)


class _Changes:
    """Changes of the LLC in a stage.

    Attributes:
        reasons: Why models lack a change; the keys of a dict, in order.
    """

    def __init__(self, evidence: Evidence, stage: str):
        self._llc, self._stage = evidence.table("sorting_llc"), stage
        self._stages, self._models = evidence.table("sorting_seed_stages"), evidence.table("sorting_models")
        self.reasons: dict[str, None] = {}

    def by_seed(self, estimator: str, condition: str, at: str) -> pd.Series:
        """Return the change of a condition by seed, in percent of the highest mean of its curve.

        Args:
            estimator: Name of the estimator.
            condition: The condition whose LLC changes.
            at: The condition whose stage, in the model of the same seed, sets the steps.
        """
        rows = self._llc[(self._llc["condition"] == condition) & (self._llc["estimator"] == estimator)]
        curves = rows.pivot(index="seed", columns="step", values="value").astype(float)
        changes = {}
        for seed, curve in curves.iterrows():
            try:
                low, high = self._steps(at, seed, sorted(curves))
            except NotComputable as reason:
                self.reasons[f"{at}, seed {seed}: {reason}"] = None
                continue
            changes[seed] = curve[high] - curve[low]
            if pd.isna(changes[seed]):
                self.reasons[f"{condition}, seed {seed}: no {estimator} value at step {low} or {high}"] = None
        return 100 * pd.Series(changes, dtype=float) / curves.mean().abs().max()

    def _steps(self, condition: str, seed: int, sampled: list[int]) -> tuple[int, int]:
        """Return the sampled steps next to the stage of one model."""
        stages, models = (
            rows[(rows["condition"] == condition) & (rows["seed"] == seed)] for rows in (self._stages, self._models)
        )
        return bracket_stage(*find_stage(stages, self._stage), sampled, sorted(models["step"]))


def find_stage(stages: pd.DataFrame, stage: str) -> tuple[int, int]:
    """Return start and end of a stage of one model, measured steps.

    Args:
        stages: Rows of table "sorting_seed_stages" of the model.
        stage: Name of the stage.

    Raises:
        NotComputable: The model lacks the stage, or a specialisation ends before initial learning does.
    """
    rows = stages.set_index("stage").loc[[stage] if stage != SPECIALISATION else [LEARNING, stage]]
    if reasons := list(rows["reason"].dropna()):
        raise NotComputable("; ".join(reasons))
    start, end = rows.loc[stage, ["start", "end"]]
    if stage == SPECIALISATION and (start := max(start, rows.loc[LEARNING, "end"])) >= end:
        raise NotComputable(f"the overlap's fall ends at step {end:g}, and the loss's fall at step {start:g}")
    return int(start), int(end)


def bracket_stage(start: int, end: int, sampled: Sequence[int], measured: Sequence[int]) -> tuple[int, int]:
    """Return the sampled steps next to a stage, at its ends or outside.

    Args:
        start: Start of the stage, a measured step.
        end: End of the stage, a measured step.
        sampled: Sampled steps, ascending.
        measured: Measured steps, ascending.

    Raises:
        NotComputable: No sampled step is within `MAX_STEPS_OUTSIDE` measured steps.
    """
    before, after = bisect_right(sampled, start) - 1, bisect_left(sampled, end)
    if before < 0 or after == len(sampled):
        raise NotComputable(f"no step {'after' if before >= 0 else 'before'} the stage, {start} to {end}, is sampled")
    low, high = sampled[before], sampled[after]
    if max(measured.index(start) - measured.index(low), measured.index(high) - measured.index(end)) > MAX_STEPS_OUTSIDE:
        raise NotComputable(
            f"the sampled steps next to the stage, {start} to {end}, are {low} and {high}: "
            f"more than {MAX_STEPS_OUTSIDE} measured step outside"
        )
    return low, high


def _sampled(evidence: Evidence) -> set[str]:
    """Return the conditions with a sampled LLC."""
    return set(evidence.table("sorting_llc")["condition"])


def _select_extreme(
    groups: dict[tuple[str, str], pd.Series], reasons: dict[str, None], which: str, estimators: str
) -> Estimate:
    """Return the group with the lowest or highest change.

    Args:
        groups: Changes by estimator and condition.
        reasons: Why models lack a change.
        which: lowest or highest.
        estimators: Names of the estimators that must have a group.

    Raises:
        NotComputable: An estimator has no change.
        TooFewUnits: A group has too few seeds.
    """
    groups = {key: values.dropna() for key, values in groups.items()}
    reason = "; ".join(reasons)
    if missing := [
        name for name in estimators.split() if all(values.empty for (key, _), values in groups.items() if key == name)
    ]:
        text = f"no condition has a change of the LLC in the stage by estimator {missing[0]}"
        raise NotComputable("; ".join(filter(None, [text, reason])))
    if few := [f"{name} of {condition}" for (name, condition), values in groups.items() if len(values) < MIN_SEEDS]:
        text = f"fewer than {MIN_SEEDS} seeds have a change of the LLC by estimator {', '.join(few)}"
        raise TooFewUnits("; ".join(filter(None, [text, reason])))
    summary = ", ".join(f"{name} of {condition} {values.mean():+z.0f}" for (name, condition), values in groups.items())
    labelled = {f"{name} of {condition}": values for (name, condition), values in groups.items()}
    return extreme_mean(labelled, which, "; ".join(filter(None, [summary, reason])))
