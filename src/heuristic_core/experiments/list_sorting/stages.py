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
MIN_STEPS = 5  # measured steps of a curve; with fewer, a change cannot be distinguished from noise


class Run(NamedTuple):
    """A run of segments of one direction.

    Attributes:
        start: First step.
        end: Last step.
        before: Value of the fit at the first step.
        after: Value of the fit at the last step.
    """

    start: float
    end: float
    before: float
    after: float


class Fit(NamedTuple):
    """A fitted curve.

    Attributes:
        steps: Ends of its segments.
        values: Values of the fit there.
        directions: Directions of the segments: -1, 0, 1.
        explained: Share of the curve's variance that the fit explains; None for a constant curve.
    """

    steps: tuple[float, ...]
    values: tuple[float, ...]
    directions: tuple[int, ...]
    explained: float | None

    def run(self, direction: int) -> Run | None:
        """Return the run of `direction` with the largest change, if any."""
        runs = []
        for sign, segments in groupby(range(len(self.directions)), key=self.directions.__getitem__):
            if sign == direction:
                first, *others = segments
                last = max(others, default=first) + 1
                runs.append(Run(self.steps[first], self.steps[last], self.values[first], self.values[last]))
        return max(runs, key=lambda run: abs(run.after - run.before), default=None)


def fit_curve(steps: Sequence[float], values: Sequence[float], settings: Stages) -> Fit | None:
    """Fit one curve; None if fewer than `MIN_STEPS` of its values are known.

    Args:
        steps: Steps, ascending, at least 1.
        values: Values, NaN where unknown.
        settings: Settings of the fit.
    """
    values = np.asarray(values, dtype=float)
    finite = np.isfinite(values)
    steps, values = np.asarray(steps)[finite], values[finite]
    if len(values) < MIN_STEPS:
        return None
    spread = float(np.ptp(values))
    if spread == 0:
        return _fit(steps, values, (), np.full(2, values[0]), settings)
    floor = len(values) * (settings.resolution * spread) ** 2
    fits = [(_bic(max(_sum_of_squares(values - values.mean()), floor), len(values), 1), (), np.full(2, values.mean()))]
    for knots in range(settings.knots + 1):
        if len(values) < MIN_STEPS + 2 * knots:  # the criterion has no value
            break
        sets, bases = _bases(tuple(np.log(steps)), knots)
        residuals = _sum_of_squares(values) - ((bases.transpose(0, 2, 1) @ values) ** 2).sum(axis=1)
        k = int(residuals.argmin())
        level = bases[k] @ (bases[k].T @ values)
        bic = _bic(max(_sum_of_squares(values - level), floor), len(values), 2 + 2 * knots)
        fits.append((bic, sets[k], level[[0, *sets[k], -1]]))
    lowest = min(bic for bic, *_ in fits)
    _, inner, level = next(fit for fit in fits if fit[0] <= lowest + settings.evidence)
    return _fit(steps, values, inner, level, settings)


def _fit(steps: np.ndarray, values: np.ndarray, inner: tuple[int, ...], level: np.ndarray, settings: Stages) -> Fit:
    """Return the fit with the knots `inner` and the values `level` at the ends of its segments."""
    times, places = np.log(steps), [0, *inner, -1]
    ends = times[places]
    spread, length = np.ptp(level), times[-1] - times[0]
    relative = np.diff(level) / np.diff(ends) * length / (spread or 1)
    directions = np.where(np.abs(relative) < settings.flat, 0, np.sign(relative)).astype(int)
    total = _sum_of_squares(values - values.mean())
    explained = 1 - _sum_of_squares(values - np.interp(times, ends, level)) / total if total > 0 else None
    return Fit(tuple(steps[places].tolist()), tuple(level.tolist()), tuple(directions.tolist()), explained)


def _bic(residual: float, count: int, terms: int) -> float:
    """Compute Schwarz's criterion of a least-squares fit with `terms` terms, corrected for few measurements.

    A knot is two terms, its place and its slope. The correction n / (n - terms - 1) is Hurvich and Tsai's (1989) for
    Akaike's criterion, applied to Schwarz's: without it, noise at 9 steps has a change in 4 of 10 curves; with it, in 1
    of 20. At 9 steps it leaves no room for a second knot; a fall within a curve needs 12 steps or more.
    """
    return count * math.log(residual / count) + terms * math.log(count) * count / (count - terms - 1)


def _sum_of_squares(values: np.ndarray) -> float:
    """Return the sum of squares."""
    return float((values**2).sum())


@cache
def _bases(times: tuple[float, ...], knots: int) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """Return every set of `knots` inner positions, and orthonormal bases of its lines, [sets, times, 2 + knots]."""
    t = np.array(times)
    sets = list(combinations(range(1, len(t) - 1), knots))
    columns = [[np.ones_like(t), t, *(np.maximum(t - t[k], 0) for k in positions)] for positions in sets]
    return sets, np.linalg.qr(np.array(columns).transpose(0, 2, 1))[0]


class Stage(NamedTuple):
    """A stage of one seed.

    Attributes:
        name: Name of the stage.
        start: First step; None if the stage does not exist.
        end: Last step; None if the stage does not exist.
        reason: Why the stage does not exist.
    """

    name: str
    start: float | None
    end: float | None
    reason: str | None = None


def find_stages(loss: Fit | None, overlap: Fit | None) -> list[Stage]:
    """Return the three stages of one seed, in order.

    Args:
        loss: Fit of the loss; None if too few values are known.
        overlap: Fit of the overlap; None if too few values are known.
    """
    loss_fall, overlap_fall = (fit and fit.run(FALL) for fit in (loss, overlap))
    no_loss_fall, no_overlap_fall = _explain_missing_fall(loss, "loss"), _explain_missing_fall(overlap, "overlap")
    first = Stage(LEARNING, loss.steps[0], loss_fall.end) if loss_fall else Stage(LEARNING, None, None, no_loss_fall)
    last = (
        Stage(SPECIALISATION, overlap_fall.start, overlap_fall.end)
        if overlap_fall
        else Stage(SPECIALISATION, None, None, no_overlap_fall)
    )
    if not loss_fall or not overlap_fall:
        reason = "; ".join(filter(None, (no_loss_fall, no_overlap_fall)))
    elif overlap_fall.start <= loss_fall.end:
        reason = f"the overlap falls from step {overlap_fall.start:g} on, and the loss until step {loss_fall.end:g}"
    else:
        return [first, Stage(OVERLAP, loss_fall.end, overlap_fall.start), last]
    return [first, Stage(OVERLAP, None, None, reason), last]


def _explain_missing_fall(fit: Fit | None, curve: str) -> str | None:
    """Return why a curve does not fall, or None if it falls."""
    if fit is None:
        return f"fewer than {MIN_STEPS} values of the {curve} are known"
    return None if fit.run(FALL) else f"the {curve} does not fall"
