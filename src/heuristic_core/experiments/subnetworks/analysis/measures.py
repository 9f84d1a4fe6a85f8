"""J and AUC from predictions: how well a model tells entailment from the rest where the heuristic predicts entailment.

Module `accuracy` defines J. The AUC of an OOD and an entailment subset is the percentage of couples of pairs, one from
each subset, in which the entailment pair has the higher log odds of entailment; ties count half. It is the area under
the ROC curve (Bamber 1975), and 50 for a model that cannot distinguish the two, whatever its threshold. The AUC of a
family is the mean over its couples of subsets, the AUC of a model is the mean over families.

Both measures are sums of means over the pairs of single subsets: J exactly, AUC to first order, through placement
values. The placement value of a pair is the share of the other side's pairs that it is ordered correctly against
(DeLong, DeLong and Clarke-Pearson 1988; for clusters, here templates, Obuchowski 1997). Their intervals therefore use
the same draws of subsets as all other intervals. Near 100, AUC depends on the few pairs that are out of order, so its
interval is symmetric on the logit scale: a symmetric one covers 99.3 % in 83 of 100 samples of 60 and 40 pairs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.accuracy import (
    AUC,
    ENTAILMENT,
    MIN_VALUES,
    OOD,
    J,
    select_j_rows,
)
from heuristic_core.stats.bootstrap import (
    Resamples,
    bound_accuracy_interval,
    clip_change,
    logit_interval,
    sum_interval,
    widen_flat_sides,
    wilson_zero_bound,
)

SIDES = (OOD, ENTAILMENT)


@dataclass(frozen=True)
class Subset:
    """The models of one checkpoint on one subset.

    Attributes:
        identity: Columns subset, group and family.
        correct: 0 or 1, [pairs, models].
        log_odds: Log odds of the true label, nats, [pairs, models]; None where unknown.
        draws: Accuracy in each draw of `resamples`, percent, [count, models].
        resamples: Bootstrap draws of the subset's pairs.
    """

    identity: dict
    correct: np.ndarray
    log_odds: np.ndarray | None
    draws: np.ndarray
    resamples: Resamples


class Part(NamedTuple):
    """The contribution of one subset to a measure: `weight` times a mean over its pairs.

    Attributes:
        side: Group of the subset, one of `SIDES`.
        weight: Factor of the mean.
        level: What the part belongs to, percent, [models]: the accuracy of its side, or AUC.
        draws: Deviation of the mean from its observed value in each draw, [count, models].
        resamples: Bootstrap draws of the subset's pairs.
        pairs: Number of pairs.
    """

    side: str
    weight: float
    level: np.ndarray
    draws: np.ndarray
    resamples: Resamples
    pairs: int


class Measure(NamedTuple):
    """J or AUC of all models, of one family or averaged over families.

    Attributes:
        group: `J` or `AUC`.
        family: Name of the family; None for the mean over families.
        value: Points (J) or percent (AUC), [models].
        parts: Contributions of subsets.
    """

    group: str
    family: str | None
    value: np.ndarray
    parts: list[Part]

    @property
    def units(self) -> list[int]:
        """Number of bootstrap units of each part."""
        return [part.resamples.units for part in self.parts]

    @property
    def weights(self) -> list[float]:
        """Weight of each part."""
        return [part.weight for part in self.parts]

    @property
    def pairs(self) -> int:
        """Number of pairs in all parts."""
        return sum(part.pairs for part in self.parts)

    def columns(self) -> dict:
        """Return the columns of the value and its interval, named as for accuracies."""

        def extend(part: int, units: int) -> tuple[np.ndarray, np.ndarray]:
            """Return how far the exact bounds of an accuracy reach below and above its level."""
            level = np.round(self.parts[part].level, 9)
            bounds = bound_accuracy_interval(level, level, units)
            return level - bounds[0], bounds[1] - level

        low, high = self._interval(self.value, lambda draws: draws, extend)
        if self.group == AUC:
            low, high = logit_interval(self.value, low, high)
        return {
            "n": self.pairs,
            "accuracy": self.value,
            "low": np.clip(low, MIN_VALUES.get(self.group, 0), 100),
            "high": np.clip(high, MIN_VALUES.get(self.group, 0), 100),
            "unit": " or ".join(sorted({part.resamples.unit for part in self.parts})),
            "units": sum(self.units),
        }

    def effect(
        self, effect: Callable[[np.ndarray], np.ndarray], changes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Compute a linear effect of the values and its 95 % interval.

        Args:
            effect: Linear function of values by model, [..., models].
            changes: Number of changes that the effect is the sum of, [models], as in `bootstrap.widen_change_interval`.

        Returns:
            The effect and the lower and upper ends of its interval.
        """
        value = effect(self.value)
        ends = self._interval(value, effect, lambda _, units: (changes * wilson_zero_bound(units),) * 2)
        limit = 100 - MIN_VALUES.get(self.group, 0)
        return value, *(clip_change(end, changes, limit) for end in ends)

    def _interval(self, value, effect, extend) -> tuple[np.ndarray, np.ndarray]:
        """Return the interval of an effect, extended by what :func:`.widen_flat_sides` adds."""
        draws = [effect(part.draws) for part in self.parts]
        bounds = sum_interval(draws, self.units, np.zeros_like(value), self.weights)
        sides = [part.side for part in self.parts]
        below, above = widen_flat_sides(bounds, draws, self.units, self.weights, sides, extend)
        return value - below, value + above


def compute_measures(subsets: Sequence[Subset]) -> tuple[list[Measure], list[Measure]]:
    """Compute J, and AUC where log odds are known.

    Returns:
        Means over families, and values by family. Both are empty if no family has both sides.
    """
    table = pd.DataFrame([subset.identity for subset in subsets], columns=["subset", "group", "family"])
    families = {J: [], AUC: []}
    for family, rows in select_j_rows(table, ["family"]).groupby("family", dropna=False, sort=False):
        weighted = [(subsets[k], rows.loc[k, "weight"]) for k in rows.index]
        name = family if isinstance(family, str) else None
        families[J].append(_compute_j(name, weighted))
        if all(subset.log_odds is not None for subset, _ in weighted):
            families[AUC].append(_compute_auc(name, weighted))
    return [_average_families(group) for group in families.values() if group], [*families[J], *families[AUC]]


def _average_families(families: list[Measure]) -> Measure:
    """Average a measure over families."""
    parts = [part._replace(weight=part.weight / len(families)) for family in families for part in family.parts]
    levels = {side: sum(part.weight * part.level for part in parts if part.side == side) for side in SIDES}
    value = np.mean([family.value for family in families], axis=0)
    return Measure(families[0].group, None, value, [part._replace(level=levels[part.side]) for part in parts])


def _compute_j(family: str | None, weighted: list[tuple[Subset, float]]) -> Measure:
    """Compute J of one family from its subsets and their weights."""
    levels = {
        side: sum(weight * 100 * subset.correct.mean(axis=0) for subset, weight in _select_side(weighted, side))
        for side in SIDES
    }
    parts = [
        _build_part(subset, weight, levels[subset.identity["group"]], subset.draws - 100 * subset.correct.mean(axis=0))
        for subset, weight in weighted
    ]
    return Measure(J, family, levels[OOD] + levels[ENTAILMENT] - 100, parts)


def _compute_auc(family: str | None, weighted: list[tuple[Subset, float]]) -> Measure:
    """Compute AUC of one family from its subsets and their weights.

    The true label of an OOD pair is "not entailment", so its log odds of entailment are the negated log odds of its
    label.
    """
    (ood, negative), (entailed, positive) = (
        (
            np.concatenate([sign * subset.log_odds for subset, _ in side]),
            np.concatenate([np.full(len(subset.correct), weight / len(subset.correct)) for subset, weight in side]),
        )
        for sign, side in ((-1, _select_side(weighted, OOD)), (1, _select_side(weighted, ENTAILMENT)))
    )
    placements = {
        OOD: 100 - 100 * _share_below(ood, entailed, positive),
        ENTAILMENT: 100 * _share_below(entailed, ood, negative),
    }
    value = negative @ placements[OOD]
    parts, offset = [], dict.fromkeys(SIDES, 0)
    for subset, weight in weighted:
        side, pairs = subset.identity["group"], len(subset.correct)
        values = placements[side][offset[side] : offset[side] + pairs]
        offset[side] += pairs
        parts.append(_build_part(subset, weight, value, subset.resamples.means(values) - values.mean(axis=0)))
    return Measure(AUC, family, value, parts)


def _select_side(weighted: list[tuple[Subset, float]], side: str) -> list[tuple[Subset, float]]:
    """Select the subsets of one side with their weights."""
    return [pair for pair in weighted if pair[0].identity["group"] == side]


def _build_part(subset: Subset, weight: float, level: np.ndarray, draws: np.ndarray) -> Part:
    """Build the part of one subset."""
    return Part(subset.identity["group"], weight, level, draws, subset.resamples, len(subset.correct))


def _share_below(values: np.ndarray, others: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Compute the weight of `others` below each value, counting ties half.

    Args:
        values: [n, models].
        others: [m, models].
        weights: [m].

    Returns:
        [n, models].
    """
    shares = np.empty(values.shape)
    for model in range(values.shape[1]):
        order = np.argsort(others[:, model], kind="stable")
        sums = np.concatenate([[0], np.cumsum(weights[order])])
        ranked = others[order, model]
        below, up_to = (np.searchsorted(ranked, values[:, model], side) for side in ("left", "right"))
        shares[:, model] = (sums[below] + sums[up_to]) / 2
    return shares
