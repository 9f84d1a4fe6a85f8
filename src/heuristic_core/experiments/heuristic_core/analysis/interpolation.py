"""Between a subnetwork that follows the heuristic and one that generalises: which components make the difference?

H is the learned subnetwork with the lowest J, M the one with the highest; a study without J has OOD accuracy in its
place. OOD accuracy alone would favour a subnetwork that rejects every overlap. The greedy path leads from H to M: at
every step the component that M has and H lacks is added which raises this measure most, then those that H alone has are
removed in the same way. H, M and every step are chosen on one half of the pairs, and all values are of the other half:
the best of many is better on the pairs that chose it than on others.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from heuristic_core.analysis.frames import frame
from heuristic_core.experiments.heuristic_core.analysis.accuracy import LABELS, OOD, RULES, J, both_sides, chosen
from heuristic_core.experiments.heuristic_core.analysis.measures import measures
from heuristic_core.experiments.heuristic_core.analysis.scores import compared, compared_measure, scores
from heuristic_core.experiments.heuristic_core.analysis.triples import choosing
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.models.components import Component, ComponentGrid

HEURISTIC, GENERALISING, PATH, WITH, WITHOUT = "H", "M", "path", "with", "without"
APART = 10.0  # points of the choosing measure between H and M; nearer ones have no path
PAIRS = ["subset", "group", "family", "template", "example"]
Kept = frozenset[int]
Predict = Callable[[Kept], Mapping[str, np.ndarray]]


class Model(NamedTuple):
    """A subnetwork that is measured. place: on the path, else None. component, added: what was changed last."""

    role: str
    kept: Kept
    place: int | None = None
    component: int | None = None
    added: bool | None = None


class Ends(NamedTuple):
    """The pruning seeds of H and M. apart: points of the choosing measure between them, on the choosing half."""

    heuristic: int
    generalising: int
    apart: float


def interpolation(
    learned: Mapping[int, Kept], predict: Predict, grid: ComponentGrid, analysis: Analysis, run: dict
) -> pd.DataFrame:
    """Table "interpolation".

    learned: components of every learned subnetwork by pruning seed. predict: the predictions of a set of components, as
    :func:`heuristic_core.evaluation.evaluate.predictions` gives them. run: identity columns.
    """
    if len(learned) < 2:
        reason = f"sound mid-sparsity subnetworks: {len(learned)}, and 2 are needed"
        return frame("interpolation", [run | {"reason": reason}])
    halves = Halves(predict, analysis)
    ends = ends_of(learned, halves.value)
    models, reason = [*_models(learned, ends, halves.value)], None
    if ends.apart < APART:
        measure = LABELS[halves.measure]
        reason = f"no path: H and M are {ends.apart:.1f} points of {measure} apart, and {APART:g} are needed"
    rows = _measured(models, halves, analysis)
    about = [_about(model, list(grid)) for model in models]
    rows = rows.merge(pd.DataFrame(about).assign(model=range(len(models))), on="model")
    identity = run | {"heuristic": ends.heuristic, "generalising": ends.generalising, "measure": halves.measure}
    identity |= {"reason": reason}
    return frame("interpolation", rows.sort_values(["model"], kind="stable").assign(**identity))


class Halves:
    """What sets of components get right on the two halves of the pairs; each set is predicted once.

    measure: group of what chooses, J where analysed families have both its sides, else OOD; None before a prediction.
    """

    def __init__(self, predict: Predict, analysis: Analysis):
        self._predict, self._analysis, self._rule = predict, analysis, RULES[analysis.class_rule]
        self._correct: dict[Kept, np.ndarray] = {}
        self._pairs: pd.DataFrame | None = None  # of any set, and which half a pair is of
        self._weights: np.ndarray | None = None  # of all pairs in the measure
        self.measure: str | None = None

    def value(self, kept: Kept) -> float:
        """The measure on the half that chooses: percent, or points of J. Rounded, so that sets alike are equal."""
        value = 100 * float((self._of(kept) * self._weights).sum())
        return round(value - 100 if self.measure == J else value, 9)

    def rows(self, kept: Kept) -> pd.DataFrame:
        """Predictions on the half that measures."""
        correct = self._of(kept)
        here = ~self._pairs["chooses"]
        return self._pairs[here].assign(**{self._rule: correct[here]})

    def _of(self, kept: Kept) -> np.ndarray:
        """Which pairs a set gets right, [pairs]."""
        if kept not in self._correct:
            found = self._predict(kept)
            self._correct[kept] = np.asarray(found[self._rule])
            if self._pairs is None:
                pairs = pd.DataFrame({name: found[name] for name in PAIRS})
                self._pairs = pairs.assign(chooses=choosing(pairs))
                self.measure, self._weights = _measure(self._pairs, self._analysis.subsets)
        return self._correct[kept]


def _measure(pairs: pd.DataFrame, subsets: Collection[str] | None) -> tuple[str, np.ndarray]:
    """The group of the measure that chooses, and the weight of every pair in it; 0 of those that do not choose.

    The weights of a side add up to 1.
    """
    entering = chosen(pairs[pairs["chooses"]], subsets)
    counts = entering.groupby(["chooses", "subset", "group", "family"], dropna=False, observed=True).size()
    counts = counts.reset_index(name="pairs")
    both = both_sides(counts, ["chooses"])
    ood = counts[counts["group"] == OOD]
    measure, own = (OOD, ood.assign(weight=1 / max(len(ood), 1))) if both.empty else (J, both)
    weight = pairs["subset"].astype(object).map(dict(zip(own["subset"], own["weight"] / own["pairs"], strict=True)))
    return measure, np.where(pairs["chooses"], weight.fillna(0), 0).astype(float)


def ends_of(learned: Mapping[int, Kept], measure: Callable[[Kept], float]) -> Ends:
    """H and M; of several alike the lowest seed. learned: at least two."""
    values = {seed: measure(learned[seed]) for seed in sorted(learned)}
    low = min(values, key=values.get)
    high = max((seed for seed in values if seed != low), key=values.get)
    return Ends(low, high, values[high] - values[low])


def greedy(start: Kept, changes: Collection[int], measure: Callable[[Kept], float]) -> Iterator[tuple[int, Kept]]:
    """All `changes`, each adding or removing a component, the best one at every step first; of several alike the first.

    Yields the component and the components that are kept after its change.
    """
    kept, left = frozenset(start), sorted(changes)
    while left:
        best = max(left, key=lambda component: measure(kept ^ {component}))  # the first of the largest
        left.remove(best)
        kept = kept ^ {best}
        yield best, kept


def _models(learned: Mapping[int, Kept], ends: Ends, measure: Callable[[Kept], float]) -> Iterator[Model]:
    """All that is measured, H and M first. Ends that are too near to each other have no others."""
    h, m = learned[ends.heuristic], learned[ends.generalising]
    yield Model(HEURISTIC, h, 0)
    yield Model(GENERALISING, m)
    if ends.apart < APART:
        return
    more = sorted(m - h)
    yield from (Model(WITH, h | {component}, None, component, True) for component in more)
    yield from (Model(WITHOUT, m - {component}, None, component, False) for component in more)
    added = [*greedy(h, m - h, measure)]
    removed = greedy(h | m, h - m, measure)
    for place, (component, kept) in enumerate([*added, *removed], start=1):
        yield Model(PATH, kept, place, component, component in m)


def _measured(models: list[Model], halves: Halves, analysis: Analysis) -> pd.DataFrame:
    """Values of every model by subset and by group, and J, with intervals, and changes from H or M.

    Column model: its number.
    """
    rows = pd.concat([halves.rows(one.kept).assign(model=k) for k, one in enumerate(models)], ignore_index=True)
    settings = analysis.class_rule, analysis.bootstrap, analysis.seed
    parts = list(scores(rows, np.empty((len(rows), 0)), ["model"], *settings))
    reference = np.array([1 if one.role in (GENERALISING, WITHOUT) else 0 for one in models])
    found = [one.identity | compared([one], reference) for one in parts]
    names = set(chosen(pd.DataFrame([one.identity for one in parts]), analysis.subsets)["subset"])
    entering = [one for one in parts if one.identity["subset"] in names]
    for group in dict.fromkeys(one.identity["group"] for one in entering):
        of_group = [one for one in entering if one.identity["group"] == group]
        found.append({"subset": None, "group": group, "family": None} | compared(of_group, reference))
    whole, families = measures(entering)
    for one in (*whole, *families):
        found.append({"subset": None, "group": one.group, "family": one.family} | compared_measure(one, reference))
    against = np.array([HEURISTIC, GENERALISING])[reference]
    return pd.concat([pd.DataFrame({"model": range(len(models)), "against": against} | one) for one in found])


def _about(model: Model, components: list[Component]) -> dict:
    """Columns of a model: its role, its place, and the component that was changed."""
    about = {"role": model.role, "place": model.place, "added": model.added}
    if model.component is None:
        return about
    one = components[model.component]
    return about | {"component": one.index, "name": one.name, "kind": one.kind, "layer": one.layer, "head": one.head}
