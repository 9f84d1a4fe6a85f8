"""Faults in files of pairs, and in what a configuration says of them, are named with file, column and value."""

import pytest
from task_rows import HANS, HANS_ROWS, NLI, pairs, raises

from heuristic_core.data.files import read_task


def test_a_missing_file_is_named(task, tmp_path):
    made = task()
    (tmp_path / "dev.parquet").unlink()
    raises(made, str(tmp_path / "dev.parquet"), "task.folder", repr(str(tmp_path)))


@pytest.mark.parametrize(
    ("spec", "column"),
    [
        ({"group": "id", "sentences": ["premise", "question2"]}, "question2"),
        ({"group": "id", "label": "gold"}, "gold"),
        ({"group": "id", "split_by": "subcase"}, "subcase"),
        ({"group": "id", "family_by": "heuristic"}, "heuristic"),
    ],
)
def test_a_missing_column_is_named_beside_those_there_are(task, spec, column):
    raises(task(evaluation={"dev": (pairs(0), spec)}), "dev.parquet", repr(column), "premise", "hypothesis", "label")


@pytest.mark.parametrize("label", [3, -2, "Neutral", 0.5, "3", "1.5", True, "inf"])
def test_an_unknown_label_is_named_with_the_known_ones(task, label):
    expected = ["train.parquet", "label", repr(label), str(NLI)]
    raises(task(pairs(label)), *expected)
    raises(task(evaluation={"dev": (pairs(label), {"group": "id"})}), "dev.parquet", *expected[1:])


def test_training_labels_that_the_task_does_not_have_are_named(task):
    raises(task(pairs(0), train_spec={"labels": ["entailment", "unrelated"]}), "train.parquet", "'unrelated'", str(NLI))


MERGE = HANS["merge"]


@pytest.mark.parametrize(
    ("merge", "part"),
    [
        (None, "`merge`"),
        ({"entailment": "entailment", "neutral": "non-entailment"}, "contradiction"),
        (MERGE | {"neutral": "neither"}, "'neither'"),
        (MERGE | {"other": "entailment"}, "'other'"),
    ],
)
def test_a_wrong_merge_is_named(task, merge, part):
    raises(
        task(evaluation={"hans": (HANS_ROWS, HANS | {"merge": merge})}), "task.evaluation.hans", "merge", str(NLI), part
    )


def test_a_label_without_a_group_is_named(task):
    groups = {"entailment": "ood-entailment"}
    raises(
        task(evaluation={"hans": (HANS_ROWS, HANS | {"group_by_label": groups})}),
        "task.evaluation.hans.group_by_label",
        "'non-entailment'",
        "hans.parquet",
    )


@pytest.mark.parametrize("change", [{"label": 0}, {"heuristic": "subsequence"}])
def test_a_subset_of_several_groups_or_families_is_named(task, change):
    rows = [*HANS_ROWS, HANS_ROWS[0] | change]
    raises(task(evaluation={"hans": (rows, HANS)}), "hans.parquet", "'subcase'")


def test_more_training_pairs_than_there_are_is_named(task):
    raises(task(pairs(0, 1, -1, 2), train_pairs=4), "task.train_pairs", "4", "3")


def test_a_name_of_a_subset_stands_for_one(task):
    twice = {"hans": (HANS_ROWS, HANS), "cn_x": (pairs(0), {"group": "id"})}
    raises(task(evaluation=twice), "task.evaluation.cn_x", "'cn_x'")
    alike = [*HANS_ROWS, HANS_ROWS[0] | {"subcase": "ln_b-a"}]  # for paths, / becomes -
    raises(task(evaluation={"hans": (alike, HANS)}), "task.evaluation.hans", "'ln_b-a'")


@pytest.mark.parametrize("value", [None, ""])
def test_a_row_without_a_value_to_split_by_is_named(task, value):
    rows = [*HANS_ROWS, HANS_ROWS[0] | {"subcase": value}]
    raises(task(evaluation={"hans": (rows, HANS)}), "hans.parquet", "row 5", "subcase")
    unlabelled = [*HANS_ROWS, HANS_ROWS[0] | {"subcase": value, "label": -1}]
    assert len(read_task(task(evaluation={"hans": (unlabelled, HANS)})).evaluation) == 4


@pytest.mark.parametrize("rows", [pairs(1, 1, -1), pairs(-1)])
def test_training_needs_two_classes(task, rows):
    raises(task(rows), "task.train", str(NLI))


def test_an_evaluation_set_without_labels_is_named(task):
    raises(task(evaluation={"dev": (pairs(-1, None), {"group": "id"})}), "task.evaluation.dev", "dev.parquet", "2")


def test_a_label_that_no_row_has_is_named_beside_those_there_are(task):
    only = {"group": "id", "only_label": "contradiction"}
    expected = ["task.evaluation.dev.only_label", "'contradiction'", "3", "['entailment', 'neutral']"]
    raises(task(evaluation={"dev": (pairs(0, 1, 0), only)}), *expected)
    raises(task(evaluation={"dev": (pairs(-1, None), only)}), "task.evaluation.dev", "dev.parquet", "2")


def test_labels_of_another_task_are_refused_with_the_settings_that_make_them_fit(task):
    raises(
        task(evaluation={"rte": (pairs("not_entailment"), {"group": "id"})}), "'not_entailment'", "`labels`", "`merge`"
    )
