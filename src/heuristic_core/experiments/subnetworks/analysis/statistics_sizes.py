"""Statistics for claims about effective size over fine-tuning: how many components generalisation requires.

Each claim combines two measures: effective size at the study's margin, and CMD, which needs no threshold. Both are in
percent of components (:mod:`.circuit_performance`). The interval of the combined estimate spans the intervals of
both, so a claim is supported if both support it, contradicted if both contradict it, and inconclusive if they
disagree. A size known only up to bounds enters as its bounds (:mod:`heuristic_core.stats.bounds`). Intervals are over
pruning seeds and evaluation pairs.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.accuracy import ID, LABELS, J
from heuristic_core.experiments.subnetworks.analysis.effective_size import extra_half_width, select_study_sizes
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence, require_rows
from heuristic_core.experiments.subnetworks.analysis.size_states import classify_sizes, format_bound
from heuristic_core.stats.bounds import compute_bounded_interval
from heuristic_core.stats.estimates import Estimate, NotComputable, TooFewUnits, statistic
from heuristic_core.stats.seeds import PRUNING_SEEDS

ID_AND_OOD = "mixed-1:1"
SIZE, CMD = "effective size", "CMD"


class Curve(NamedTuple):
    """Measure over fine-tuning, in percent of components.

    Arrays other than `steps` are [steps, pruning seeds], NaN where the measure is undefined.

    Attributes:
        steps: Steps of the checkpoints, [steps].
        lower_bound: Smallest possible value.
        upper_bound: Largest possible value.
        reach: Half-width of the interval over evaluation pairs.
        description: Values of the measure at all checkpoints, as text.
    """

    steps: np.ndarray
    lower_bound: np.ndarray
    upper_bound: np.ndarray
    reach: np.ndarray
    description: str

    def minus(self, other: "Curve") -> "Curve":
        """Return the difference of two curves, row by row.

        Args:
            other: Curve to subtract, with as many rows.
        """
        least, most, reach = (
            self.lower_bound - other.upper_bound,
            self.upper_bound - other.lower_bound,
            np.hypot(self.reach, other.reach),
        )
        return Curve(self.steps, least, most, reach, f"{self.description}; {other.description}")

    def at(self, step: int) -> "Curve":
        """Return the row of a step; NaN if the curve lacks the step.

        Args:
            step: Step of fine-tuning.
        """
        selected = self.steps == step
        rows = (rows[selected] if selected.any() else np.full_like(rows[:1], np.nan) for rows in self[1:4])
        return Curve(np.array([step]), *rows, self.description)

    def defined(self) -> np.ndarray:
        """Return the steps at which at least one seed has a value."""
        return self.steps[~np.isnan(self.lower_bound).all(axis=1)]


@statistic
def flat_size(evidence: Evidence, group: str) -> Estimate:
    """Estimate the range of size over the checkpoints where it is defined, in points.

    The range is of means over pruning seeds. The upper end of the interval is the largest upper end of the difference
    of any two checkpoints. The lower end is the smallest absolute difference between the first and the last checkpoint
    that is in the interval of their difference.

    Args:
        evidence: Tables of one fine-tuning run.
        group: Group of subsets, or J.

    Returns:
        Value of CMD, with an interval that spans those of effective size and CMD.

    Raises:
        TooFewUnits: If a measure is defined at fewer than two checkpoints.
    """
    return _combine(_range(_sizes(evidence, group)), _range(_cmd(evidence, group)))


@statistic
def rising_size(evidence: Evidence) -> Estimate:
    """Estimate how many more components generalisation requires than the task alone, in points.

    The model begins to generalise at the first checkpoint where CMD on J is defined, because the full model's J
    exceeds the empty circuit's. For effective size, the estimate is the growth on ID and OOD together (1:1) minus the
    growth on ID, from the checkpoint before to this one. For CMD, the estimate is CMD on J minus CMD on ID at this
    checkpoint. ID and J together require more components than ID only if J does.

    Args:
        evidence: Tables of one fine-tuning run.

    Returns:
        Value of CMD, with an interval that spans those of effective size and CMD.

    Raises:
        TooFewUnits: If the model generalises at the first checkpoint, so that no earlier one shows the task alone.
    """
    mixed, id_ = (_sizes(evidence, group) for group in (ID_AND_OOD, ID))
    j = _cmd(evidence, J)
    onset = int(j.defined()[0])
    if not (earlier := j.steps[j.steps < onset]).size:
        raise TooFewUnits(f"the model generalises at the first checkpoint, step {onset}: {j.description}")
    before = int(earlier[-1])
    growth = mixed.at(onset).minus(mixed.at(before)).minus(id_.at(onset).minus(id_.at(before)))
    size = _mean(growth._replace(description=f"from step {before} to {onset}; {mixed.description}; {id_.description}"))
    size = replace(size, minimum=-200.0, maximum=200.0)  # a difference of two differences of percentages
    return _combine(size, _mean(j.at(onset).minus(_cmd(evidence, ID).at(onset))))


def _combine(size: Estimate, cmd: Estimate) -> Estimate:
    """Combine effective size and CMD into an estimate whose interval spans both intervals."""
    return Estimate.hull({CMD: cmd, SIZE: size}, f"{size.detail}; {cmd.detail}")


def _range(curve: Curve) -> Estimate:
    """Estimate the range of a curve over the steps where it is defined."""
    steps = curve.defined()
    if len(steps) < 2:
        raise TooFewUnits(f"defined at {len(steps)} checkpoints: {curve.description}")
    rows = [curve.at(step) for step in steps]
    pairs = [_mean(row.minus(other)) for row in rows for other in rows if row is not other]
    growth = _mean(rows[-1].minus(rows[0]))
    value = np.ptp([_mean(row).value for row in rows])  # NaN if any is a bound
    least, most = (max(pair.bounds[end] for pair in pairs) for end in (0, 1))
    low, high = np.max([0.0, growth.low, -growth.high]), np.max([pair.high for pair in pairs])
    reach = max(pair.shared_half_widths[1] for pair in pairs)
    # The range of means overestimates the range, and more seeds do not reduce this bias.
    shared = float(np.fmax(least - low, reach)), reach
    n, bounds = min(pair.n for pair in pairs), (least, most)
    return Estimate(
        value, low, high, n, PRUNING_SEEDS, curve.description, minimum=0, shared_half_widths=shared, bounds=bounds
    )


def _mean(curve: Curve) -> Estimate:
    """Estimate the mean over seeds of a single-row curve; NaN if only bounds are known, TooFewUnits without values."""
    known = ~np.isnan(curve.lower_bound[0])
    if not known.any():
        raise TooFewUnits(f"no pruning seed has a value: {curve.description}")
    least, most, reach = (rows[0, known] for rows in curve[1:4])
    bounds, shared = (least.mean(), most.mean()), (reach.mean(),) * 2
    value = bounds[0] if (least == most).all() else np.nan
    ends, n = compute_bounded_interval(least, most, reach), int(known.sum())
    return Estimate(value, *ends, n, PRUNING_SEEDS, curve.description, shared_half_widths=shared, bounds=bounds)


def _sizes(evidence: Evidence, group: str) -> Curve:
    """Return effective sizes on a group at the study's margin and in its order of components."""
    evidence.require_sound("sizes")
    rows = _rows(evidence, group)
    seeds, means = rows[rows["seed"].notna()], rows[rows["seed"].isna()]
    if seeds.empty:
        raise TooFewUnits(f"order {evidence.context.size_order} has no {SIZE} of single pruning seeds, so no interval")
    labels = [
        f"{row.step} " + (f"{row.effective_size:.1f}" if kind == "defined" else _format_undefined(row, kind))
        for row, kind in zip(means.itertuples(), classify_sizes(means), strict=True)
    ]
    words = f"{SIZE}, {LABELS.get(group, 'ID and OOD 1:1')}: {', '.join(labels)}"
    return _curve(seeds.assign(reach=extra_half_width(seeds)), "least", "most", words)


def _format_undefined(row, kind: str) -> str:
    """Format an effective size that is bounded or undefined."""
    return format_bound(row.least, row.most) if kind == "bounded" else kind


def _rows(evidence: Evidence, group: str) -> pd.DataFrame:
    """Return the rows of effective size on a group, by step."""
    rows = select_study_sizes(evidence.table("effective_size"), evidence.context)
    return require_rows(rows[rows["group"] == group], f"effective size on {group}").sort_values("step", kind="stable")


def _cmd(evidence: Evidence, group: str) -> Curve:
    """Return CMD on a group; raise NotComputable if it is undefined at all steps."""
    evidence.require_sound("sizes")
    rows = evidence.table("circuit_performance")
    rows = require_rows(rows[rows["group"] == group], f"{CMD} on {group}").sort_values("step", kind="stable")
    seeds, means = rows[rows["seed"].notna()], rows[rows["seed"].isna()]
    labels = means["cmd"].map("{:.1f}".format, na_action="ignore").astype(object)
    labels = labels.fillna(means["reason"].str.partition(":")[0])
    labels = ", ".join(f"{step} {label}" for step, label in zip(means["step"], labels, strict=True))
    words = f"{CMD}, {LABELS[group]}: {labels}"
    if seeds["cmd"].isna().all():
        raise NotComputable(f"{words}: {means['reason'].iloc[-1]}")
    return _curve(seeds, "cmd", "cmd", words)


def _curve(rows: pd.DataFrame, least: str, most: str, words: str) -> Curve:
    """Build a curve from rows by step and seed."""
    frames = [rows.pivot(index="step", columns="seed", values=name).sort_index() for name in (least, most, "reach")]
    return Curve(frames[0].index.to_numpy(int), *(values.to_numpy(float, na_value=np.nan) for values in frames), words)
