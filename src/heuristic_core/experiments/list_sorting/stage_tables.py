"""Stages and change points over seeds, and what every curve does in every stage.

A change point over seeds is the geometric mean of those seeds that have it. Its 95 % interval resamples these seeds.
The interval reaches at least to the measured steps before and after the mean, as a change cannot be placed within that
gap. A curve's change in a stage is between its measured values at the stage's ends, which are measured steps: the mean
over the seeds that have the stage and both values.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from heuristic_core.analysis.bootstrap import Resamples, interval
from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.list_sorting.config_llc import Stages
from heuristic_core.experiments.list_sorting.stages import FALL, RISE, STAGES, Fit, Stage, fitted, stages_of

LOSS, OVERLAP = "loss", "overlap"  # the curves that define stages
DIRECTIONS = {"fall": FALL, "rise": RISE}
Fits = dict[str, list[Fit | None]]  # by curve, one for each seed


def fits_of(steps: Sequence[int], curves: Mapping[str, np.ndarray], settings: Stages) -> Fits:
    """The fit of every seed's curves.

    steps: measured, ascending, at least 1. curves: by name, [seeds, steps], NaN where unknown.
    """
    return {name: [fitted(steps, values, settings) for values in curve] for name, curve in curves.items()}


def by_seed(fits: Fits) -> list[list[Stage]]:
    """The three stages of every seed, from its curves `LOSS` and `OVERLAP`."""
    return [stages_of(*of_seed) for of_seed in zip(fits[LOSS], fits[OVERLAP], strict=True)]


def stage_rows(steps: Sequence[int], stages: Sequence[Sequence[Stage]], settings: Stages) -> list[dict]:
    """Start and end of each stage over seeds.

    stages: of each seed. step, low, high: None where no seed has the stage, with the reasons of all seeds; of a single
    seed, low and high are those of the gap between measured steps.
    """
    rows = []
    for at, name in enumerate(STAGES):
        of_seeds = [one[at] for one in stages]
        reasons = sorted({one.reason for one in of_seeds if one.reason})
        for point in ("start", "end"):
            found = [getattr(one, point) for one in of_seeds if one.reason is None]
            where = _over_seeds(found, steps, settings, f"{name} {point}")
            reason = "; ".join(reasons) if not found else None
            rows.append({"stage": name, "point": point, **where, "of": len(stages), "reason": reason})
    return rows


def seed_stage_rows(seeds: Sequence[int], stages: Sequence[Sequence[Stage]]) -> list[dict]:
    """Start and end of each stage of every model, null with a reason where it has none. seeds, stages: in one order."""
    return [
        {"seed": seed, "stage": one.name, "start": one.start, "end": one.end, "reason": one.reason}
        for seed, of_seed in zip(seeds, stages, strict=True)
        for one in of_seed
    ]


def change_rows(steps: Sequence[int], fits: Fits, settings: Stages) -> list[dict]:
    """Start and end of the fall and of the rise of every curve over seeds, as :func:`stage_rows`."""
    rows = []
    for (curve, of_seeds), (word, direction), point in product(fits.items(), DIRECTIONS.items(), ("start", "end")):
        runs = [fit.run(direction) for fit in of_seeds if fit is not None]
        found = [getattr(run, point) for run in runs if run]
        where = _over_seeds(found, steps, settings, f"{curve} {word} {point}")
        reason = None if found else f"no seed's curve has a {word}" if runs else "too few values are known"
        rows.append({"curve": curve, "run": word, "point": point, **where, "of": len(of_seeds), "reason": reason})
    return rows


def movement_rows(
    steps: Sequence[int], curves: Mapping[str, np.ndarray], stages: Sequence[Sequence[Stage]], settings: Stages
) -> list[dict]:
    """How much every curve changes in every stage: mean over seeds, its interval, and rises, falls or not clear.

    steps, curves: as of :func:`fits_of`. With fewer than two seeds there is no interval, and no direction.
    """
    rows, places = [], {step: at for at, step in enumerate(steps)}
    for (curve, of_seeds), (at, name) in product(curves.items(), enumerate(STAGES)):
        have = [(values, one[at]) for values, one in zip(of_seeds, stages, strict=True) if one[at].reason is None]
        changes = np.array([values[places[stage.end]] - values[places[stage.start]] for values, stage in have])
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


def _over_seeds(found: Sequence[float], steps: Sequence[int], settings: Stages, name: str) -> dict:
    """step, low, high and the number of seeds behind them. found: the change point of each seed that has it."""
    if not found:
        return {"step": None, "low": None, "high": None, "seeds": 0}
    logs = np.log(found)
    step = math.exp(logs.mean())
    near = [max((one for one in steps if one < step * (1 - 1e-6)), default=steps[0])]
    near += [min((one for one in steps if one > step * (1 + 1e-6)), default=steps[-1])]
    low, high = map(math.exp, _interval(logs, settings, name)) if len(found) > 1 else (step, step)
    low, high = max(min(low, near[0]), steps[0]), min(max(high, near[1]), steps[-1])
    return {"step": step, "low": float(low), "high": float(high), "seeds": len(found)}


def _interval(values: np.ndarray, settings: Stages, name: str) -> tuple[float, float]:
    """95 % interval of a mean over seeds."""
    units = len(values)
    resamples = Resamples([None] * units, settings.bootstrap, numpy_generator(settings.seed, "stages", name))
    low, high = interval([resamples.means(values)], [units], values.mean())
    return float(low), float(high)
