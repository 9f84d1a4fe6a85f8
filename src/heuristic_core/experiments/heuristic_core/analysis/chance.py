"""Whether a fine-tuned model has learned its task: its in-domain accuracy against the best constant class.

Tests over in-domain pairs, at 5 %: an exact binomial test of accuracy against chance, the accuracy of the best constant
class, and a test of whether answers agree with labels more, or less, often than shuffled answers do.

*learned*: the accuracy is above chance. *weak*: it is not, but answers agree with labels, as those of a model may that
finds a rare class. *below chance*: fewer answers are right than of shuffled ones, and than chance. *at chance*:
neither, and the upper limit of the accuracy is so close to chance (`REACH`, or half of what is left to 100 %) that the
pairs suffice to tell. *unclear*: the pairs do not suffice: they are too few, or have one label.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binomtest, norm

from heuristic_core.experiments.heuristic_core.analysis.accuracy import ID, RULES
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.tables.columns import RUN, STEP
from heuristic_core.tables.parquet import read_table

LEVEL = 0.05
REACH = 0.1  # above chance; a model that may reach further is not at chance
LEARNED, WEAK, AT_CHANCE, BELOW, UNCLEAR = "learned", "weak", "at chance", "below chance", "unclear"
REMEDIES = {
    AT_CHANCE: "The run ends here, as subnetworks and ablations would say nothing. Possible causes: "
    "finetune.learning_rate is too low or too high; finetune.steps are too few; labels do not belong to their pairs "
    "(the column `label`, the order of `labels`, `merge`); training pairs are too few, or of another kind",
    BELOW: "The run ends here. Check the order of `labels`, the column `label`, and `merge`",
}
DESPITE = "analysis.despite_chance: true prunes and ablates all the same"


def judged(
    predictions: pd.DataFrame,
    merges: Mapping[str, Sequence[int]],
    classes: Sequence[str],
    subsets: Sequence[str] | None = None,
    rule: str = "argmax-first",
) -> dict:
    """The row of table "chance" of one full model.

    Args:
        predictions: rows of table "predictions" of that model.
        merges: of each subset, for every class of the model the label that it counts as.
        classes: names of the model's classes.
        subsets: as in group means; None for all, and so where none of them is in-domain.
        rule: ``analysis.class_rule``.
    """
    rows = predictions[predictions["group"] == ID]
    entering = rows[rows["subset"].isin(list(rows["subset"] if subsets is None else subsets))]
    rows = rows if entering.empty else entering
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


def judged_files(full: str | Path, subsets: str | Path, analysis: Analysis) -> dict:
    """The same from the full model's predictions, and from subsets.json, which job `sentences` wrote."""
    described = json.loads(Path(subsets).read_text(encoding="utf-8"))
    merges = {one["name"]: one["merge"] for one in described["subsets"]}
    rows = read_table(full, without=["logits"])
    return judged(rows, merges, described["labels"], analysis.subsets, analysis.class_rule)


def _agreement(answers: np.ndarray, labels: np.ndarray, subsets: np.ndarray) -> float:
    """How many standard deviations answers agree with labels above answers shuffled within subsets; 0 without any.

    Mean and variance are those of a random matching, the diagonal of a table with fixed margins.
    """
    excess = variance = 0.0
    for subset in np.unique(subsets):
        own, true = answers[subsets == subset], labels[subsets == subset]
        n, kinds = len(own), np.union1d(own, true)
        a, b = (np.array([(values == kind).sum() for kind in kinds], float) for values in (own, true))
        excess += (own == true).sum() - a @ b / n
        if n > 1:
            products = a * b
            pairs = products.sum() ** 2 - (products**2).sum()
            variance += (products @ ((n - a) * (n - b)) + pairs) / (n**2 * (n - 1))
    return excess / np.sqrt(variance) if variance else 0.0


def _outcome(correct: int, n: int, chance: float, high: float, agreement: float) -> str:
    if binomtest(correct, n, chance, alternative="greater").pvalue < LEVEL:
        return LEARNED
    if chance == 1:
        return UNCLEAR
    if norm.sf(agreement) < LEVEL:
        return WEAK
    if norm.cdf(agreement) < LEVEL and binomtest(correct, n, chance, alternative="less").pvalue < LEVEL:
        return BELOW
    return AT_CHANCE if high < chance + min(REACH, (1 - chance) / 2) else UNCLEAR


def ends(row: Mapping) -> bool:
    """Whether a study should not go on with this model. row: of table "chance"."""
    return row["outcome"] in (AT_CHANCE, BELOW)


def sentence(row: Mapping) -> str:
    """What a reader must know of a model that has not learned, or may not have. row: of table "chance"."""
    what, more = {
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
        f"fine-tuning seed {row['ft_seed']}, step {row['step']}: the full model {what}: {row['accuracy']:.1f} % of "
        f"{row['n']} in-domain pairs, chance {row['chance']:.1f} % (always {row['constant']!r}){more}"
    )


def why_it_ends(row: Mapping) -> str:
    """The message of a run that ends with this model. row: of table "chance"."""
    text = sentence(row)
    return f"{text}{'' if text.endswith('?') else '.'} {REMEDIES[row['outcome']]}. {DESPITE}"


def warnings(rows: Iterable[Mapping]) -> list[str]:
    """A sentence for each model of table "chance" that has not learned, or may not have."""
    return [sentence(row) for row in rows if row["outcome"] != LEARNED]
