"""Statistics of claims about effective size: how many components generalising takes, over fine-tuning.

Two measures are judged together: effective size at the study's margin, and CMD, which has no threshold and is on the
same scale, percent of components (`circuit_performance`). The interval of a claim reaches over the intervals of both:
it supports the claim where both do, contradicts it where both do, and is open where they disagree. A size that is a
bound enters as a bound (`bounds`). Intervals are over pruning seeds and evaluation pairs.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from heuristic_core.analysis.estimates import CannotSay, Estimate, statistic
from heuristic_core.analysis.seeds import PRUNING_SEEDS
from heuristic_core.experiments.heuristic_core.analysis.accuracy import ID, LABELS, OOD, J
from heuristic_core.experiments.heuristic_core.analysis.bounds import interval_between
from heuristic_core.experiments.heuristic_core.analysis.effective_size import UNDEFINED, bound, reach_of, state
from heuristic_core.experiments.heuristic_core.analysis.evidence import Evidence, some

BOTH = "mixed-1:1"
SIZE, CMD = "effective size", "CMD"


class Curve(NamedTuple):
    """A measure over fine-tuning, [steps, pruning seeds]: the least and the most that it may be, and how far pairs let
    it be off, all NaN where it is undefined. words: what it is at every checkpoint."""

    steps: np.ndarray
    least: np.ndarray
    most: np.ndarray
    reach: np.ndarray
    words: str

    def minus(self, other: "Curve") -> "Curve":
        """The difference, step by step as they come."""
        least, most, reach = self.least - other.most, self.most - other.least, np.hypot(self.reach, other.reach)
        return Curve(self.steps, least, most, reach, f"{self.words}; {other.words}")

    def at(self, step: int) -> "Curve":
        """One row; NaN where there is no such step."""
        here = self.steps == step
        rows = (rows[here] if here.any() else np.full_like(rows[:1], np.nan) for rows in self[1:4])
        return Curve(np.array([step]), *rows, self.words)

    def defined(self) -> np.ndarray:
        """The steps at which a seed has a value."""
        return self.steps[~np.isnan(self.least).all(axis=1)]


class Found(NamedTuple):
    """A measure's value, null where it is a bound, and its 95 % interval over `n` seeds."""

    value: float
    low: float
    high: float
    n: int


@statistic
def flat_size(evidence: Evidence, group: str) -> Estimate:
    """The range of size over the checkpoints where it is defined, points: of the means over pruning seeds.

    Its upper end is the largest that the difference of any two checkpoints may be; its lower end the least that first
    and last differ by. The value is CMD's.
    """
    return _both(_range(_sizes(evidence, group)), _range(_cmd(evidence, group)))


@statistic
def rising_size(evidence: Evidence) -> Estimate:
    """How many more components the model needs once it generalises than the task alone needs, points.

    Of effective size: its growth on ID and OOD together (1:1) minus its growth on ID, from the last checkpoint without
    an effective size on OOD, where there is nothing to be faithful to, to the first with one. Of CMD: on J minus on ID
    at the first checkpoint where it is defined on J. What is needed of ID and J together grows beyond ID only if J
    needs more than ID. The value is CMD's.
    """
    ood, both, id_ = (_sizes(evidence, group) for group in (OOD, BOTH, ID))
    before, step = _onset(evidence)
    found = both.at(step).minus(both.at(before)).minus(id_.at(step).minus(id_.at(before)))
    size = _mean(found._replace(words=f"from step {before} to {step}; {both.words}; {id_.words}; {ood.words}"))
    j = _cmd(evidence, J)
    first = int(j.defined()[0])
    return _both(size, _mean(j.at(first).minus(_cmd(evidence, ID).at(first))))


def _both(*measures: tuple[Found, str]) -> Estimate:
    """One estimate of effective size and CMD, whose interval reaches over both."""
    (size, of_size), (cmd, of_cmd) = measures
    said = [f"{name} {_told(found)}" for name, found in ((SIZE, size), (CMD, cmd))]
    if size.high < cmd.low or cmd.high < size.low:
        said.append("the two disagree")
    low, high = np.min([size.low, cmd.low]), np.max([size.high, cmd.high])  # null where one is
    return Estimate(cmd.value, low, high, min(size.n, cmd.n), PRUNING_SEEDS, "; ".join([*said, of_size, of_cmd]))


def _told(found: Found) -> str:
    value = "of bounds " if np.isnan(found.value) else f"{found.value:.1f} "
    return value + ("without an interval" if np.isnan(found.low) else f"[{found.low:.1f}, {found.high:.1f}]")


def _range(curve: Curve) -> tuple[Found, str]:
    steps = curve.defined()
    if len(steps) < 2:
        raise CannotSay(f"defined at {len(steps)} checkpoints: {curve.words}")
    at = [curve.at(step) for step in steps]
    pairs = [_mean(one.minus(other))[0] for one in at for other in at if one is not other]
    ends = _mean(at[-1].minus(at[0]))[0]
    means = np.array([_mean(one)[0].value for one in at])  # NaN where one is a bound
    high = np.max([one.high for one in pairs])
    return Found(np.ptp(means), np.max([0.0, ends.low, -ends.high]), high, min(one.n for one in pairs)), curve.words


def _mean(curve: Curve) -> tuple[Found, str]:
    """The mean over seeds of the only row. Raises CannotSay where no seed has a value."""
    known = ~np.isnan(curve.least[0])
    if not known.any():
        raise CannotSay(f"no pruning seed has a value: {curve.words}")
    least, most, reach = (rows[0, known] for rows in curve[1:4])
    value = least.mean() if (least == most).all() else np.nan
    return Found(value, *interval_between(least, most, reach), int(known.sum())), curve.words


def _sizes(evidence: Evidence, group: str) -> Curve:
    """Effective sizes on a group by accuracy at the study's margin, thresholded per seed."""
    evidence.sound("sizes")
    rows = _rows(evidence, group)
    seeds, means = rows[rows["seed"].notna()], rows[rows["seed"].isna()]
    told = [
        f"{row.step} " + (f"{row.effective_size:.1f}" if what == "defined" else _word(row, what))
        for row, what in zip(means.itertuples(), state(means), strict=True)
    ]
    words = f"{SIZE}, {LABELS.get(group, 'ID and OOD 1:1')}: {', '.join(told)}"
    return _curve(seeds.assign(reach=reach_of(seeds)), "least", "most", words)


def _word(row, what: str) -> str:
    return bound(row.least, row.most) if what == "bounded" else what


def _rows(evidence: Evidence, group: str) -> pd.DataFrame:
    rows = evidence.table("effective_size")
    main = (rows["criterion"] == "accuracy") & (rows["threshold"] == evidence.context.margin)
    here = main & (rows["group"] == group) & (rows["order"] == "per-seed")
    return some(rows[here], f"effective size on {group}").sort_values("step", kind="stable")


def _cmd(evidence: Evidence, group: str) -> Curve:
    """CMD on a group. Raises CannotSay where it is defined nowhere."""
    evidence.sound("sizes")
    rows = evidence.table("circuit_performance")
    rows = some(rows[rows["group"] == group], f"{CMD} on {group}").sort_values("step", kind="stable")
    seeds, means = rows[rows["seed"].notna()], rows[rows["seed"].isna()]
    told = means["cmd"].map("{:.1f}".format, na_action="ignore").astype(object)
    told = told.fillna(means["reason"].str.partition(":")[0])
    told = ", ".join(f"{step} {one}" for step, one in zip(means["step"], told, strict=True))
    words = f"{CMD}, {LABELS[group]}: {told}"
    if seeds["cmd"].isna().all():
        raise CannotSay(f"{words}: {means['reason'].iloc[-1]}")
    return _curve(seeds, "cmd", "cmd", words)


def _curve(rows: pd.DataFrame, least: str, most: str, words: str) -> Curve:
    frames = [rows.pivot(index="step", columns="seed", values=name).sort_index() for name in (least, most, "reach")]
    return Curve(frames[0].index.to_numpy(int), *(one.to_numpy(float, na_value=np.nan) for one in frames), words)


def _onset(evidence: Evidence) -> tuple[int, int]:
    """The last step at which effective size on OOD is undefined, and the first after it with a size."""
    means = _rows(evidence, OOD)
    means = means[means["seed"].isna()]
    step = int(some(means[means["least"].notna()], "effective size on OOD at any checkpoint")["step"].iloc[0])
    before = means[(state(means) == UNDEFINED) & (means["step"] < step)]["step"]
    if before.empty:
        raise CannotSay(f"effective size on OOD is defined from the first checkpoint on, step {step}")
    return int(before.iloc[-1]), step
