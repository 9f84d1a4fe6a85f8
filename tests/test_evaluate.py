"""Scoring: what is said of every pair, with the class first or its merger into the subset's labels first."""

import copy

import numpy as np
import pytest
import torch
from mentions import raises
from test_scripts import script

from heuristic_core.common.errors import InputError
from heuristic_core.data.encoded import Subset, pack_lists
from heuristic_core.interventions.evaluate import make_predictions
from heuristic_core.tables.parquet import as_table

LOGITS = np.array([[2, 1, 0], [0, 1, 2], [0, 2, 1], [1, 0, 0.5], [0.4, 0.35, 0.3], [0, 0, 3]], np.float32)
SUBSETS = (Subset("in", "id", None, (0, 1, 2), 0, 3), Subset("out", "ood", "constituent", (0, 1, 1), 3, 6))
EVALUATION = pack_lists(
    [[1]] * 6, [[0]] * 6, [[0]] * 6, [0, 2, 1, 0, 1, 1], SUBSETS, [None, None, None, "if", "unless", "if"]
)
COLUMNS = make_predictions(LOGITS, EVALUATION)


def test_argmax_then_merge():
    assert COLUMNS["prediction"].tolist() == [0, 2, 1, 0, 0, 2]
    # Pair 4: neutral and contradiction together outweigh entailment, but the class is taken first.
    assert COLUMNS["correct"].tolist() == [True, True, True, True, False, True]
    assert COLUMNS["subset"].tolist() == ["in"] * 3 + ["out"] * 3
    assert [row.tolist() for row in COLUMNS["logits"]] == LOGITS.tolist()


def test_merge_then_argmax():
    # Pair 3: p(entailment) = e / (e + 1 + e^0.5) = 0.506; pair 4: 0.35, so non-entailment.
    assert COLUMNS["correct_merged"].tolist() == [True, True, True, True, True, True]


def test_log_odds_are_of_the_true_label():
    p = np.exp(LOGITS) / np.exp(LOGITS).sum(1, keepdims=True)
    true = np.array([p[0, 0], p[1, 2], p[2, 1], p[3, 0], p[4, 1] + p[4, 2], p[5, 1] + p[5, 2]])
    assert COLUMNS["log_odds"] == pytest.approx(np.log(true / (1 - true)), abs=1e-5)


def test_a_label_without_a_class_is_never_right():
    """A subset may have a label that no class counts as; its log odds are then minus infinity."""
    subset = (Subset("odd", "ood", None, (0, 0, 0), 0, 1),)
    columns = make_predictions(LOGITS[:1], pack_lists([[1]], [[0]], [[0]], [0], subset))
    assert columns["correct"].tolist() == columns["correct_merged"].tolist() == [True]
    assert columns["log_odds"].tolist() == [np.inf]


def test_columns_fill_the_table_of_predictions():
    identity = {name: [value] * 6 for name, value in zip(("study", "model", "task"), "abc", strict=True)}
    identity |= {"ft_seed": [1] * 6, "step": [2] * 6, "sparsity": [0.0] * 6, "seed": [None] * 6, "repeat": [0] * 6}
    table = as_table("predictions", identity | COLUMNS)
    assert table["seed"].null_count == 6
    assert table["family"].to_pylist() == [None] * 3 + ["constituent"] * 3
    assert table["template"].to_pylist() == [None, None, None, "if", "unless", "if"]


def test_a_broken_checkpoint_is_an_error_before_anything_is_written(bert, encoded, tmp_path):
    broken = copy.deepcopy(bert)
    broken.classifier.weight[0, 0] = torch.nan
    broken.save_pretrained(tmp_path / "checkpoint")
    encoded.save(tmp_path / "pairs")
    written = {name: tmp_path / "out" / name for name in ("means", "logits", "predictions")}
    options = {"examples": 10, "mean-examples": 10, "study": "s", "model-name": "m", "task-name": "t", "ft-seed": 1}
    options |= {"step": 2, "checkpoint": tmp_path / "checkpoint", "train": tmp_path / "pairs"}
    options |= {"evaluation": tmp_path / "pairs", "log": tmp_path / "log", **written}
    with raises(InputError, "float32", "10 of 10"):
        script("full_model").main([str(part) for name, value in options.items() for part in (f"--{name}", value)])
    assert not (tmp_path / "out").exists()
