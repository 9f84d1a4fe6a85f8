"""Accuracies with intervals from predictions, and comparisons with the full model.

All intervals are bootstraps over evaluation pairs (:mod:`heuristic_core.stats.bootstrap`). All models of a subset
use the same draws, so the interval of a change is paired.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.subnetworks.analysis.accuracy import CELL_KEYS, RULES, select_subsets
from heuristic_core.experiments.subnetworks.analysis.measures import Measure, Subset, compute_measures
from heuristic_core.pruning.subnetwork import FailedRun
from heuristic_core.stats.bootstrap import Resamples, bound_accuracy_interval, sum_interval, widen_change_interval
from heuristic_core.stats.frames import make_frame
from heuristic_core.tables.columns import RUN, STEP, SUBSET

# Columns of table "finetune_predictions" that accuracies are computed from.
ACCURACY_INPUTS = [*RUN, *STEP, *SUBSET, "template", "example", "correct", "correct_merged", "log_odds"]


@dataclass(frozen=True)
class Scores(Subset):
    """A subset with the logits of its models.

    Attributes:
        logits: [pairs, models, classes].
    """

    logits: np.ndarray


def iterate_scores(
    predictions: pd.DataFrame,
    logits: np.ndarray,
    models: list[str],
    rule: str,
    bootstrap: int,
    seed: int,
    shared_draws: dict[str, Resamples] | None = None,
) -> Iterator[Scores]:
    """Yield the scores of each subset, in the order of `predictions`.

    Args:
        predictions: Rows of a table of predictions of one checkpoint, or of the evaluations of one run, model by model.
            Scores have log odds if the rows do.
        logits: [rows, classes].
        models: Columns that identify a model; scores keep the order of models in the rows.
        rule: Setting ``analysis.class_rule``.
        bootstrap: Number of resamples.
        seed: Seed of the draws.
        shared_draws: Draws by subset, to be shared with further models on the same pairs; missing subsets are added.

    Yields:
        Scores of all models on one subset.

    Raises:
        ValueError: Two models were evaluated on different pairs.
    """
    shared_draws = {} if shared_draws is None else shared_draws
    number = predictions.groupby(models, dropna=False, sort=False, observed=True).ngroup().to_numpy()
    count = number.max() + 1
    for (subset, group, family), rows in predictions.groupby([*SUBSET], dropna=False, sort=False, observed=True):
        positions = predictions.index.get_indexer(rows.index)
        positions = positions[np.argsort(number[positions], kind="stable")]
        examples = predictions["example"].to_numpy()[positions]
        if (examples != np.resize(examples[: len(positions) // count], len(positions))).any():
            raise ValueError(f"subset {subset!r}: models were evaluated on different pairs")
        order = positions.reshape(count, -1)  # [models, pairs]
        if subset not in shared_draws:
            rng = numpy_generator(seed, "bootstrap", subset, group)
            shared_draws[subset] = Resamples(predictions["template"].iloc[order[0]].to_numpy(), bootstrap, rng)
        resamples = shared_draws[subset]
        correct = predictions[RULES[rule]].to_numpy(dtype=float)[order].T
        log_odds = predictions["log_odds"].to_numpy()[order].T if "log_odds" in predictions else None
        identity = {"subset": subset, "group": group, "family": family}
        draws, subset_logits = 100 * resamples.means(correct), logits[order].swapaxes(0, 1)
        yield Scores(identity, correct, log_odds, draws, resamples, subset_logits)


def compute_accuracies(
    predictions: pd.DataFrame,
    logits: np.ndarray,
    subsets: Collection[str] | None,
    rule: str,
    bootstrap: int,
    seed: int,
    failed: Sequence[FailedRun] = (),
    shared_draws: dict[str, Resamples] | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Make tables "accuracy", "group_accuracy" and "family_scores" of one checkpoint.

    Args:
        predictions: Table "predictions" of the checkpoint; the rows without a pruning seed are the full model.
        logits: [rows, classes].
        subsets: Subsets that enter group means; None for all.
        rule: Setting ``analysis.class_rule``.
        bootstrap: Number of resamples.
        seed: Seed of the draws.
        failed: Runs without predictions, whose rows are null.
        shared_draws: Draws by subset, as for :func:`iterate_scores`.

    Returns:
        The three tables.
    """
    models = predictions[CELL_KEYS].drop_duplicates().reset_index(drop=True)
    full = np.full(len(models), models.index[models["seed"].isna()][0])
    subset_scores = list(iterate_scores(predictions, logits, CELL_KEYS, rule, bootstrap, seed, shared_draws))
    failed_rows = pd.DataFrame([run.identity._asdict() | {"reason": run.reason} for run in failed])

    def rows(identity: dict, columns: dict) -> pd.DataFrame:
        """Combine identity columns and columns of values, [models]; failed runs have null values."""
        return pd.concat([models.assign(**identity, **columns), failed_rows.assign(**identity)])

    selected = _select_subsets(subset_scores, subsets)
    groups = []
    for group in dict.fromkeys(part.identity["group"] for part in selected):
        group_scores = [part for part in selected if part.identity["group"] == group]
        groups.append(rows({"group": group, "subsets": len(group_scores)}, _columns(group_scores, full)))
    over_families, families = (
        [
            rows(
                {"group": measure.group, "family": measure.family, "subsets": len(measure.parts)},
                compare_measure(measure, full),
            )
            for measure in measured
        ]
        for measured in compute_measures(selected)
    )
    return (
        make_frame("accuracy", pd.concat([rows(part.identity, _columns([part], full)) for part in subset_scores])),
        make_frame("group_accuracy", pd.concat([*groups, *over_families])),
        make_frame("family_scores", pd.concat(families) if families else []),
    )


def compute_finetune_accuracy(
    predictions: pd.DataFrame, subsets: Collection[str] | None, rule: str, bootstrap: int, seed: int
) -> pd.DataFrame:
    """Make table "finetune_accuracy" from table "finetune_predictions" of one fine-tuning run.

    Args:
        predictions: Table "finetune_predictions"; columns `ACCURACY_INPUTS` suffice.
        subsets: Subsets that enter group means, J and AUC; None for all.
        rule: Setting ``analysis.class_rule``.
        bootstrap: Number of resamples.
        seed: Seed of the draws.

    Returns:
        Accuracies by step and subset, and means of groups, J and AUC by step, as in table "group_accuracy".
    """
    keys = [*RUN, *STEP]
    models = predictions[keys].drop_duplicates().reset_index(drop=True)
    no_logits = np.empty((len(predictions), 0))
    subset_scores = list(iterate_scores(predictions, no_logits, keys, rule, bootstrap, seed))
    rows = [models.assign(**part.identity, **_accuracy_columns([part])) for part in subset_scores]
    selected = _select_subsets(subset_scores, subsets)
    for group in dict.fromkeys(part.identity["group"] for part in selected):
        parts = [part for part in selected if part.identity["group"] == group]
        rows.append(models.assign(group=group, **_accuracy_columns(parts)))
    rows += [models.assign(group=measure.group, **measure.columns()) for measure in compute_measures(selected)[0]]
    return make_frame("finetune_accuracy", pd.concat(rows).sort_values("step", kind="stable"))


def _select_subsets(parts: Sequence[Scores], subsets: Collection[str] | None) -> list[Scores]:
    """Select the subsets that enter group means.

    Raises:
        ValueError: If a subset is unknown.
    """
    select_subsets(pd.DataFrame([part.identity for part in parts]), subsets)
    return [part for part in parts if not subsets or part.identity["subset"] in subsets]


def _accuracy_columns(parts: Sequence[Subset]) -> dict:
    """Return accuracy and its interval by model, of one subset or as an unweighted mean over several."""
    count = sum(part.resamples.units for part in parts)
    accuracy = _mean(parts, lambda part: 100 * part.correct.mean(axis=0))
    low, high = bound_accuracy_interval(
        *sum_interval([part.draws for part in parts], _unit_counts(parts), accuracy), count
    )
    return {
        "n": sum(len(part.correct) for part in parts),
        "accuracy": accuracy,
        "low": low,
        "high": high,
        "unit": " or ".join(sorted({part.resamples.unit for part in parts})),
        "units": count,
    }


def compare_accuracy(parts: Sequence[Subset], reference: np.ndarray) -> dict:
    """Return the columns of accuracy, and of its paired change from a reference model.

    Args:
        parts: One subset, or several to average over.
        reference: Position of each model's reference among the models, [models].

    Returns:
        Columns by name, each [models], percent and points.
    """
    columns = _accuracy_columns(parts)
    change = columns["accuracy"] - columns["accuracy"][reference]
    draws = [part.draws - part.draws[:, reference] for part in parts]
    low, high = widen_change_interval(
        *sum_interval(draws, _unit_counts(parts), change), columns["units"], _differs_from_reference(reference)
    )
    return columns | {"change": change, "change_low": low, "change_high": high}


def compare_measure(measure: Measure, reference: np.ndarray) -> dict:
    """Return the columns of J or AUC, and of its paired change from a reference model.

    Args:
        measure: J or AUC of the models.
        reference: Position of each model's reference among the models, [models].

    Returns:
        Columns by name as of :func:`compare_accuracy`, each [models].
    """
    change, low, high = measure.effect(
        lambda values: values - values[..., reference], _differs_from_reference(reference)
    )
    return measure.columns() | {"change": change, "change_low": low, "change_high": high}


def _columns(parts: list[Scores], full: np.ndarray) -> dict:
    """Return accuracy, and agreement and KL with the full model; a measure over models has neither."""
    return compare_accuracy(parts, full) | {
        "agreement": _mean(parts, lambda part: _agreement(part.logits, full[0])),
        "kl": _mean(parts, lambda part: _kl(part.logits, full[0])),
    }


def _differs_from_reference(reference: np.ndarray) -> np.ndarray:
    """Return whether each model differs from its reference, bool [models]."""
    return np.arange(len(reference)) != reference


def _unit_counts(parts: Sequence[Subset]) -> list[int]:
    """Return the number of bootstrap units of each subset."""
    return [part.resamples.units for part in parts]


def _mean(parts: Sequence[Subset], value) -> np.ndarray:
    """Average a value over subsets."""
    return np.mean([value(part) for part in parts], axis=0)


def _agreement(logits: np.ndarray, full: int) -> np.ndarray:
    """Return the percentage of pairs on which each model agrees with model `full`; logits: [pairs, models, classes]."""
    classes = logits.argmax(-1)
    return 100 * (classes == classes[:, full : full + 1]).mean(axis=0)


def _kl(logits: np.ndarray, full: int) -> np.ndarray:
    """Return the mean over pairs of KL(full || model), nats."""
    logits = logits.astype(float)
    log_p = logits - np.logaddexp.reduce(logits, axis=-1)[..., None]
    reference = log_p[:, full : full + 1]
    return (np.exp(reference) * (reference - log_p)).sum(-1).mean(axis=0).clip(min=0)
