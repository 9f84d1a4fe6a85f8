"""From predictions to accuracies with intervals, and how far a model is from the full one.

Every interval is a bootstrap over evaluation pairs (:mod:`heuristic_core.analysis.bootstrap`). All models of a subset
are measured on the same draws, so that the interval of a change is paired.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from heuristic_core.analysis.bootstrap import Resamples, interval, of_accuracy, of_change
from heuristic_core.analysis.frames import frame
from heuristic_core.common.draws import numpy_generator
from heuristic_core.experiments.heuristic_core.analysis.accuracy import AUC, CELLS, RULES, chosen
from heuristic_core.experiments.heuristic_core.analysis.measures import Measure, Subset, measures
from heuristic_core.pruning.subnetwork import FailedRun
from heuristic_core.tables.columns import RUN, STEP, SUBSET

# What of table "finetune_predictions" its accuracies need.
PASSING = [*RUN, *STEP, *SUBSET, "template", "example", "correct", "correct_merged", "log_odds"]


@dataclass(frozen=True)
class Scores(Subset):
    """The same with logits, [pairs, models, classes]."""

    logits: np.ndarray


def scores(
    predictions: pd.DataFrame,
    logits: np.ndarray,
    models: list[str],
    rule: str,
    bootstrap: int,
    seed: int,
    drawn: dict[str, Resamples] | None = None,
) -> Iterator[Scores]:
    """The scores of every subset, in the order of `predictions`, whose models follow one another.

    predictions: rows of a table of predictions of one checkpoint (or one run's evaluations). logits: [rows, classes].
    models: columns that tell models apart; `Scores` has them in the order of the rows. rule: ``analysis.class_rule``.
    drawn: draws by subset, of further models on the same pairs; those that it lacks are added to it.
    Scores have log odds where the rows have them.
    Raises ValueError where two models were evaluated on different pairs.
    """
    drawn = {} if drawn is None else drawn
    number = predictions.groupby(models, dropna=False, sort=False, observed=True).ngroup().to_numpy()
    count = number.max() + 1
    for (subset, group, family), rows in predictions.groupby([*SUBSET], dropna=False, sort=False, observed=True):
        position = predictions.index.get_indexer(rows.index)
        position = position[np.argsort(number[position], kind="stable")]
        examples = predictions["example"].to_numpy()[position]
        if (examples != np.resize(examples[: len(position) // count], len(position))).any():
            raise ValueError(f"not all models were evaluated on the same pairs of subset {subset}")
        order = position.reshape(count, -1)  # [models, pairs]
        if subset not in drawn:
            draw = numpy_generator(seed, "bootstrap", subset, group)
            drawn[subset] = Resamples(predictions["template"].iloc[order[0]].to_numpy(), bootstrap, draw)
        resamples = drawn[subset]
        correct = predictions[RULES[rule]].to_numpy(dtype=float)[order].T
        log_odds = predictions["log_odds"].to_numpy()[order].T if "log_odds" in predictions else None
        identity = {"subset": subset, "group": group, "family": family}
        draws, logits_here = 100 * resamples.means(correct), logits[order].swapaxes(0, 1)
        yield Scores(identity, correct, log_odds, draws, resamples, logits_here)


def accuracies(
    predictions: pd.DataFrame,
    logits: np.ndarray,
    subsets: Collection[str] | None,
    rule: str,
    bootstrap: int,
    seed: int,
    failed: Sequence[FailedRun] = (),
    drawn: dict[str, Resamples] | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Tables "accuracy", "group_accuracy" and "family_scores" of one checkpoint.

    The full model is the rows without a pruning seed.

    subsets: the subsets that enter group means; None for all. failed: runs without predictions, whose rows are null.
    drawn: as of :func:`scores`.
    """
    models = predictions[CELLS].drop_duplicates().reset_index(drop=True)
    full = np.full(len(models), models.index[models["seed"].isna()][0])
    parts = list(scores(predictions, logits, CELLS, rule, bootstrap, seed, drawn))
    absent = pd.DataFrame([one.identity._asdict() | {"reason": one.reason} for one in failed])

    def rows(about: dict, columns: dict) -> pd.DataFrame:
        return pd.concat([models.assign(**about, **columns), absent.assign(**about)])

    entering = _entering(parts, subsets)
    groups = []
    for group in dict.fromkeys(one.identity["group"] for one in entering):
        of_group = [one for one in entering if one.identity["group"] == group]
        groups.append(rows({"group": group, "subsets": len(of_group)}, _columns(of_group, full)))
    whole, families = (
        [
            rows({"group": one.group, "family": one.family, "subsets": len(one.parts)}, compared_measure(one, full))
            for one in found
        ]
        for found in measures(entering)
    )
    return (
        frame("accuracy", pd.concat([rows(one.identity, _columns([one], full)) for one in parts])),
        frame("group_accuracy", pd.concat([*groups, *whole])),
        frame("family_scores", pd.concat(families) if families else []),
    )


def finetune_accuracy(
    predictions: pd.DataFrame, subsets: Collection[str] | None, rule: str, bootstrap: int, seed: int
) -> pd.DataFrame:
    """Table "finetune_accuracy" from table "finetune_predictions" of one fine-tuning run.

    subsets: the subsets that AUC is of; None for all.
    """
    model = [*RUN, *STEP]
    models = predictions[model].drop_duplicates().reset_index(drop=True)
    no_logits = np.empty((len(predictions), 0))
    parts = list(scores(predictions, no_logits, model, rule, bootstrap, seed))
    rows = [models.assign(**one.identity, **_accuracy([one])) for one in parts]
    whole, _ = measures(_entering(parts, subsets))
    rows += [models.assign(group=AUC, **one.columns()) for one in whole if one.group == AUC]
    return frame("finetune_accuracy", pd.concat(rows).sort_values("step", kind="stable"))


def _entering(parts: Sequence[Scores], subsets: Collection[str] | None) -> list[Scores]:
    """The parts that enter group means. Raises ValueError on an unknown subset."""
    chosen(pd.DataFrame([one.identity for one in parts]), subsets)
    return [one for one in parts if not subsets or one.identity["subset"] in subsets]


def _accuracy(parts: Sequence[Subset]) -> dict:
    """Accuracy with its interval, by model: of one subset, or the unweighted mean over several."""
    count = sum(part.resamples.units for part in parts)
    accuracy = _mean(parts, lambda part: 100 * part.correct.mean(axis=0))
    low, high = of_accuracy(*interval([part.draws for part in parts], _units(parts), accuracy), count)
    return {
        "n": sum(len(part.correct) for part in parts),
        "accuracy": accuracy,
        "low": low,
        "high": high,
        "unit": " or ".join(sorted({part.resamples.unit for part in parts})),
        "units": count,
    }


def compared(parts: Sequence[Subset], reference: np.ndarray) -> dict:
    """The same, and how far every model is from its reference, paired: [models], the position of another model."""
    columns = _accuracy(parts)
    change = columns["accuracy"] - columns["accuracy"][reference]
    draws = [part.draws - part.draws[:, reference] for part in parts]
    low, high = of_change(*interval(draws, _units(parts), change), columns["units"], _changed(reference))
    return columns | {"change": change, "change_low": low, "change_high": high}


def compared_measure(measure: Measure, reference: np.ndarray) -> dict:
    """The same of J or AUC."""
    change, low, high = measure.effect(lambda values: values - values[..., reference], _changed(reference))
    return measure.columns() | {"change": change, "change_low": low, "change_high": high}


def _columns(parts: list[Scores], full: np.ndarray) -> dict:
    """Accuracy, and the comparison with the full model; a measure of models has no agreement or KL of its own."""
    return compared(parts, full) | {
        "agreement": _mean(parts, lambda part: _agreement(part.logits, full[0])),
        "kl": _mean(parts, lambda part: _kl(part.logits, full[0])),
    }


def _changed(reference: np.ndarray) -> np.ndarray:
    """Whether a model is another one than its reference."""
    return np.arange(len(reference)) != reference


def _units(parts: Sequence[Subset]) -> list[int]:
    return [part.resamples.units for part in parts]


def _mean(parts: Sequence[Subset], value) -> np.ndarray:
    return np.mean([value(part) for part in parts], axis=0)


def _agreement(logits: np.ndarray, full: int) -> np.ndarray:
    """Percent of pairs on which each model has the class of model `full`; logits: [pairs, models, classes]."""
    classes = logits.argmax(-1)
    return 100 * (classes == classes[:, full : full + 1]).mean(axis=0)


def _kl(logits: np.ndarray, full: int) -> np.ndarray:
    """Mean over pairs of KL(full || model), nats."""
    logits = logits.astype(float)
    log_p = logits - np.logaddexp.reduce(logits, axis=-1)[..., None]
    reference = log_p[:, full : full + 1]
    return (np.exp(reference) * (reference - log_p)).sum(-1).mean(axis=0).clip(min=0)
