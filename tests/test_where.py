"""Rows of a file chosen by the values of its columns, and subsets of several files told apart by a prefix."""

import json
import logging

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import ROOT
from mentions import mentions
from pair_files import NLI, make_task
from pydantic import ValidationError
from task_rows import named, pairs, raises

from heuristic_core.config.reading import ConfigError, read_config
from heuristic_core.config.splits import EvaluationSplit
from heuristic_core.data import preview
from heuristic_core.data.files import read_task
from heuristic_core.data.readers import DataError
from heuristic_core.data.rows import read_rows
from heuristic_core.experiments.subnetworks.config import parse_study

GENRES = ["crowd:upward_monotone", "paper:downward_monotone", "crowd:downward_monotone:conditional", None, "none"]
MED = [row | {"genre": GENRES[k], "round": k % 2} for k, row in enumerate(pairs(*5 * [0]))]


@pytest.mark.parametrize(
    ("where", "chosen"),
    [
        ({"genre": "downward"}, ["p1", "p2"]),
        ({"genre": "^crowd:.*downward"}, ["p2"]),
        ({"genre": ["crowd:upward_monotone", "none"]}, ["p0", "p4"]),
        ({"round": [1]}, ["p1", "p3"]),
        ({"genre": "downward", "round": ["0"]}, ["p2"]),
    ],
    ids=["pattern", "anchored", "list", "numbers", "both"],
)
def test_rows_are_chosen_by_pattern_and_by_value(task, where, chosen):
    result = read_task(task(MED + pairs(1), {"med": (MED, {"group": "ood", "where": where})}))
    assert list(named(result.evaluation)) == chosen
    train, med = result.accounts
    assert (med.rows, med.used, med.reasons["not_chosen"]) == (len(MED), len(chosen), len(MED) - len(chosen))
    assert (train.rows, train.used) == (6, 6)


def test_training_rows_are_chosen_too_and_others_need_not_be_sound(task):
    rows = [*MED, {"premise": "x", "hypothesis": "y", "label": "of another task", "genre": "upward", "round": None}]
    rows = [{**row, "label": NLI[k % 2] if row["label"] == 0 else row["label"]} for k, row in enumerate(rows)]
    result = read_task(task(rows, train_spec={"where": {"genre": "downward"}}))
    assert named(result.train) == {"p1": 1, "p2": 0}


@pytest.mark.parametrize(
    ("where", "named"),
    [
        ({"genre": "sideways"}, ["where.genre", "'sideways'", "'crowd:upward_monotone'"]),
        ({"genre": ["none", "some"]}, ["where.genre", "'some'", "'crowd:downward"]),
        ({"genre": "upward", "round": [1]}, ["where", "upward"]),
        ({"gender": "x"}, ["'gender'", "genre"]),
    ],
)
def test_what_fits_no_row_is_told_before_anything_runs(task, where, named):
    made = task(evaluation={"med": (MED, {"group": "ood", "where": where})})
    raises(made, "med.parquet", *named)
    (fault,) = preview.find_task_errors(made)
    assert mentions(fault, "task.evaluation.med") and all(token in fault for token in named)


def test_of_a_long_file_the_first_rows_tell_no_fault(tmp_path, monkeypatch):
    rows = [{"sentence1": f"p{k}", "sentence2": "h", "label": k % 2, "genre": "ab"[k == 5]} for k in range(6)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    made = make_task(tmp_path, "a.parquet", where={"genre": ["b"]})
    monkeypatch.setattr(preview, "PREVIEW_ROWS", 3)
    assert preview.find_task_errors(made) == []


@pytest.mark.parametrize("wanted", ["(down", [], 3, [1.5]])
def test_what_is_neither_pattern_nor_values_is_refused_in_one_line(wanted):
    values = read_config(ROOT / "config" / "minilm-mnli.yaml")
    values["task"]["train"][0]["where"] = {"genre": wanted}
    with pytest.raises(ConfigError) as caught:
        parse_study(values, "minilm.yaml")
    (line,) = str(caught.value).splitlines()[1:]
    assert mentions(line, "task.train.0.where.genre", repr(wanted))


def test_a_prefix_tells_subsets_of_two_files_apart(task):
    by_label = {"split_by": "label", "group": "ood"}
    rows = [row | {"label": label} for row, label in zip(pairs(0, 1), NLI, strict=False)]
    clash = {"sick": (rows, by_label), "med": (rows, by_label)}
    raises(task(evaluation=clash), "task.evaluation.med", "'entailment'", "`prefix`")
    apart = {name: (rows, by_label | {"prefix": f"{name}-"}) for name in clash}
    result = read_task(task(evaluation=apart))
    assert [rule.name for rule in result.subsets] == [
        "sick-entailment", "sick-neutral", "med-entailment", "med-neutral",
    ]  # fmt: skip
    assert preview.find_task_errors(task(evaluation=apart)) == []


def test_a_prefix_without_a_column_to_split_by_is_refused():
    with pytest.raises(ValidationError) as caught:
        EvaluationSplit(file="a.csv", sentences=("a", "b"), group="id", prefix="a-")
    assert mentions(str(caught.value), "prefix", "'a-'", "`split_by`")


@pytest.mark.parametrize("values", [[1.0, 0.0, None], ["1.0", "0", "2"]])
def test_a_number_is_chosen_in_any_spelling(task, values):
    rows = [row | {"round": value} for row, value in zip(pairs(0, 1, 2), values, strict=True)]
    made = task(evaluation={"dev": (rows, {"group": "id", "where": {"round": [1]}})})
    assert list(named(read_task(made).evaluation)) == ["p0"]


def json_rows(folder, *more):
    text = (json.dumps({"sentence1": "a", "sentence2": "b", "label": "neutral"} | item) + "\n" for item in more)
    (folder / "a.jsonl").write_text("".join(text))


@pytest.mark.parametrize(
    ("rows", "where", "chosen", "reported"),
    [
        ([{"genre": "x"}, {}, {"genre": "y"}, {}], {"genre": "x"}, 1, [(2, "'genre'")]),
        ([{"genre": "x", "round": 1}, {"genre": "x"}, {"round": 1}], {"genre": ["x"], "round": [1]}, 1,
         [(1, "'genre'"), (1, "'round'")]),
        ([{"genre": "x"}, {"genre": None}, {"genre": "y"}], {"genre": "x"}, 1, []),
        ([{"genre": "x"}, {"genre": "xx"}], {"genre": "x"}, 2, []),
    ],
)  # fmt: skip
def test_rows_without_the_key_that_where_asks_for_are_counted_and_told(tmp_path, caplog, rows, where, chosen, reported):
    json_rows(tmp_path, *rows)
    made = make_task(tmp_path, "a.jsonl", where=where)
    caplog.set_level(logging.INFO, "heuristic_core")
    result, (count,) = read_rows(made, made.train[0], NLI)
    assert (len(result), count.not_chosen) == (chosen, len(rows) - chosen)
    messages = [message for message in caplog.messages if mentions(message, "where")]
    assert len(messages) == (chosen < len(rows))
    assert all(mentions(message, count, key) for message in messages for count, key in reported)
    assert sum(mentions(message, f"{key!r}") for message in messages for key in where) == len(reported)


@pytest.mark.parametrize("rows", [[{}, {}], [{"genus": "x"}, {}]])
def test_a_key_of_where_that_no_row_has_is_an_error(tmp_path, rows):
    json_rows(tmp_path, *rows)
    made = make_task(tmp_path, "a.jsonl", where={"genre": "x"})
    with pytest.raises(DataError) as caught:
        read_rows(made, made.train[0], NLI)
    assert mentions(str(caught.value), "a.jsonl", "'genre'")
    assert len(preview.find_task_errors(made)) == 2
