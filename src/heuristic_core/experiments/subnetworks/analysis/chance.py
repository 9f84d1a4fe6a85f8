"""Test whether a fine-tuned model has learned its task: in-domain accuracy against the best constant class.

Chance is the accuracy of always predicting the best class. Two tests over in-domain pairs at the 5 % level: an exact
binomial test of accuracy against chance, and a test of whether predictions agree with labels more or less often than
shuffled predictions do. Outcomes:

learned       accuracy is above chance;
weak          accuracy is not above chance, but predictions agree with labels, as when a model detects a rare class;
below chance  accuracy is below chance and below that of shuffled predictions;
at chance     none of these, and the upper confidence limit of accuracy is within `MAX_EXCESS` of chance (or within half
              of the distance from chance to 100 %);
unclear       none of these: there are too few pairs to tell, or all have one label.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binomtest, norm

from heuristic_core.experiments.subnetworks.analysis.accuracy import ID, RULES
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.tables.columns import RUN, STEP
from heuristic_core.tables.parquet import read_table

LEVEL = 0.05
MAX_EXCESS = 0.1  # accuracy above chance, a share; a model that may exceed it is not "at chance"
LEARNED, WEAK, AT_CHANCE, BELOW, UNCLEAR = "learned", "weak", "at chance", "below chance", "unclear"
REMEDIES = {
    AT_CHANCE: "The run stops, because subnetworks and ablations would be meaningless. Possible causes: "
    "finetune.learning_rate is too low or too high; finetune.steps is too small; labels do not match their pairs "
    "(check the column `label`, the order of `labels`, and `merge`); training pairs are too few, or unlike the "
    "evaluation pairs",
    BELOW: "The run stops. Check the order of `labels`, the column `label`, and `merge`",
}
OVERRIDE_HINT = "To prune and ablate anyway, set analysis.despite_chance: true"


def judge_model(
    predictions: pd.DataFrame,
    merges: Mapping[str, Sequence[int]],
    classes: Sequence[str],
    subsets: Sequence[str] | None = None,
    rule: str = "argmax-first",
) -> dict:
    """Compute the row of table "chance" of one full model.

    Args:
        predictions: Rows of table "predictions" of the model.
        merges: For each subset, the label that each class of the model counts as, [classes].
        classes: Names of the model's classes.
        subsets: Subsets that enter group means; None for all. All in-domain subsets are used if none of these is one.
        rule: ``analysis.class_rule``.
    """
    rows = predictions[predictions["group"] == ID]
    selected = rows[rows["subset"].isin(list(rows["subset"] if subsets is None else subsets))]
    rows = rows if selected.empty else selected
    as_label = np.array([merges[name] for name in rows["subset"]])  # [pairs, classes]
    constant = (as_label == rows["label"].to_numpy()[:, None]).mean(0)
    n, correct, chance = len(rows), int(rows[RULES[rule]].sum()), float(constant.max())
    high = binomtest(correct, n, alternative="less").proportion_ci(1 - LEVEL).high
    answers = as_label[np.arange(n), rows["prediction"]]
    agreement = _agreement(answers, rows["label"].to_numpy(), rows["subset"].to_numpy())
    return rows.iloc[0][[*RUN, *STEP]].to_dict() | {
        "n": n,
        "accuracy": 100 * correct / n,
        "high": 100 * float(high),
        "chance": 100 * chance,
        "constant": classes[int(constant.argmax())],
        "outcome": _outcome(correct, n, chance, high, agreement),
    }


def judge_files(full: str | Path, subsets: str | Path, analysis: Analysis) -> dict:
    """Compute the row of table "chance" from files.

    Args:
        full: Table "predictions" of the full model.
        subsets: subsets.json of job `sentences`.
        analysis: Settings `analysis`.
    """
    description = json.loads(Path(subsets).read_text(encoding="utf-8"))
    merges = {subset["name"]: subset["merge"] for subset in description["subsets"]}
    rows = read_table(full, without=["logits"])
    return judge_model(rows, merges, description["labels"], analysis.subsets, analysis.class_rule)


def _agreement(answers: np.ndarray, labels: np.ndarray, subsets: np.ndarray) -> float:
    """Return the z-score of agreement between answers and labels, against answers shuffled within subsets.

    Mean and variance are those of the diagonal sum of a contingency table with fixed margins. 0 if the variance is 0.
    """
    excess = variance = 0.0
    for subset in np.unique(subsets):
        predicted, true = answers[subsets == subset], labels[subsets == subset]
        n, classes = len(predicted), np.union1d(predicted, true)
        a, b = (np.array([(values == label).sum() for label in classes], float) for values in (predicted, true))
        excess += (predicted == true).sum() - a @ b / n
        if n > 1:
            products = a * b
            pairs = products.sum() ** 2 - (products**2).sum()
            variance += (products @ ((n - a) * (n - b)) + pairs) / (n**2 * (n - 1))
    return excess / np.sqrt(variance) if variance else 0.0


def _outcome(correct: int, n: int, chance: float, high: float, agreement: float) -> str:
    """Return the outcome, as the module describes it; chance and high (upper confidence limit) are shares."""
    if binomtest(correct, n, chance, alternative="greater").pvalue < LEVEL:
        return LEARNED
    if chance == 1:
        return UNCLEAR
    if norm.sf(agreement) < LEVEL:
        return WEAK
    if norm.cdf(agreement) < LEVEL and binomtest(correct, n, chance, alternative="less").pvalue < LEVEL:
        return BELOW
    return AT_CHANCE if high < chance + min(MAX_EXCESS, (1 - chance) / 2) else UNCLEAR


def stops_study(row: Mapping) -> bool:
    """Return whether the study should stop before pruning this model; `row` is a row of table "chance"."""
    return row["outcome"] in (AT_CHANCE, BELOW)


def describe_outcome(row: Mapping) -> str:
    """Describe a model that has not, or may not have, learned its task; `row` is a row of table "chance"."""
    verdict, addition = {
        WEAK: (
            "is no better than a constant answer",
            "; its answers do agree with the labels more often than shuffled ones",
        ),
        AT_CHANCE: ("has not learned the task", ""),
        BELOW: ("is below chance", ": are labels swapped?"),
        UNCLEAR: ("cannot be told from chance", "; the in-domain pairs have one label")
        if row["chance"] == 100
        else ("cannot be told from chance", "; there are too few in-domain pairs to tell"),
    }[row["outcome"]]
    return (
        f"fine-tuning seed {row['ft_seed']}, step {row['step']}: the full model {verdict}: {row['accuracy']:.1f} % of "
        f"{row['n']} in-domain pairs, chance {row['chance']:.1f} % (always {row['constant']!r}){addition}"
    )


def format_error(row: Mapping) -> str:
    """Return the error message of a run that stops because of this model; `row` is a row of table "chance"."""
    text = describe_outcome(row)
    return f"{text}{'' if text.endswith('?') else '.'} {REMEDIES[row['outcome']]}. {OVERRIDE_HINT}"


def list_warnings(rows: Iterable[Mapping]) -> list[str]:
    """Describe each model in rows of table "chance" that has not, or may not have, learned its task."""
    return [describe_outcome(row) for row in rows if row["outcome"] != LEARNED]
