"""Change points of curves over training, and three stages: initial learning, head overlap, specialisation.

The rule. A curve of one seed is fitted by a continuous line of segments in the logarithm of the step, with at most
three knots at measured steps, or by a constant. Of the fits whose BIC is near the lowest, the one with the fewest knots
is taken. A segment rises or falls if its slope is at least half (`flat`) of that of a curve which goes through the
range of the fit evenly; otherwise it is flat. Neighbouring segments of one direction are one run. The fall (rise) of a
curve is the run down (up) with the largest change; where it starts and ends are its change points.

Initial learning: from the first measured step to the end of the loss's fall. Specialisation: the overlap's fall.
Head overlap: from the end of initial learning to the start of specialisation. A stage without its run is missing with a
reason, and so is head overlap where the overlap starts to fall before the loss has fallen.

Change points are taken seed by seed, as the mean curve of seeds that change at different steps changes more slowly than
each of them; :mod:`heuristic_core.experiments.list_sorting.stage_tables` has them over seeds.
"""

import math
from collections.abc import Sequence
from functools import cache
from itertools import combinations, groupby
from typing import NamedTuple

import numpy as np

from heuristic_core.experiments.list_sorting.config_llc import Stages

LEARNING, OVERLAP, SPECIALISATION = "initial learning", "head overlap", "specialisation"
STAGES = (LEARNING, OVERLAP, SPECIALISATION)
FALL, RISE = -1, 1
FEWEST = 5  # measured steps of a curve; fewer do not tell a change from noise


class Run(NamedTuple):
    """A run of segments of one direction. start, end: steps. before, after: the fit's values there."""

    start: float
    end: float
    before: float
    after: float


class Fit(NamedTuple):
    """A fitted curve. steps: ends of its segments. values: of the fit there. directions: of the segments: -1, 0, 1.

    explained: share of the curve's variance that the fit has; None of a constant curve.
    """

    steps: tuple[float, ...]
    values: tuple[float, ...]
    directions: tuple[int, ...]
    explained: float | None

    def run(self, direction: int) -> Run | None:
        """The run of `direction` with the largest change."""
        found = []
        for own, segments in groupby(range(len(self.directions)), key=self.directions.__getitem__):
            if own == direction:
                first, *others = segments
                last = max(others, default=first) + 1
                found.append(Run(self.steps[first], self.steps[last], self.values[first], self.values[last]))
        return max(found, key=lambda one: abs(one.after - one.before), default=None)


def fitted(steps: Sequence[float], values: Sequence[float], settings: Stages) -> Fit | None:
    """The fit of one curve; None where fewer than `FEWEST` of its values are known.

    steps: ascending, at least 1. values: NaN where unknown.
    """
    values = np.asarray(values, dtype=float)
    known = np.isfinite(values)
    steps, values = np.asarray(steps)[known], values[known]
    if len(values) < FEWEST:
        return None
    spread = float(np.ptp(values))
    if spread == 0:
        return _fit(steps, values, (), np.full(2, values[0]), settings)
    floor = len(values) * (settings.resolution * spread) ** 2
    best = [(_bic(max(_square(values - values.mean()), floor), len(values), 1), (), np.full(2, values.mean()))]
    for knots in range(settings.knots + 1):
        if len(values) < FEWEST + 2 * knots:  # the criterion has no value
            break
        sets, bases = _bases(tuple(np.log(steps)), knots)
        missed = _square(values) - ((bases.transpose(0, 2, 1) @ values) ** 2).sum(axis=1)
        at = int(missed.argmin())
        level = bases[at] @ (bases[at].T @ values)
        bic = _bic(max(_square(values - level), floor), len(values), 2 + 2 * knots)
        best.append((bic, sets[at], level[[0, *sets[at], -1]]))
    lowest = min(bic for bic, *_ in best)
    _, inner, level = next(one for one in best if one[0] <= lowest + settings.evidence)
    return _fit(steps, values, inner, level, settings)


def _fit(steps: np.ndarray, values: np.ndarray, inner: tuple[int, ...], level: np.ndarray, settings: Stages) -> Fit:
    times, places = np.log(steps), [0, *inner, -1]
    ends = times[places]
    spread, length = np.ptp(level), times[-1] - times[0]
    relative = np.diff(level) / np.diff(ends) * length / (spread or 1)
    directions = np.where(np.abs(relative) < settings.flat, 0, np.sign(relative)).astype(int)
    around = _square(values - values.mean())
    explained = 1 - _square(values - np.interp(times, ends, level)) / around if around > 0 else None
    return Fit(tuple(steps[places].tolist()), tuple(level.tolist()), tuple(directions.tolist()), explained)


def _bic(missed: float, count: int, terms: int) -> float:
    """Schwarz's criterion of a least-squares fit with `terms` terms, corrected for few measurements.

    A knot is two terms, its place and its slope. The correction n / (n - terms - 1) is that of Hurvich and Tsai (1989)
    for Akaike's criterion, put on Schwarz's: without it, noise at 9 steps has a change in 4 of 10 curves; with it,
    in 1 of 20. At 9 steps it leaves no room for a second knot; a fall within a curve needs 12 steps or more.
    """
    return count * math.log(missed / count) + terms * math.log(count) * count / (count - terms - 1)


def _square(values: np.ndarray) -> float:
    return float((values**2).sum())


@cache
def _bases(times: tuple[float, ...], knots: int) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """Every set of `knots` inner positions, and an orthonormal basis of its lines, [sets, times, 2 + knots]."""
    t = np.array(times)
    sets = list(combinations(range(1, len(t) - 1), knots))
    columns = [[np.ones_like(t), t, *(np.maximum(t - t[k], 0) for k in one)] for one in sets]
    return sets, np.linalg.qr(np.array(columns).transpose(0, 2, 1))[0]


class Stage(NamedTuple):
    """A stage of one seed, from step `start` to step `end`; both None, with a reason, where it does not exist."""

    name: str
    start: float | None
    end: float | None
    reason: str | None = None


def stages_of(loss: Fit | None, overlap: Fit | None) -> list[Stage]:
    """The three stages of one seed, in order. loss, overlap: None where too few values are known."""
    learned, special = (fit and fit.run(FALL) for fit in (loss, overlap))
    why, why_not = _why_no_fall(loss, "loss"), _why_no_fall(overlap, "overlap")
    first = Stage(LEARNING, loss.steps[0], learned.end) if learned else Stage(LEARNING, None, None, why)
    last = Stage(SPECIALISATION, special.start, special.end) if special else Stage(SPECIALISATION, None, None, why_not)
    if not learned or not special:
        reason = "; ".join(filter(None, (why, why_not)))
    elif special.start <= learned.end:
        reason = f"the overlap falls from step {special.start:g} on, and the loss until step {learned.end:g}"
    else:
        return [first, Stage(OVERLAP, learned.end, special.start), last]
    return [first, Stage(OVERLAP, None, None, reason), last]


def _why_no_fall(fit: Fit | None, what: str) -> str | None:
    if fit is None:
        return f"fewer than {FEWEST} values of the {what} are known"
    return None if fit.run(FALL) else f"the {what} does not fall"
