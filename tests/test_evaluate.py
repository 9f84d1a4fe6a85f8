"""Scoring: the class first, then its merger into the subset's labels."""

import numpy as np

from heuristic_core.evaluate import predictions, subset_accuracies
from heuristic_core.tables import as_table
from heuristic_core.tasks.encoded import Subset

LOGITS = np.array([[2, 1, 0], [0, 1, 2], [0, 2, 1], [1, 0, 0.5], [0.4, 0.35, 0.3], [0, 0, 3]], np.float32)
LABELS = np.array([0, 2, 1, 0, 1, 1])
SUBSETS = (Subset("in", "id", None, (0, 1, 2), 0, 3), Subset("out", "ood", "constituent", (0, 1, 1), 3, 6))


def test_argmax_then_merge():
    columns = predictions(LOGITS, LABELS, SUBSETS)
    assert columns["prediction"].tolist() == [0, 2, 1, 0, 0, 2]
    # Pair 4: neutral and contradiction together outweigh entailment, but the class is taken first.
    assert columns["correct"].tolist() == [True, True, True, True, False, True]
    assert columns["subset"].tolist() == ["in"] * 3 + ["out"] * 3
    assert [row.tolist() for row in columns["logits"]] == LOGITS.tolist()


def test_columns_fill_the_table_of_predictions():
    identity = {name: [value] * 6 for name, value in zip(("study", "model", "task"), "abc", strict=True)}
    identity |= {"ft_seed": [1] * 6, "step": [2] * 6, "sparsity": [0.0] * 6, "seed": [None] * 6}
    table = as_table("predictions", identity | predictions(LOGITS, LABELS, SUBSETS))
    assert table["seed"].null_count == 6
    assert table["family"].to_pylist() == [None] * 3 + ["constituent"] * 3


def test_accuracies_are_percent_of_each_subset():
    rows = subset_accuracies(LOGITS, LABELS, SUBSETS)
    found = [(row["subset"], row["n"], round(row["accuracy"], 4)) for row in rows]
    assert found == [("in", 3, 100), ("out", 3, 66.6667)]
