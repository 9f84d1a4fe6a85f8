"""Whether a fine-tuned model has learned its task: its in-domain accuracy against the best constant class.

Exact binomial tests over in-domain pairs, at 5 %. *learned*: the accuracy is above chance. *at chance*: it is not, and
its upper limit is so close to chance (`REACH` points, or half of what is left to 100 %) that the pairs suffice to tell.
*below chance*: so far that labels may be swapped. *unclear*: too few pairs to tell.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from heuristic_core.experiments.heuristic_core.analysis.accuracy import ID, RULES
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.tables.columns import RUN, STEP
from heuristic_core.tables.parquet import read_table

LEVEL = 0.05
REACH = 0.1  # above chance; a model that may reach further is not at chance
LEARNED, AT_CHANCE, BELOW, UNCLEAR = "learned", "at chance", "below chance", "unclear"
REMEDIES = (
    "Its subnetworks and ablations would say nothing, so the run ends before them. Causes and remedies: "
    "finetune.learning_rate is too low or too high; finetune.steps are too few; labels do not belong to their pairs "
    "(the column `label`, the order of `labels`, `merge`); the training pairs are too few, or other than the in-domain "
    "ones. analysis.despite_chance: true prunes and ablates all the same"
)


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
    return rows.iloc[0][[*RUN, *STEP]].to_dict() | {
        "n": n,
        "accuracy": 100 * correct / n,
        "high": 100 * float(high),
        "chance": 100 * chance,
        "constant": classes[int(constant.argmax())],
        "outcome": _outcome(correct, n, chance, high),
    }


def judged_files(full: str | Path, subsets: str | Path, analysis: Analysis) -> dict:
    """The same from the full model's predictions, and from subsets.json, which job `sentences` wrote."""
    described = json.loads(Path(subsets).read_text(encoding="utf-8"))
    merges = {one["name"]: one["merge"] for one in described["subsets"]}
    rows = read_table(full, without=["logits"])
    return judged(rows, merges, described["labels"], analysis.subsets, analysis.class_rule)


def _outcome(correct: int, n: int, chance: float, high: float) -> str:
    if binomtest(correct, n, chance, alternative="greater").pvalue < LEVEL:
        return LEARNED
    if binomtest(correct, n, chance, alternative="less").pvalue < LEVEL:
        return BELOW
    return AT_CHANCE if high < chance + min(REACH, (1 - chance) / 2) else UNCLEAR


def ends(row: Mapping) -> bool:
    """Whether a study should not go on with this model. row: of table "chance"."""
    return row["outcome"] in (AT_CHANCE, BELOW)


def sentence(row: Mapping) -> str:
    """What a reader must know of a model that has not learned, or may not have. row: of table "chance"."""
    what = "has not learned the task" if ends(row) else "cannot be told from chance"
    more = {
        AT_CHANCE: "",
        BELOW: ", which is significantly higher: are labels swapped?",
        UNCLEAR: "; there are too few in-domain pairs to tell",
    }[row["outcome"]]
    return (
        f"fine-tuning seed {row['ft_seed']}, step {row['step']}: the full model {what}: {row['accuracy']:.1f} % of "
        f"{row['n']} in-domain pairs, chance {row['chance']:.1f} % (always {row['constant']!r}){more}"
    )


def warnings(rows: Iterable[Mapping]) -> list[str]:
    """A sentence for each model of table "chance" that has not learned, or may not have."""
    return [sentence(row) for row in rows if row["outcome"] != LEARNED]
