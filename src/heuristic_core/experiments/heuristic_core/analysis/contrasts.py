"""Differences between models on the same pairs, as measures (:mod:`.levels`) with paired intervals.

A measure is a weighted sum of means over the pairs of one subset each, so a difference of measures is that sum of mean
differences, and all differences of a subset are measured on the same bootstrap draws (:mod:`.bootstrap`).
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy  # loads scipy.stats where it is used: Snakemake reads this module at every start

from heuristic_core.analysis.bootstrap import (
    HIGH,
    Resamples,
    degrees_of_freedom,
    interval,
    percentiles,
    unseen,
    with_unseen,
)
from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.heuristic_core.analysis.accuracy import J, both_sides, chosen

ACCURACY, LOG_ODDS = "accuracy", "log_odds"
CLEAR = 1e-9  # points or nats; a difference that is no larger is none


class Level(NamedTuple):
    """A measure. identity: subset, group, family and n, nulls where they do not apply. weights: [subsets]."""

    identity: dict
    weights: np.ndarray

    @property
    def base(self) -> float:
        """What is added to the weighted sum of accuracies, points."""
        return -100.0 if self.identity["group"] == J else 0.0

    def has(self, measure: str) -> bool:
        """Whether the level has a value of `measure`: J is of accuracy alone."""
        return measure == ACCURACY or self.identity["group"] != J


class Drawn(NamedTuple):
    """Means over pairs by subset, [subsets, k], and, of each subset, what they are in every draw, [draws, k]."""

    means: np.ndarray
    draws: list[np.ndarray]


class Levels:
    """The measures of models that were evaluated on one set of pairs."""

    def __init__(self, pairs: Mapping[str, np.ndarray], subsets: Collection[str] | None, bootstrap: int, seed: int):
        """pairs: columns subset, group, family and template of predictions. subsets: those that enter means."""
        table = pd.DataFrame({name: pairs[name] for name in ("subset", "group", "family", "template")})
        self._rows, self._resamples, found = [], [], []
        for (subset, group, family), rows in table.groupby(["subset", "group", "family"], dropna=False, sort=False):
            rng = numpy_generator(seed, "bootstrap", subset, group)
            self._rows.append(rows.index.to_numpy())
            self._resamples.append(Resamples(rows["template"].tolist(), bootstrap, rng))
            family = family if isinstance(family, str) else None
            found.append({"subset": subset, "group": group, "family": family, "n": len(rows)})
        self._table = pd.DataFrame(found)
        self.levels = [Level(one, row) for one, row in zip(found, np.eye(len(found)), strict=True)]
        self.levels += _means(chosen(self._table, subsets), len(found))

    def means(self, values: np.ndarray) -> np.ndarray:
        """Means by subset, [subsets, k], of values by pair, [pairs, k]."""
        return np.array([values[rows].mean(axis=0, dtype=float) for rows in self._rows])

    def drawn(self, values: np.ndarray) -> Drawn:
        """Of values by pair, [pairs, k]."""
        parts = zip(self._resamples, self._rows, strict=True)
        return Drawn(self.means(values), [resamples.means(values[rows]) for resamples, rows in parts])

    def effect(self, level: Level, drawn: Drawn, measure: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Differences at a level, [k], and the ends of their intervals.

        drawn: of differences by pair. Unseen pairs add to the width where accuracies of one class never differ.
        """
        parts, units, weights = self._parts(level, drawn)
        value = level.weights @ drawn.means
        low, high = interval(parts, units, value, weights)
        if measure == ACCURACY:
            low, high = self._widened(level, (value, low, high), (parts, units, weights), 1)
        return value, low, high

    def p(self, level: Level, drawn: Drawn) -> np.ndarray:
        """Two-sided p that differences are 0, [k]: Student's t over pairs (templates where a subset has several).

        The bootstrap draws give the standard error. p is 1 where nothing differs on any pair, and null where all
        draws are the same though something does.
        """
        parts, units, weights = self._parts(level, drawn)
        parts = [weight * part for weight, part in zip(weights, parts, strict=True)]
        error, value = np.sum(parts, axis=0).std(axis=0), level.weights @ drawn.means
        flat = error <= CLEAR
        p = 2 * scipy.stats.t.sf(np.abs(value) / np.where(flat, 1, error), degrees_of_freedom(parts, units))
        return np.where(flat, np.where(np.abs(value) <= CLEAR, 1.0, np.nan), p)

    def ratio(self, level: Level, drawn: Drawn, of: Drawn, measure: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Differences, [k], over one other, [1] or [k], and the ends of their intervals, by the draws of both.

        Only where the interval of the denominator is clear of 0 does a ratio mean something. Widened as
        :func:`.bootstrap.interval` is, with the degrees of freedom of the ratio to first order; and, as an effect is,
        where the difference is the same share of the other one in all draws of a class of pairs.
        """
        parts, units, weights = self._parts(level, drawn)
        below = self._parts(level, of)[0]
        value, total = level.weights @ drawn.means, level.weights @ of.means
        with np.errstate(divide="ignore", invalid="ignore"):
            share = value / total
            sums = [sum(w * part for w, part in zip(weights, many, strict=True)) for many in (parts, below)]
            low, high = percentiles(sums[0] / sums[1])
        first = [w * (part - share * other) for w, part, other in zip(weights, parts, below, strict=True)]
        wider = scipy.stats.t.ppf(HIGH / 100, degrees_of_freedom(first, units)) / scipy.stats.norm.ppf(HIGH / 100)
        low, high = share + wider * (low - share), share + wider * (high - share)
        if measure == ACCURACY:
            rest = [part - share * other for part, other in zip(parts, below, strict=True)]
            low, high = self._widened(level, (share, low, high), (rest, units, weights), np.abs(total))
        return share, low, high

    def _widened(self, level: Level, estimate: tuple, summed: tuple, total) -> tuple[np.ndarray, np.ndarray]:
        """Ends of an interval with what unseen pairs may add, over `total`. estimate: value, low, high. summed: see
        :meth:`_parts`."""
        value, low, high = estimate
        sides = self._table["group"].iloc[np.flatnonzero(level.weights)].tolist()
        ends = value - low, high - value
        below, above = with_unseen(ends, *summed, sides, lambda _, units: (unseen(units) / total,) * 2)
        return value - below, value + above

    def _parts(self, level: Level, drawn: Drawn) -> tuple[list[np.ndarray], list[int], list[float]]:
        """Draws, units and weight of each subset that enters a level."""
        entering = np.flatnonzero(level.weights)
        units = [self._resamples[k].units for k in entering]
        return [drawn.draws[k] for k in entering], units, level.weights[entering].tolist()


def _means(entering: pd.DataFrame, count: int) -> list[Level]:
    """The means over groups, over a family's groups, and J, of a model and of each family."""
    of_family = entering[entering["family"].notna()]
    found = [(rows, 1 / len(rows), {"group": group}) for group, rows in entering.groupby("group", sort=False)]
    found += [
        (rows, 1 / len(rows), {"group": group, "family": family})
        for (group, family), rows in of_family.groupby(["group", "family"], sort=False)
    ]
    both = both_sides(entering.assign(model=0), ["model"])
    found += [(both, both["weight"].to_numpy(), {"group": J})] if len(both) else []
    by_family = both_sides(of_family, ["family"]).groupby("family", sort=False)
    found += [(rows, rows["weight"].to_numpy(), {"group": J, "family": family}) for family, rows in by_family]
    levels = []
    for rows, weight, identity in found:
        weights = np.zeros(count)
        weights[rows.index] = weight
        unnamed = {"subset": None, "family": None, "n": int(rows["n"].sum())}
        levels.append(Level(unnamed | identity, weights))
    return levels
