"""Intervals over evaluation pairs: the bootstrap, paired over models and clustered by template.

All models of one subset are measured on the same draws, so that intervals of differences are paired. Where the pairs
of a subset come from several templates, templates are drawn, not pairs: pairs of one template are no independent
evidence (HANS has one to twelve templates a subcase, so that such intervals are wide).
"""

from collections.abc import Sequence

import numpy as np
from scipy.stats import norm, t

LOW, HIGH = 2.5, 97.5  # percentiles of a 95 % interval


class Resamples:
    """Draws with replacement of the units of one subset.

    templates: the template of every pair, None or NaN where unknown. count: draws.
    unit: "template" or "pair", what is drawn. units: how many there are.
    Draws of K units vary too little by a factor sqrt((K - 1) / K), and their percentiles know nothing of Student's t:
    with two templates an interval would hold the truth every other time. So draws are spread out from the observed
    mean by what both make, which is next to nothing for a hundred units and a factor of nine for two.
    """

    def __init__(self, templates: Sequence[str | float | None], count: int, rng: np.random.Generator):
        known = all(isinstance(template, str) for template in templates) and len(set(templates)) > 1
        names = list(templates) if known else list(range(len(templates)))
        _, self._unit_of = np.unique(names, return_inverse=True)
        self.unit, self.units = ("template" if known else "pair"), int(self._unit_of.max()) + 1
        self._weights = rng.multinomial(self.units, np.full(self.units, 1 / self.units), size=count).astype(float)
        sizes = np.bincount(self._unit_of, minlength=self.units)
        self._pairs = self._weights @ sizes
        self._spread = _spread(self.units)

    def means(self, values: np.ndarray) -> np.ndarray:
        """The mean of `values` in every draw, spread out: [count, ...], from values by pair, [pairs, ...]."""
        values = np.asarray(values, dtype=float)
        sums = np.zeros((self.units, *values.shape[1:]))
        np.add.at(sums, self._unit_of, values)
        drawn = np.tensordot(self._weights, sums, axes=1)
        drawn /= self._pairs.reshape(-1, *[1] * (values.ndim - 1))
        observed = values.mean(axis=0)
        return observed + self._spread * (drawn - observed)


def _spread(units: int) -> float:
    if units < 2:
        return 1.0
    return np.sqrt(units / (units - 1)) * t.ppf(HIGH / 100, units - 1) / norm.ppf(HIGH / 100)


def of_accuracy(low: np.ndarray, high: np.ndarray, units: int) -> tuple[np.ndarray, np.ndarray]:
    """Intervals of an accuracy in percent, cut at 0 and 100; those without width there widened to Wilson's.

    Where all pairs are right, or all wrong, every bootstrap draw says so again, however few pairs there are.
    """
    low, high = np.clip(low, 0, 100), np.clip(high, 0, 100)
    z = norm.ppf(HIGH / 100) ** 2
    reach = 100 * z / (units + z)
    return np.where(low == 100, 100 - reach, low), np.where(high == 0, reach, high)


def interval(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The 2.5th and 97.5th percentile over the first axis of `draws`."""
    low, high = np.percentile(draws, [LOW, HIGH], axis=0)
    return low, high
