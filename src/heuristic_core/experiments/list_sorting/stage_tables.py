"""Stages and change points over seeds, and the change of every curve in every stage.

A change point over seeds is the geometric mean over the seeds that have it. Its 95 % interval resamples these seeds. It
includes at least the gap between the measured steps before and after the mean, because a change cannot be located
within this gap. The change of a curve in a stage is the difference of its values at the stage's ends, which are
measured steps: the mean over the seeds that have the stage and both values.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.list_sorting.config_llc import Stages
from heuristic_core.experiments.list_sorting.stages import FALL, RISE, STAGES, Fit, Stage, find_stages, fit_curve
from heuristic_core.stats.bootstrap import Resamples, sum_interval

LOSS, OVERLAP = "loss", "overlap"  # the curves that define stages
DIRECTIONS = {"fall": FALL, "rise": RISE}
Fits = dict[str, list[Fit | None]]  # by curve, one for each seed


def fit_curves(steps: Sequence[int], curves: Mapping[str, np.ndarray], settings: Stages) -> Fits:
    """Fit every seed's curves.

    Args:
        steps: Measured steps, ascending, at least 1.
        curves: Curves by name, [seeds, steps], NaN where unknown.
        settings: Settings of the fits.
    """
    return {name: [fit_curve(steps, values, settings) for values in curve] for name, curve in curves.items()}


def find_all_stages(fits: Fits) -> list[list[Stage]]:
    """Return the three stages of every seed, from its curves `LOSS` and `OVERLAP`."""
    return [find_stages(*seed_fits) for seed_fits in zip(fits[LOSS], fits[OVERLAP], strict=True)]


def stage_rows(steps: Sequence[int], stages: Sequence[Sequence[Stage]], settings: Stages) -> list[dict]:
    """Return start and end of each stage over seeds.

    step, low, high: None if no seed has the stage, with the reasons of all seeds. With a single seed, low and high are
    the ends of the gap between measured steps.

    Args:
        steps: Measured steps, ascending.
        stages: Stages of each seed.
        settings: Settings of the intervals.
    """
    rows = []
    for k, name in enumerate(STAGES):
        seed_stages = [stage[k] for stage in stages]
        reasons = sorted({stage.reason for stage in seed_stages if stage.reason})
        for point in ("start", "end"):
            points = [getattr(stage, point) for stage in seed_stages if stage.reason is None]
            summary = _over_seeds(points, steps, settings, f"{name} {point}")
            reason = "; ".join(reasons) if not points else None
            rows.append({"stage": name, "point": point, **summary, "of": len(stages), "reason": reason})
    return rows


def seed_stage_rows(seeds: Sequence[int], stages: Sequence[Sequence[Stage]]) -> list[dict]:
    """Return start and end of each stage of every model, null with a reason if it lacks the stage.

    Args:
        seeds: Training seeds.
        stages: Stages of these seeds, in the same order.
    """
    return [
        {"seed": seed, "stage": stage.name, "start": stage.start, "end": stage.end, "reason": stage.reason}
        for seed, seed_stages in zip(seeds, stages, strict=True)
        for stage in seed_stages
    ]


def change_rows(steps: Sequence[int], fits: Fits, settings: Stages) -> list[dict]:
    """Return start and end of the fall and of the rise of every curve over seeds, as :func:`stage_rows`.

    Args:
        steps: Measured steps, ascending.
        fits: Fits of every curve, one for each seed; None where too few values are known.
        settings: Settings of the intervals.
    """
    rows = []
    for (curve, seed_fits), (name, direction), point in product(fits.items(), DIRECTIONS.items(), ("start", "end")):
        runs = [fit.run(direction) for fit in seed_fits if fit is not None]
        points = [getattr(run, point) for run in runs if run]
        summary = _over_seeds(points, steps, settings, f"{curve} {name} {point}")
        reason = None if points else f"no seed's curve has a {name}" if runs else "too few values are known"
        rows.append({"curve": curve, "run": name, "point": point, **summary, "of": len(seed_fits), "reason": reason})
    return rows


def movement_rows(
    steps: Sequence[int], curves: Mapping[str, np.ndarray], stages: Sequence[Sequence[Stage]], settings: Stages
) -> list[dict]:
    """Return the change of every curve in every stage: mean over seeds, interval and direction.

    With fewer than two seeds, interval and direction are None.

    Args:
        steps: Measured steps, ascending.
        curves: Curves by name, [seeds, steps], NaN where unknown.
        stages: Stages of each seed.
        settings: Settings of the intervals.
    """
    rows, indices = [], {step: k for k, step in enumerate(steps)}
    for (curve, seed_curves), (k, name) in product(curves.items(), enumerate(STAGES)):
        pairs = [
            (values, seed_stages[k])
            for values, seed_stages in zip(seed_curves, stages, strict=True)
            if seed_stages[k].reason is None
        ]
        changes = np.array([values[indices[stage.end]] - values[indices[stage.start]] for values, stage in pairs])
        changes = changes[np.isfinite(changes)]
        row = {"curve": curve, "stage": name, "seeds": len(changes), "of": len(stages)}
        row |= dict.fromkeys(("change", "low", "high", "direction", "reason"))
        if not len(changes):
            rows.append(row | {"reason": "no seed has the stage and the curve's values at both of its ends"})
            continue
        row["change"] = float(changes.mean())
        if len(changes) < 2:
            rows.append(row | {"reason": "an interval needs two seeds"})
            continue
        low, high = _interval(changes, settings, f"{curve} in {name}")
        direction = "falls" if high < 0 else "rises" if low > 0 else "not clear"
        rows.append(row | {"low": low, "high": high, "direction": direction})
    return rows


def _over_seeds(points: Sequence[float], steps: Sequence[int], settings: Stages, name: str) -> dict:
    """Return step, low, high and the number of seeds of the change points of some seeds."""
    if not points:
        return {"step": None, "low": None, "high": None, "seeds": 0}
    logs = np.log(points)
    step = math.exp(logs.mean())
    neighbours = [max((measured for measured in steps if measured < step * (1 - 1e-6)), default=steps[0])]
    neighbours += [min((measured for measured in steps if measured > step * (1 + 1e-6)), default=steps[-1])]
    low, high = map(math.exp, _interval(logs, settings, name)) if len(points) > 1 else (step, step)
    low, high = max(min(low, neighbours[0]), steps[0]), min(max(high, neighbours[1]), steps[-1])
    return {"step": step, "low": float(low), "high": float(high), "seeds": len(points)}


def _interval(values: np.ndarray, settings: Stages, name: str) -> tuple[float, float]:
    """Return the 95 % interval of a mean over seeds."""
    count = len(values)
    resamples = Resamples([None] * count, settings.bootstrap, numpy_generator(settings.seed, "stages", name))
    low, high = sum_interval([resamples.means(values)], [count], values.mean())
    return float(low), float(high)
