"""What ablating sets of heads costs, and what it costs beyond the sum of its heads (paper, section 5).

Everything is linear in the means by ablation: a change is a difference of two, an interaction a sum of several. So the
ablations of a subset are measured on the same bootstrap draws, and every interval comes from these draws, paired.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from heuristic_core.analysis.bootstrap import Resamples, interval, of_change
from heuristic_core.analysis.frames import frame
from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.heuristic_core.analysis.ablation_cells import MODEL, Cells, cells_of
from heuristic_core.experiments.heuristic_core.analysis.accuracy import RULES, chosen
from heuristic_core.experiments.heuristic_core.analysis.measures import Measure, Subset, measures
from heuristic_core.experiments.heuristic_core.config.analysis import COUNTERFACTUAL

SET = ["kind", "ablation"]
SINGLE = ("core", "non-core")
CERTAIN = 30.0  # nats; a pair's log odds, which may be infinite, count as no more


class Measured(NamedTuple):
    """All ablations of one model on one subset, or on average over a group of them.

    identity: columns. means: [2, ablations], accuracy in percent and log odds in nats. draws: of each subset,
    [draws, 2, ablations]. units: how many units the draws of each subset are of.
    """

    identity: dict
    means: np.ndarray
    draws: list[np.ndarray]
    units: list[int]


class Effects:
    """Changes and interactions from means by ablation, [..., ablations], in the order of `sets`: of one model and kind.

    Raises ValueError where there is no set "none".
    """

    def __init__(self, sets: pd.DataFrame):
        position = {name: k for k, name in enumerate(sets["ablation"])}
        if "none" not in position:
            kind = sets["kind"].iloc[0]
            raise ValueError(f"no predictions of ablation 'none' of kind {kind}, with which others are compared")
        self._none = position["none"]
        self.compared = np.arange(len(sets)) != self._none
        single = {row.heads[0]: position[row.ablation] for row in _of(sets, *SINGLE).itertuples()}
        self._singles = np.zeros((len(sets), len(sets)))  # [single ablations, sets that they are part of]
        for k, row in enumerate(sets.itertuples()):
            parts = [single.get(head) for head in row.heads]
            if not row.role.startswith("control") and len(parts) > 1 and None not in parts:
                self._singles[parts, k] = 1
        self.summed = 1 + self._singles.sum(axis=0)  # changes that an interaction is a sum of

    def changes(self, means: np.ndarray) -> np.ndarray:
        """Ablated minus full."""
        return means - means[..., [self._none]]

    def interactions(self, means: np.ndarray) -> np.ndarray:
        """The drop of a set minus the sum of its heads' single drops: positive is super-additive.

        NaN for controls, below two heads, and where a single ablation is missing.
        """
        changes = self.changes(means)
        return np.where(self._singles.any(axis=0), changes @ self._singles - changes, np.nan)


def ablations(
    predictions: pd.DataFrame | Mapping[tuple, Cells],
    sets: pd.DataFrame,
    subsets: Collection[str] | None = None,
    rule: str = "argmax-first",
    bootstrap: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Table "ablations" from tables "ablation_predictions", whole or by model and subset, and "ablation_sets".

    An ablation has one row for each subset, and one for each group (subset null): the unweighted mean over its
    subsets, restricted to `subsets` where given, with n the pairs of them all. Where there are both OOD and entailment
    subsets it has a row for J and for AUC, too. Changes are against "none" of the same kind, on the pairs of this kind:
    in counterfactual ablation a subset may have fewer pairs than in others, or none. Log odds are of the true label,
    clipped to +-30 nats for each pair.
    rule: ``analysis.class_rule``. bootstrap: draws of a subset's templates or pairs, the same for all its ablations;
    a group's draw is the mean over its subsets.
    Raises ValueError where "none" or pairs of an ablation are absent, an ablation is in no set, or a subset of
    `subsets` has no predictions.
    """
    parts = []
    for model, of_model in (cells_of(predictions) if isinstance(predictions, pd.DataFrame) else predictions).items():
        own = sets[(sets[MODEL] == list(model)).all(axis=1)].reset_index(drop=True)
        described = own.assign(size=own["heads"].map(len), position=range(len(own)))
        kinds = {kind: rows.reset_index(drop=True) for kind, rows in described.groupby("kind", sort=False)}
        effects = {kind: Effects(rows) for kind, rows in kinds.items()}
        for kind, measure in _measured(of_model, kinds, subsets, rule, bootstrap, seed):
            columns = (_of_measure if isinstance(measure, Measure) else _columns)(effects[kind], measure)
            ends = [name for name in columns if name.endswith(("_low", "_high"))]
            values = kinds[kind].assign(**columns)
            values.loc[values["role"].str.startswith("control"), ends] = np.nan
            parts.append(values)
    rows = pd.concat(parts) if parts else sets.head(0).assign(position=0, subset=None, group=None)
    return frame("ablations", rows.sort_values([*MODEL, "position", "subset", "group"]))


def single_ood_drops(
    predictions: pd.DataFrame, sets: pd.DataFrame, subsets: Collection[str] | None = None
) -> dict[int, float]:
    """Points of out-of-domain accuracy that each head's single ablation costs, by component index.

    The class is taken first, then merged. predictions, sets: tables "ablation_predictions" and "ablation_sets" of one
    model and one kind.
    """
    ood = chosen(predictions, subsets)
    ood = ood[ood["group"] == "ood"].groupby(["ablation", "subset"], observed=True)["correct"].mean().reset_index()
    ood = ood.astype({"ablation": object, "subset": object}).sort_values("subset", kind="stable")  # sums in one order
    accuracy = 100 * ood.groupby("ablation")["correct"].mean()
    return {
        int(one.heads[0]): float(accuracy["none"] - accuracy[one.ablation]) for one in _of(sets, *SINGLE).itertuples()
    }


def _of(sets: pd.DataFrame, *roles: str) -> pd.DataFrame:
    return sets[sets["role"].isin(roles)]


def _measured(cells, kinds, subsets, rule, bootstrap, seed) -> Iterator[tuple[str, Measured | Measure]]:
    """By kind every subset, then every group, J and AUC. kinds: the sets of each."""
    entering = set(chosen(pd.DataFrame({"subset": cells.subsets}), subsets)["subset"])
    groups: dict[str, dict[str, list[Measured]]] = {kind: {} for kind in kinds}
    scored: dict[str, list[Subset]] = {kind: [] for kind in kinds}
    for (subset, group, family), values_by_kind in _cells_by_kind(cells, kinds, rule):
        for kind, (values, templates) in values_by_kind.items():
            resamples = Resamples(templates, bootstrap, numpy_generator(seed, "bootstrap", subset, group))
            identity = {"subset": subset, "group": group, "family": family, "n": len(values)}
            draws = resamples.means(values)
            measured = Measured(identity, values.mean(axis=0, dtype=float), [draws], [resamples.units])
            if subset in entering:
                groups[kind].setdefault(group, []).append(measured)
                scored[kind].append(Subset(identity, values[:, 0] / 100, values[:, 1], draws[:, 0], resamples))
            yield kind, measured
    for kind in kinds:
        for group, parts in groups[kind].items():
            identity = {"subset": None, "group": group, "family": None, "n": sum(part.identity["n"] for part in parts)}
            means = sum(part.means for part in parts) / len(parts)
            draws, units = [part.draws[0] for part in parts], [part.units[0] for part in parts]
            yield kind, Measured(identity, means, draws, units)
        yield from ((kind, measure) for measure in measures(scored[kind])[0])


def _cells_by_kind(cells, kinds, rule) -> Iterator[tuple[tuple, dict[str, tuple[np.ndarray, np.ndarray]]]]:
    """Of every subset its identity and, by kind, `_values`."""
    for (subset, group, family), cell in cells:
        cell = _over_draws(cell, subset)
        values = {}
        for kind, sets in kinds.items():
            kind_cell = cell if len(kinds) == 1 else cell[cell["kind"] == kind]
            if len(kind_cell) or kind != COUNTERFACTUAL:
                values[kind] = _values(kind_cell, sets, rule, subset)
        del cell, kind_cell
        yield (subset, group, family), values


def _values(cell: pd.DataFrame, sets: pd.DataFrame, rule: str, subset: str) -> tuple[np.ndarray, np.ndarray]:
    """Accuracy and log odds of every pair of a subset, [pairs, 2, ablations] in the order of `sets`; its templates.

    cell, sets: of one kind. Raises ValueError where the ablations of `sets` do not have the same pairs.
    """
    if cell.empty:
        raise ValueError(f"no predictions of kind {sets['kind'].iloc[0]} on {subset}")
    names = pd.MultiIndex.from_frame(sets[SET])
    number, example = _numbers(cell, names), cell["example"].to_numpy()
    if (number < 0).any():
        raise ValueError(f"no set is named {cell['ablation'].iloc[int(np.argmin(number))]!r}")
    order = np.lexsort((example, number))
    pairs = np.bincount(number, minlength=len(names))
    if (pairs != pairs[0]).any():
        odd = int(np.argmax(pairs != pairs[0]))
        (_, name), (_, first) = names[odd], names[0]
        raise ValueError(
            f"ablation {name!r} has predictions of {pairs[odd]} pairs of {subset}, {first!r} of {pairs[0]}"
        )
    examples = example[order].reshape(len(names), -1)
    if len(different := np.flatnonzero((examples != examples[0]).any(axis=1))):
        raise ValueError(f"ablation {names[different[0]][1]!r} lacks predictions of pairs of {subset}")
    correct = 100 * cell[RULES[rule]].to_numpy(np.float32)
    log_odds = cell["log_odds"].to_numpy(np.float32).clip(-CERTAIN, CERTAIN)
    values = [column[order].reshape(len(names), -1).T for column in (correct, log_odds)]
    return np.stack(values, axis=1), cell["template"].to_numpy()[order[: examples.shape[1]]]


def _numbers(cell: pd.DataFrame, names: pd.MultiIndex) -> np.ndarray:
    """Which of the sets `names` each row is of, int32 [rows]; -1: of none."""
    kinds, ablations = (pd.Categorical(cell[name]) for name in SET)
    each = pd.MultiIndex.from_product([kinds.categories, ablations.categories])
    number = names.get_indexer(each).astype(np.int32).reshape(len(kinds.categories), -1)
    return number[kinds.codes, ablations.codes]


def _of_measure(effects: Effects, measure: Measure) -> dict:
    """Identity and values of J or AUC, by ablation; they have no log odds of their own."""
    about = {"subset": None, "group": measure.group, "family": None, "n": measure.pairs, "accuracy": measure.value}
    change = measure.effect(effects.changes, effects.compared)
    interaction = measure.effect(effects.interactions, effects.summed)
    return about | _with_ends("change", *change) | _with_ends("interaction", *interaction)


def _over_draws(cell: pd.DataFrame, subset: str) -> pd.DataFrame:
    """`cell` with one row for each ablation and pair: means over draws of correctness, a share then, and of log odds.

    Log odds are clipped before. So pairs remain the units of intervals, whatever the number of draws.
    Raises ValueError where a pair has fewer draws than others.
    """
    if not cell["draw"].any():
        return cell
    cell = cell.assign(log_odds=cell["log_odds"].clip(-CERTAIN, CERTAIN))
    by_set = cell.groupby(SET, observed=True)
    lacking = by_set.size() != by_set["draw"].nunique() * by_set["example"].nunique()
    if lacking.any():
        raise ValueError(f"ablation {lacking.idxmax()[1]!r} lacks draws of pairs of {subset}")
    of_pair = cell.groupby([*SET, "example"], observed=True, sort=False)
    means = of_pair[[*RULES.values(), "log_odds"]].mean()
    return means.assign(template=of_pair["template"].first()).reset_index()


def _columns(effects: Effects, measured: Measured) -> dict:
    """Identity and values of a subset or a group, by ablation."""
    means, units = measured.means, measured.units
    change, interaction = effects.changes(means), effects.interactions(means)
    changes, interactions = (
        np.array(interval(map(effect, measured.draws), units, effect(means)))  # [2 ends, 2, ablations]
        for effect in (effects.changes, effects.interactions)
    )
    # Accuracies, not log odds, which are never all the same.
    changes[:, 0] = of_change(*changes[:, 0], sum(units), effects.compared)
    interactions[:, 0] = of_change(*interactions[:, 0], sum(units), effects.summed)
    return (
        measured.identity
        | {"accuracy": means[0], "log_odds_change": change[1]}
        | _with_ends("change", change[0], *changes[:, 0])
        | _with_ends("interaction", interaction[0], *interactions[:, 0])
        | _with_ends("log_odds_interaction", interaction[1], *interactions[:, 1])
    )


def _with_ends(name: str, value: np.ndarray, low: np.ndarray, high: np.ndarray) -> dict[str, np.ndarray]:
    return {name: value, f"{name}_low": low, f"{name}_high": high}
