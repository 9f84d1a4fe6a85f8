"""Find the components that distinguish a subnetwork that follows the heuristic from one that generalises.

H is the learned subnetwork with the lowest J, M the one with the highest; studies without J use OOD accuracy. (OOD
accuracy alone would favour a subnetwork that rejects all overlap pairs.) The greedy path leads from H to M: each step
adds the component of M that raises this measure most; once all are added, further steps remove the components that only
H has in the same way. H, M and all steps are selected on one half of the pairs, and all values are measured on the
other half, because the best of many candidates is better on the pairs that selected it than on others.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.accuracy import (
    LABELS,
    OOD,
    RULES,
    J,
    select_j_rows,
    select_subsets,
)
from heuristic_core.experiments.subnetworks.analysis.measures import compute_measures
from heuristic_core.experiments.subnetworks.analysis.scores import compare_accuracy, compare_measure, iterate_scores
from heuristic_core.experiments.subnetworks.analysis.triples import mark_choosing_half
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.models.components import Component, ComponentGrid
from heuristic_core.stats.frames import make_frame

HEURISTIC, GENERALISING, PATH, WITH, WITHOUT = "H", "M", "path", "with", "without"
MIN_GAP = 10.0  # points; smallest difference of the selecting measure between H and M for a path
PAIRS = ["subset", "group", "family", "template", "example"]
Kept = frozenset[int]  # component indices
Predict = Callable[[Kept], Mapping[str, np.ndarray]]


class CandidateSubnetwork(NamedTuple):
    """A subnetwork to evaluate.

    Attributes:
        role: `HEURISTIC`, `GENERALISING`, `PATH`, `WITH` or `WITHOUT`.
        kept: Its components.
        place: Position on the path, or None.
        component: Component that was changed last, or None.
        added: Whether this component was added or removed, or None.
    """

    role: str
    kept: Kept
    place: int | None = None
    component: int | None = None
    added: bool | None = None


class Ends(NamedTuple):
    """Ends of the path.

    Attributes:
        heuristic: Pruning seed of H.
        generalising: Pruning seed of M.
        gap: Difference of the selecting measure between them on the selecting half, points.
    """

    heuristic: int
    generalising: int
    gap: float


def compute_interpolation(
    learned: Mapping[int, Kept], predict: Predict, grid: ComponentGrid, analysis: Analysis, run: dict
) -> pd.DataFrame:
    """Compute table "interpolation".

    Args:
        learned: Components of the sound learned subnetworks by pruning seed.
        predict: Function that returns the predictions of a set of components, in the form of
            :func:`heuristic_core.interventions.evaluate.make_predictions`.
        grid: Components of the model.
        analysis: Settings `analysis`.
        run: Identity columns.
    """
    if len(learned) < 2:
        reason = f"sound mid-sparsity subnetworks: {len(learned)}, and 2 are needed"
        return make_frame("interpolation", [run | {"reason": reason}])
    halves = Halves(predict, analysis)
    ends = select_ends(learned, halves.value)
    candidates, reason = [*_list_candidates(learned, ends, halves.value)], None
    if ends.gap < MIN_GAP:
        measure = LABELS[halves.measure]
        reason = f"no path: H and M are {ends.gap:.1f} points of {measure} apart, and {MIN_GAP:g} are needed"
    rows = _evaluate_candidates(candidates, halves, analysis)
    columns = [_candidate_columns(candidate, list(grid)) for candidate in candidates]
    rows = rows.merge(pd.DataFrame(columns).assign(model=range(len(candidates))), on="model")
    identity = run | {"heuristic": ends.heuristic, "generalising": ends.generalising, "measure": halves.measure}
    identity |= {"reason": reason}
    return make_frame("interpolation", rows.sort_values(["model"], kind="stable").assign(**identity))


class Halves:
    """Accuracies of sets of components on the two halves of the pairs; each set is predicted once.

    Attributes:
        measure: Group of the selecting measure: J if an analysed family has OOD and entailment subsets, else OOD. None
            before the first prediction.
    """

    def __init__(self, predict: Predict, analysis: Analysis):
        """Prepare without predicting.

        Args:
            predict: Function that returns the predictions of a set of components.
            analysis: Settings `analysis`.
        """
        self._predict, self._analysis, self._rule = predict, analysis, RULES[analysis.class_rule]
        self._correct: dict[Kept, np.ndarray] = {}
        self._pairs: pd.DataFrame | None = None  # identity of pairs, and whether they select
        self._weights: np.ndarray | None = None  # weight of each pair in the measure
        self.measure: str | None = None

    def value(self, kept: Kept) -> float:
        """Return the measure on the selecting half, percent, or points of J; rounded so that equal sets have ties."""
        value = 100 * float((self._find_correct(kept) * self._weights).sum())
        return round(value - 100 if self.measure == J else value, 9)

    def rows(self, kept: Kept) -> pd.DataFrame:
        """Return the predictions on the measuring half."""
        correct = self._find_correct(kept)
        measuring = ~self._pairs["chooses"]
        return self._pairs[measuring].assign(**{self._rule: correct[measuring]})

    def _find_correct(self, kept: Kept) -> np.ndarray:
        """Return whether a set of components is right on each pair, [pairs]."""
        if kept not in self._correct:
            predictions = self._predict(kept)
            self._correct[kept] = np.asarray(predictions[self._rule])
            if self._pairs is None:
                pairs = pd.DataFrame({name: predictions[name] for name in PAIRS})
                self._pairs = pairs.assign(chooses=mark_choosing_half(pairs))
                self.measure, self._weights = _selecting_measure(self._pairs, self._analysis.subsets)
        return self._correct[kept]


def _selecting_measure(pairs: pd.DataFrame, subsets: Collection[str] | None) -> tuple[str, np.ndarray]:
    """Return the group of the selecting measure and the weight of each pair, 0 outside the selecting half.

    The weights of each side sum to 1.
    """
    selected = select_subsets(pairs[pairs["chooses"]], subsets)
    counts = selected.groupby(["chooses", "subset", "group", "family"], dropna=False, observed=True).size()
    counts = counts.reset_index(name="pairs")
    sides = select_j_rows(counts, ["chooses"])
    ood = counts[counts["group"] == OOD]
    measure, rows = (OOD, ood.assign(weight=1 / max(len(ood), 1))) if sides.empty else (J, sides)
    weight = pairs["subset"].astype(object).map(dict(zip(rows["subset"], rows["weight"] / rows["pairs"], strict=True)))
    return measure, np.where(pairs["chooses"], weight.fillna(0), 0).astype(float)


def select_ends(learned: Mapping[int, Kept], measure: Callable[[Kept], float]) -> Ends:
    """Select H and M among at least two learned subnetworks; ties go to the lowest seed.

    Args:
        learned: Components by pruning seed.
        measure: Measure of a subnetwork; H has the lowest value, M the highest.
    """
    values = {seed: measure(learned[seed]) for seed in sorted(learned)}
    low = min(values, key=values.get)
    high = max((seed for seed in values if seed != low), key=values.get)
    return Ends(low, high, values[high] - values[low])


def order_greedily(
    start: Kept, changes: Collection[int], measure: Callable[[Kept], float]
) -> Iterator[tuple[int, Kept]]:
    """Toggle all components of `changes`, at each step the one that raises `measure` most; ties go to the lowest index.

    Args:
        start: Components kept at the start.
        changes: Components to add if they are not kept, and to remove if they are.
        measure: Function that scores a set of components.

    Yields:
        The changed component, and the components kept after the change.
    """
    kept, remaining = frozenset(start), sorted(changes)
    while remaining:
        best = max(remaining, key=lambda component: measure(kept ^ {component}))  # max returns the first of ties
        remaining.remove(best)
        kept = kept ^ {best}
        yield best, kept


def _list_candidates(
    learned: Mapping[int, Kept], ends: Ends, measure: Callable[[Kept], float]
) -> Iterator[CandidateSubnetwork]:
    """Yield all subnetworks to evaluate, H and M first; there are no others if the ends are too close."""
    h, m = learned[ends.heuristic], learned[ends.generalising]
    yield CandidateSubnetwork(HEURISTIC, h, 0)
    yield CandidateSubnetwork(GENERALISING, m)
    if ends.gap < MIN_GAP:
        return
    only_m = sorted(m - h)
    yield from (CandidateSubnetwork(WITH, h | {component}, None, component, True) for component in only_m)
    yield from (CandidateSubnetwork(WITHOUT, m - {component}, None, component, False) for component in only_m)
    added = [*order_greedily(h, m - h, measure)]
    removed = order_greedily(h | m, h - m, measure)
    for place, (component, kept) in enumerate([*added, *removed], start=1):
        yield CandidateSubnetwork(PATH, kept, place, component, component in m)


def _evaluate_candidates(candidates: list[CandidateSubnetwork], halves: Halves, analysis: Analysis) -> pd.DataFrame:
    """Compute the values of all candidates by subset and group, and J, with intervals, and changes from H or M.

    Column model is the index in `candidates`.
    """
    rows = pd.concat(
        [halves.rows(candidate.kept).assign(model=k) for k, candidate in enumerate(candidates)], ignore_index=True
    )
    settings = analysis.class_rule, analysis.bootstrap, analysis.seed
    parts = list(iterate_scores(rows, np.empty((len(rows), 0)), ["model"], *settings))
    reference = np.array([1 if candidate.role in (GENERALISING, WITHOUT) else 0 for candidate in candidates])
    tables = [part.identity | compare_accuracy([part], reference) for part in parts]
    names = set(select_subsets(pd.DataFrame([part.identity for part in parts]), analysis.subsets)["subset"])
    selected = [part for part in parts if part.identity["subset"] in names]
    for group in dict.fromkeys(part.identity["group"] for part in selected):
        group_parts = [part for part in selected if part.identity["group"] == group]
        tables.append({"subset": None, "group": group, "family": None} | compare_accuracy(group_parts, reference))
    overall, by_family = compute_measures(selected)
    for measure in (*overall, *by_family):
        identity = {"subset": None, "group": measure.group, "family": measure.family}
        tables.append(identity | compare_measure(measure, reference))
    against = np.array([HEURISTIC, GENERALISING])[reference]
    return pd.concat([pd.DataFrame({"model": range(len(candidates)), "against": against} | table) for table in tables])


def _candidate_columns(candidate: CandidateSubnetwork, components: list[Component]) -> dict:
    """Return the columns of a candidate: role, place, and the component that was changed last."""
    columns = {"role": candidate.role, "place": candidate.place, "added": candidate.added}
    if candidate.component is None:
        return columns
    c = components[candidate.component]
    return columns | {"component": c.index, "name": c.name, "kind": c.kind, "layer": c.layer, "head": c.head}
