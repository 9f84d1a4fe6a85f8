"""Estimate the cost of ablating sets of heads, and the cost beyond the sum of single heads (paper, section 5).

All estimates are linear in the means by ablation: an accuracy is a mean, a change is a difference of two means, and an
interaction is a sum of several. All ablations of a subset use the same bootstrap draws, so the intervals of changes and
interactions are paired.
"""

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.subnetworks.analysis.ablation_cells import (
    MODEL_KEYS,
    ModelPredictions,
    split_by_model,
)
from heuristic_core.experiments.subnetworks.analysis.accuracy import RULES, select_subsets
from heuristic_core.experiments.subnetworks.analysis.measures import Measure, Subset, compute_measures
from heuristic_core.experiments.subnetworks.config.analysis import COUNTERFACTUAL
from heuristic_core.stats.bootstrap import Resamples, bound_accuracy_interval, sum_interval, widen_change_interval
from heuristic_core.stats.frames import make_frame

SET_KEYS = ["kind", "ablation"]
SINGLE_ROLES = ("core", "non-core")
MAX_LOG_ODDS = 30.0  # nats; log odds of a pair can be infinite and are clipped to +-MAX_LOG_ODDS


class AblationMeans(NamedTuple):
    """Means of all ablations of a model, on a subset or averaged over a group of subsets.

    Attributes:
        identity: Columns subset, group, family and n.
        means: Accuracy in percent and log odds in nats, [2, ablations].
        draws: Bootstrap draws of the means of each subset, each [draws, 2, ablations].
        resamples: Bootstrap draws of the pairs of each subset.
    """

    identity: dict
    means: np.ndarray
    draws: list[np.ndarray]
    resamples: list[Resamples]


class Effects:
    """Effects of the ablations of a model and kind, as linear functions of means, [..., ablations].

    Attributes:
        n_changes: Number of changes summed in a change: 0 for "none", 1 for other sets, [ablations].
        n_terms: Number of changes summed in an interaction, [ablations].
    """

    def __init__(self, sets: pd.DataFrame):
        """Prepare the effects.

        Args:
            sets: Rows of table "ablation_sets", in the order of the ablations in the means.

        Raises:
            ValueError: If `sets` lacks the set "none".
        """
        position = {name: k for k, name in enumerate(sets["ablation"])}
        if "none" not in position:
            kind = sets["kind"].iloc[0]
            raise ValueError(f"predictions of the reference ablation 'none' of kind {kind} are missing")
        self._none = position["none"]
        self.n_changes = np.arange(len(sets)) != self._none
        single = {row.heads[0]: position[row.ablation] for row in _with_role(sets, *SINGLE_ROLES).itertuples()}
        self._singles = np.zeros((len(sets), len(sets)))  # [single ablations, sets that contain them]
        for k, row in enumerate(sets.itertuples()):
            parts = [single.get(head) for head in row.heads]
            if not row.role.startswith("control") and len(parts) > 1 and None not in parts:
                self._singles[parts, k] = 1
        self.n_terms = 1 + self._singles.sum(axis=0)

    def changes(self, means: np.ndarray) -> np.ndarray:
        """Return the ablated model's means minus the full model's means."""
        return means - means[..., [self._none]]

    def interactions(self, means: np.ndarray) -> np.ndarray:
        """Return the drop of each set minus the sum of its heads' single drops; positive is super-additive.

        NaN for controls, for sets of fewer than two heads, and where a single ablation is missing.
        """
        changes = self.changes(means)
        return np.where(self._singles.any(axis=0), changes @ self._singles - changes, np.nan)


def compute_ablations(
    predictions: pd.DataFrame | Mapping[tuple, ModelPredictions],
    sets: pd.DataFrame,
    subsets: Collection[str] | None = None,
    rule: str = "argmax-first",
    bootstrap: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Compute table "ablations".

    Each ablation has a row per subset and a row per group (subset null). A row of a group is the unweighted mean over
    the group's subsets; its n is the total number of pairs. If OOD and entailment subsets both exist, J and AUC also
    have rows. Changes are relative to "none" of the same kind, on the pairs of that kind: in counterfactual ablation, a
    subset may have fewer pairs than in other kinds, or none. Log odds are of the true label, clipped to +-30 nats for
    each pair.

    Args:
        predictions: Table "ablation_predictions" as a frame, or split by model.
        sets: Table "ablation_sets".
        subsets: Subsets that enter group means; None for all.
        rule: ``analysis.class_rule``.
        bootstrap: Number of draws of a subset's templates or pairs, shared by its ablations. A draw of a group is the
            mean over its subsets.
        seed: Seed of the draws.

    Raises:
        ValueError: If "none" or pairs of an ablation are missing, an ablation is in no set, or a subset of `subsets`
            has no predictions.
    """
    parts = []
    for model, cells in (split_by_model(predictions) if isinstance(predictions, pd.DataFrame) else predictions).items():
        model_sets = sets[(sets[MODEL_KEYS] == list(model)).all(axis=1)].reset_index(drop=True)
        model_sets = model_sets.assign(size=model_sets["heads"].map(len), position=range(len(model_sets)))
        kinds = {kind: rows.reset_index(drop=True) for kind, rows in model_sets.groupby("kind", sort=False)}
        effects = {kind: Effects(rows) for kind, rows in kinds.items()}
        for kind, measure in _estimate(cells, kinds, subsets, rule, bootstrap, seed):
            columns = (_measure_columns if isinstance(measure, Measure) else _mean_columns)(effects[kind], measure)
            ends = [name for name in columns if name.endswith(("low", "high"))]
            values = kinds[kind].assign(**columns)
            values.loc[values["role"].str.startswith("control"), ends] = np.nan
            parts.append(values)
    rows = pd.concat(parts) if parts else sets.head(0).assign(position=0, subset=None, group=None)
    return make_frame("ablations", rows.sort_values([*MODEL_KEYS, "position", "subset", "group"]))


def compute_single_ood_drops(
    predictions: pd.DataFrame, sets: pd.DataFrame, subsets: Collection[str] | None = None
) -> dict[int, float]:
    """Compute the drop in OOD accuracy, in points, from ablating each head by itself.

    The class is chosen before labels are merged (class rule "argmax-first").

    Args:
        predictions: Table "ablation_predictions" of one model and kind.
        sets: Table "ablation_sets" of the same model and kind.
        subsets: Subsets that enter the mean; None for all.

    Returns:
        Drops by component index.
    """
    ood = select_subsets(predictions, subsets)
    ood = ood[ood["group"] == "ood"].groupby(["ablation", "subset"], observed=True)["correct"].mean().reset_index()
    ood = ood.astype({"ablation": object, "subset": object}).sort_values("subset", kind="stable")  # fixed order of sums
    accuracy = 100 * ood.groupby("ablation")["correct"].mean()
    return {
        int(row.heads[0]): float(accuracy["none"] - accuracy[row.ablation])
        for row in _with_role(sets, *SINGLE_ROLES).itertuples()
    }


def _with_role(sets: pd.DataFrame, *roles: str) -> pd.DataFrame:
    """Select the rows of `sets` whose role is in `roles`."""
    return sets[sets["role"].isin(roles)]


def _estimate(cells, kinds, subsets, rule, bootstrap, seed) -> Iterator[tuple[str, AblationMeans | Measure]]:
    """Yield kind and estimates of each subset, then of each group, J and AUC; `kinds` has rows of the sets by kind."""
    group_subsets = set(select_subsets(pd.DataFrame({"subset": cells.subsets}), subsets)["subset"])
    groups: dict[str, dict[str, list[AblationMeans]]] = {kind: {} for kind in kinds}
    measured: dict[str, list[Subset]] = {kind: [] for kind in kinds}
    for (subset, group, family), values_by_kind in _cells_by_kind(cells, kinds, rule):
        for kind, (values, templates) in values_by_kind.items():
            resamples = Resamples(templates, bootstrap, numpy_generator(seed, "bootstrap", subset, group))
            identity = {"subset": subset, "group": group, "family": family, "n": len(values)}
            draws = resamples.means(values)
            subset_means = AblationMeans(identity, values.mean(axis=0, dtype=float), [draws], [resamples])
            if subset in group_subsets:
                groups[kind].setdefault(group, []).append(subset_means)
                measured[kind].append(Subset(identity, values[:, 0] / 100, values[:, 1], draws[:, 0], resamples))
            yield kind, subset_means
    for kind in kinds:
        for group, parts in groups[kind].items():
            identity = {"subset": None, "group": group, "family": None, "n": sum(part.identity["n"] for part in parts)}
            means = sum(part.means for part in parts) / len(parts)
            draws, resamples = ([getattr(part, name)[0] for part in parts] for name in ("draws", "resamples"))
            yield kind, AblationMeans(identity, means, draws, resamples)
        yield from ((kind, measure) for measure in compute_measures(measured[kind])[0])


def _cells_by_kind(cells, kinds, rule) -> Iterator[tuple[tuple, dict[str, tuple[np.ndarray, np.ndarray]]]]:
    """Yield the identity of each subset and the result of :func:`_values` by kind."""
    for (subset, group, family), cell in cells:
        cell = _average_draws(cell, subset)
        values = {}
        for kind, sets in kinds.items():
            kind_cell = cell if len(kinds) == 1 else cell[cell["kind"] == kind]
            if len(kind_cell) or kind != COUNTERFACTUAL:
                values[kind] = _values(kind_cell, sets, rule, subset)
        del cell, kind_cell
        yield (subset, group, family), values


def _values(cell: pd.DataFrame, sets: pd.DataFrame, rule: str, subset: str) -> tuple[np.ndarray, np.ndarray]:
    """Return accuracy and log odds of each pair, [pairs, 2, ablations] in the order of `sets`, and its template.

    Args:
        cell: Predictions on a subset, of one kind of ablation.
        sets: Rows of table "ablation_sets" of this kind.
        rule: `analysis.class_rule`.
        subset: Name of the subset.

    Raises:
        ValueError: If ablations differ in their pairs.
    """
    if cell.empty:
        raise ValueError(f"no predictions of kind {sets['kind'].iloc[0]} on {subset}")
    keys = pd.MultiIndex.from_frame(sets[SET_KEYS])
    index, example = _set_index(cell, keys), cell["example"].to_numpy()
    if (index < 0).any():
        unknown = cell["ablation"].iloc[int(np.argmin(index))]
        raise ValueError(f"unknown ablation {unknown!r}: table ablation_sets lacks it")
    order = np.lexsort((example, index))
    pairs = np.bincount(index, minlength=len(keys))
    if (pairs != pairs[0]).any():
        odd = int(np.argmax(pairs != pairs[0]))
        (_, name), (_, first) = keys[odd], keys[0]
        raise ValueError(
            f"ablation {name!r} has predictions of {pairs[odd]} pairs of {subset}, {first!r} of {pairs[0]}"
        )
    examples = example[order].reshape(len(keys), -1)
    if len(different := np.flatnonzero((examples != examples[0]).any(axis=1))):
        raise ValueError(f"ablation {keys[different[0]][1]!r} lacks predictions of pairs of {subset}")
    correct = 100 * cell[RULES[rule]].to_numpy(np.float32)
    log_odds = cell["log_odds"].to_numpy(np.float32).clip(-MAX_LOG_ODDS, MAX_LOG_ODDS)
    values = [column[order].reshape(len(keys), -1).T for column in (correct, log_odds)]
    return np.stack(values, axis=1), cell["template"].to_numpy()[order[: examples.shape[1]]]


def _set_index(cell: pd.DataFrame, keys: pd.MultiIndex) -> np.ndarray:
    """Return the index in `keys` of each row's ablation, int32 [rows]; -1 if it is missing."""
    kinds, ablations = (pd.Categorical(cell[name]) for name in SET_KEYS)
    products = pd.MultiIndex.from_product([kinds.categories, ablations.categories])
    index = keys.get_indexer(products).astype(np.int32).reshape(len(kinds.categories), -1)
    return index[kinds.codes, ablations.codes]


def _measure_columns(effects: Effects, measure: Measure) -> dict:
    """Return the columns of J or AUC by ablation; neither has log odds."""
    identity = {"subset": None, "group": measure.group, "family": None} | measure.columns()
    change = measure.effect(effects.changes, effects.n_changes)
    interaction = measure.effect(effects.interactions, effects.n_terms)
    return identity | _with_ends("change", *change) | _with_ends("interaction", *interaction)


def _average_draws(cell: pd.DataFrame, subset: str) -> pd.DataFrame:
    """Average correctness and clipped log odds over draws, so that each ablation and pair has one row.

    Pairs thus remain the units of intervals, whatever the number of draws.

    Raises:
        ValueError: If a pair has fewer draws than others.
    """
    if not cell["draw"].any():
        return cell
    cell = cell.assign(log_odds=cell["log_odds"].clip(-MAX_LOG_ODDS, MAX_LOG_ODDS))
    by_set = cell.groupby(SET_KEYS, observed=True)
    incomplete = by_set.size() != by_set["draw"].nunique() * by_set["example"].nunique()
    if incomplete.any():
        raise ValueError(f"ablation {incomplete.idxmax()[1]!r} lacks draws of pairs of {subset}")
    by_pair = cell.groupby([*SET_KEYS, "example"], observed=True, sort=False)
    means = by_pair[[*RULES.values(), "log_odds"]].mean()
    return means.assign(template=by_pair["template"].first()).reset_index()


def _mean_columns(effects: Effects, estimate: AblationMeans) -> dict:
    """Return the columns of a subset or a group by ablation."""
    means, units = estimate.means, [resamples.units for resamples in estimate.resamples]
    accuracies = sum_interval((draws[:, 0] for draws in estimate.draws), units, means[0])
    low, high = bound_accuracy_interval(*accuracies, sum(units))
    change, interaction = effects.changes(means), effects.interactions(means)
    changes, interactions = (
        np.array(sum_interval(map(effect, estimate.draws), units, effect(means)))  # [2 ends, 2, ablations]
        for effect in (effects.changes, effects.interactions)
    )
    # Only accuracies can have intervals of zero width: log odds are never all equal.
    changes[:, 0] = widen_change_interval(*changes[:, 0], sum(units), effects.n_changes)
    interactions[:, 0] = widen_change_interval(*interactions[:, 0], sum(units), effects.n_terms)
    return (
        estimate.identity
        | {"accuracy": means[0], "low": low, "high": high, "log_odds_change": change[1]}
        | {"unit": " or ".join(sorted({resamples.unit for resamples in estimate.resamples})), "units": sum(units)}
        | _with_ends("change", change[0], *changes[:, 0])
        | _with_ends("interaction", interaction[0], *interactions[:, 0])
        | _with_ends("log_odds_interaction", interaction[1], *interactions[:, 1])
    )


def _with_ends(name: str, value: np.ndarray, low: np.ndarray, high: np.ndarray) -> dict[str, np.ndarray]:
    """Return the columns of a value and its interval."""
    return {name: value, f"{name}_low": low, f"{name}_high": high}
