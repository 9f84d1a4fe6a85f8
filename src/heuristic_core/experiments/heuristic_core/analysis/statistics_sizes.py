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
    """A measure over fine-tuning: by [step, pruning seed] the least and the most that it may be, and how far pairs let
    it be off, all null where it is undefined. steps: what it is at every checkpoint, in words."""

    least: pd.DataFrame
    most: pd.DataFrame
    reach: pd.DataFrame
    words: str

    def minus(self, other: "Curve") -> "Curve":
        reach = np.sqrt(self.reach**2 + other.reach**2)
        return Curve(self.least - other.most, self.most - other.least, reach, f"{self.words}; {other.words}")

    def at(self, step: int) -> "Curve":
        """One row, whatever its step is called."""
        return self._replace(**{name: getattr(self, name).loc[[step]].set_axis([0]) for name in FRAMES})


FRAMES = ("least", "most", "reach")


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
    first = int(j.least.dropna(how="all").index[0])
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
    steps = curve.least.dropna(how="all").index
    if len(steps) < 2:
        raise CannotSay(f"defined at {len(steps)} checkpoints: {curve.words}")
    pairs = [_mean(curve.at(one).minus(curve.at(other)))[0] for one in steps for other in steps if one != other]
    ends = _mean(curve.at(steps[-1]).minus(curve.at(steps[0])))[0]
    low = np.max([0.0, ends.low, -ends.high])
    means = (curve.least.loc[steps].mean(axis=1) + curve.most.loc[steps].mean(axis=1)) / 2
    known = (curve.least.loc[steps] == curve.most.loc[steps]).where(curve.least.loc[steps].notna(), True).all(axis=None)
    value = float(np.ptp(means)) if known else np.nan
    return Found(value, low, np.max([one.high for one in pairs]), min(one.n for one in pairs)), curve.words


def _mean(curve: Curve) -> tuple[Found, str]:
    """The mean over seeds of the only row. Raises CannotSay where no seed has a value."""
    of_seeds = pd.DataFrame({name: getattr(curve, name).iloc[0] for name in FRAMES}).dropna()
    if of_seeds.empty:
        raise CannotSay(f"no pruning seed has a value: {curve.words}")
    low, high = interval_between(of_seeds["least"], of_seeds["most"], of_seeds["reach"])
    value = of_seeds["least"].mean() if (of_seeds["least"] == of_seeds["most"]).all() else np.nan
    return Found(value, low, high, len(of_seeds)), curve.words


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
    return _curve(seeds.assign(reach=reach_of(seeds).where(seeds["least"].notna())), "least", "most", words)


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
    frames = (rows.pivot(index="step", columns="seed", values=name).sort_index() for name in (least, most, "reach"))
    return Curve(*frames, words)


def _onset(evidence: Evidence) -> tuple[int, int]:
    """The last step at which effective size on OOD is undefined, and the first after it with a size."""
    means = _rows(evidence, OOD)
    means = means[means["seed"].isna()]
    step = int(some(means[means["least"].notna()], "effective size on OOD at any checkpoint")["step"].iloc[0])
    before = means[(state(means) == UNDEFINED) & (means["step"] < step)]["step"]
    if before.empty:
        raise CannotSay(f"effective size on OOD is defined from the first checkpoint on, step {step}")
    return int(before.iloc[-1]), step
