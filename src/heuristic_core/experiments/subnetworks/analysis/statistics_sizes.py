"""Statistics for claims about effective size over fine-tuning: how many components generalisation requires.

Sizes of pruning seeds have two points: a seed either finds a small faithful subnetwork or none, so no interval of their
mean over a few seeds is valid. Claims are therefore about the share of pruning seeds. In a seed, a claim must hold by
two measures: effective size at the study's margin, and CMD, which needs no threshold (:mod:`.circuit_performance`).
Both are in percent of components. A size known only up to bounds enters as its bounds.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from heuristic_core.common.errors import format_count
from heuristic_core.experiments.subnetworks.analysis.accuracy import ID, LABELS, J
from heuristic_core.experiments.subnetworks.analysis.effective_size import extra_half_width, select_study_sizes
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence, require_rows
from heuristic_core.experiments.subnetworks.analysis.shares import MIN_FOR_SHARE, estimate_share
from heuristic_core.experiments.subnetworks.analysis.size_states import classify_sizes, format_bound
from heuristic_core.stats.estimates import Estimate, NotComputable, TooFewUnits, statistic
from heuristic_core.stats.seeds import CONFIDENCE_LEVEL

MIN_CHECKPOINTS = 3  # of two, any seed whose size happens to be equal would be flat
LOWEST, HIGHEST = 0, 1
ID_AND_OOD = "mixed-1:1"
SIZE, CMD = "effective size", "CMD"


class Curve(NamedTuple):
    """Measure over fine-tuning, in percent of components.

    Arrays other than `steps` are [steps, pruning seeds], NaN where the measure is undefined.

    Attributes:
        steps: Steps of the checkpoints, [steps].
        lower_bound: Smallest possible value.
        upper_bound: Largest possible value.
        half_width: Half-width of the interval over evaluation pairs.
        description: Values of the measure at all checkpoints, as text.
    """

    steps: np.ndarray
    lower_bound: np.ndarray
    upper_bound: np.ndarray
    half_width: np.ndarray
    description: str

    def minus(self, other: "Curve") -> "Curve":
        """Return the difference of two curves, row by row.

        Args:
            other: Curve to subtract, with as many rows.
        """
        least, most, half_width = (
            self.lower_bound - other.upper_bound,
            self.upper_bound - other.lower_bound,
            np.hypot(self.half_width, other.half_width),
        )
        return Curve(self.steps, least, most, half_width, f"{self.description}; {other.description}")

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
def share_with_flat_size(evidence: Evidence, group: str, points: float) -> Estimate:
    """Estimate the share of pruning seeds whose size stays within `points` over the checkpoints, by both measures.

    Args:
        evidence: Tables of one fine-tuning run.
        group: Group of subsets, or J.
        points: Largest range of size, in points, over the checkpoints where it is defined.

    Returns:
        Share, percent. A seed counts certainly (possibly) if the largest (smallest) range that its bounds and the
        sampling of evaluation pairs allow is within `points`.

    Raises:
        TooFewUnits: If there are too few seeds, or a measure is defined at fewer than `MIN_CHECKPOINTS` checkpoints.
    """
    ranges = [_range(curve) for curve in (_sizes(evidence, group), _cmd(evidence, group))]
    return _share(ranges, lambda values: values < points, certain_end=HIGHEST)


@statistic
def share_with_rising_size(evidence: Evidence) -> Estimate:
    """Estimate the share of pruning seeds in which generalisation requires more components than the task alone.

    The model begins to generalise at the first checkpoint where CMD on J is defined, because the full model's J
    exceeds the empty circuit's. By effective size, the growth on ID and OOD together (1:1) must exceed the growth on
    ID, from the checkpoint before to this one. By CMD, CMD on J must exceed CMD on ID at this checkpoint. ID and J
    together require more components than ID only if J does.

    Args:
        evidence: Tables of one fine-tuning run.

    Returns:
        Share, percent. A seed counts certainly (possibly) if both measures exceed 0 for all (some) values that their
        bounds and the sampling of evaluation pairs allow.

    Raises:
        TooFewUnits: If there are too few seeds, or if the model generalises at the first checkpoint, so that no
            earlier one shows the task alone.
    """
    mixed, id_ = (_sizes(evidence, group) for group in (ID_AND_OOD, ID))
    j = _cmd(evidence, J)
    onset = int(j.defined()[0])
    if not (earlier := j.steps[j.steps < onset]).size:
        raise TooFewUnits(f"the model generalises at the first checkpoint, step {onset}: {j.description}")
    before = int(earlier[-1])
    growth = mixed.at(onset).minus(mixed.at(before)).minus(id_.at(onset).minus(id_.at(before)))
    size = growth._replace(description=f"from step {before} to {onset}; {mixed.description}; {id_.description}")
    changes = [size, j.at(onset).minus(_cmd(evidence, ID).at(onset))]
    return _share(changes, lambda values: values > 0, certain_end=LOWEST)


def _range(curve: Curve) -> Curve:
    """Return the range of a curve over the steps where it is defined, as a single row.

    Its interval covers the differences of all pairs of steps together (Tukey's studentized range), because the range is
    the largest of them.

    Raises:
        TooFewUnits: If it is defined at fewer than `MIN_CHECKPOINTS` steps.
    """
    if (steps := len(curve.defined())) < MIN_CHECKPOINTS:
        raise TooFewUnits(f"defined at {format_count(steps, 'checkpoint')}, not {MIN_CHECKPOINTS}: {curve.description}")
    known = (~np.isnan(curve.lower_bound)).sum(axis=0) >= MIN_CHECKPOINTS
    lower, upper, half_width = (np.where(known, rows, 0.0) for rows in curve[1:4])
    smallest = np.maximum(np.nanmax(lower, axis=0) - np.nanmin(upper, axis=0), 0)
    largest = np.nanmax(upper, axis=0) - np.nanmin(lower, axis=0)
    factor = stats.studentized_range.ppf(CONFIDENCE_LEVEL, steps, np.inf) / stats.norm.ppf((1 + CONFIDENCE_LEVEL) / 2)
    ranges = smallest, largest, factor * np.nanmax(half_width, axis=0)
    return Curve(curve.steps[:1], *(np.where(known, row, np.nan)[None] for row in ranges), curve.description)


def _share(curves: Sequence[Curve], holds: Callable[[np.ndarray], np.ndarray], certain_end: int) -> Estimate:
    """Estimate the share of seeds in which single-row curves all hold.

    Args:
        curves: A row for each measure.
        holds: Returns whether values hold.
        certain_end: The end of the possible values, `LOWEST` or `HIGHEST`, at which a seed holds certainly.

    Raises:
        TooFewUnits: If fewer than `MIN_FOR_SHARE` seeds have a value.
    """
    known = np.all([~np.isnan(curve.lower_bound[0]) for curve in curves], axis=0)
    detail = "; ".join(curve.description for curve in curves)
    if (n := int(known.sum())) < MIN_FOR_SHARE:
        raise TooFewUnits(f"{n} pruning seeds have a value, and an interval over them needs {MIN_FOR_SHARE}; {detail}")
    counts = [np.ones(n, dtype=bool) for _ in range(3)]
    for curve in curves:
        lower, upper, half_width = (row[0, known] for row in curve[1:4])
        ends = lower - half_width, upper + half_width
        for count, values in zip(counts, ((lower + upper) / 2, ends[certain_end], ends[1 - certain_end]), strict=True):
            count &= holds(values)
    return estimate_share(*map(pd.Series, counts), detail)


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
