"""What a value of a label column means: a name, as text or as a number, an index, or no label; never two of these."""

import json
import math

import pandas as pd
import pytest
from mentions import mentions, raises
from pair_files import dataset, make_task
from task_rows import HANS, HANS_ROWS, NLI, named, pairs

from heuristic_core.data import preview
from heuristic_core.data.files import read_task
from heuristic_core.data.readers import DataError
from heuristic_core.data.rows import read_rows

NAN = math.nan


def codes(folder, labels, values, ending="csv"):
    """The labels of a file with these values, as pandas writes it, as the workflow reads them."""
    path = folder / f"a.{ending}"
    frame = pd.DataFrame({"sentence1": "a", "sentence2": "b", "label": values})
    if ending == "parquet":
        frame.to_parquet(path)
    elif ending == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_csv(path, index=False)
    task = make_task(folder, path.name, labels=labels)
    return [row.label for row in read_rows(task, task.train[0], labels)[0]]


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize(
    ("labels", "values", "meant"),
    [
        (["1", "0"], [1.0, 0.0, NAN], [0, 1, None]),
        (["1", "0"], [1, 0, 1], [0, 1, 0]),
        (["-1", "0", "1"], [-1.0, 0.0, 1.0, NAN], [0, 1, 2, None]),
        (["-1", "0", "1"], [-1, 0, 1], [0, 1, 2]),
        (["1.0", "2.0"], [1, 2], [0, 1]),
        (["2", "1"], [1.0, 2.0], [1, 0]),
        (["1", "2", "3"], [3.0, NAN, 1.0], [2, None, 0]),
        (["01", "02"], [1, 2], [0, 1]),
        (["0.5", "0.0"], [0.5, 0.0], [0, 1]),
        (["1", "0"], [True, False], [0, 1]),
        (["false", "true"], [True, False], [1, 0]),
        (["true", "false"], [True, False, True], [0, 1, 0]),
        (["TRUE", "FALSE"], [True, False], [0, 1]),
        (["true", "false"], ["TRUE", "False"], [0, 1]),
        (["unknown", "True", "False"], [False, True], [2, 1]),
        (["false", "true"], [1, 0], [1, 0]),
        (["False", "True"], [1.0, NAN, 0.0], [1, None, 0]),
        (["10", "20"], [20.0, 10.0], [1, 0]),
        (["10", "20"], [0, 1], [0, 1]),
        (["no", "yes"], [0.0, 1.0, NAN, -1.0], [0, 1, None, None]),
        (["-", "+"], ["+", "-"], [1, 0]),
    ],
)
def test_a_value_that_equals_a_name_is_that_name(tmp_path, ending, labels, values, meant):
    assert codes(tmp_path, labels, values, ending) == meant


@pytest.mark.parametrize(
    ("labels", "value", "quoted"),
    [
        (["1", "2", "3"], 0, "'0'"),
        (["1.0", "2.0"], 0.0, "'0.0'"),
        (["0", "1"], 2.0, "'2.0'"),
        (["1", "01"], 1.0, "'1.0'"),
        (["no", "yes"], True, "'True'"),
        (["no", "yes"], 1.5, "'1.5'"),
        (["no", "yes"], "1_0", "'1_0'"),
        (["no", "yes"], "y\u200bes", "'y\\u200bes'"),
    ],
)
def test_a_value_that_is_neither_is_named_with_its_line(tmp_path, labels, value, quoted):
    with raises(DataError, "a.csv", f"line {3 if isinstance(value, str) else 2}", "label", quoted, labels):
        codes(tmp_path, labels, [labels[0], value] if isinstance(value, str) else [value])


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize(
    ("labels", "values", "place"),
    [
        (["true", "false"], [1, 0], "'false'"),
        (["True", "False"], [0.0, 1.0], "'True'"),
        (["unknown", "true", "false"], [0, 1], "'unknown'"),
        (["no", "TRUE"], [-1, 1], None),
        (["TRUE", "no"], [-1, 1], "'no'"),
    ],
)
def test_numbers_that_may_be_truth_values_or_indices_are_refused(tmp_path, ending, labels, values, place):
    if place is None:
        assert codes(tmp_path, labels, values, ending) == [None, 1]
        return
    with raises(DataError, f"a.{ending}", place) as caught:
        codes(tmp_path, labels, values, ending)
    order = json.loads(str(caught.value).split("`labels: ")[1].split("`")[0])
    assert codes(tmp_path, order, [1], ending) == [1] and order[1].lower() == "true"


def test_what_an_error_of_truth_values_says_to_write_is_read(tmp_path):
    with pytest.raises(DataError, match=r'`labels: \["false", "true"\]`'):
        codes(tmp_path, ["true", "false"], [1, 0, 1])
    assert codes(tmp_path, ["false", "true"], [1, 0, 1]) == [1, 0, 1]
    names = ["true", "false"]
    dataset([("a", "b", 0), ("c", "d", 1)], names).to_parquet(tmp_path / "known.parquet")  # its numbers are indices
    task = make_task(tmp_path, "known.parquet", labels=names)
    assert [row.label for row in read_rows(task, task.train[0], names)[0]] == [0, 1]


def test_numbers_are_indices_where_the_file_itself_has_the_names(tmp_path):
    names = ["1", "0"]
    dataset([("a", "b", 0), ("c", "d", 1)], names).to_parquet(tmp_path / "a.parquet")
    task = make_task(tmp_path, "a.parquet", labels=names)
    assert [row.label for row in read_rows(task, task.train[0], names)[0]] == [0, 1]


def test_a_file_that_has_the_names_itself_mixes_with_files_of_names(task, tmp_path):
    dataset([("a", "b", 2), ("c", "d", 1)], NLI).to_parquet(tmp_path / "known.parquet")
    sentences = {"sentences": ["sentence1", "sentence2"], "file": "known.parquet"}
    result = read_task(task(pairs("entailment", "neutral"), {"dev": ([], {"group": "id", **sentences})}))
    assert named(result.evaluation) == {"a": 2, "c": 1}


MIXED = {
    "training by name": (pairs("neutral", "entailment"), {"dev": (pairs(2, 0), {"group": "id"})}),
    "training by number": (pairs(0, 1), {"dev": (pairs("neutral"), {"group": "id"})}),
    "two evaluation sets": (
        pairs("neutral", "entailment"),
        {"dev": (pairs("neutral"), {"group": "id"}), "hard": (pairs(1.0, None), {"group": "ood"})},
    ),
}


@pytest.mark.parametrize("kind", MIXED)
def test_names_and_numbers_of_one_label_list_are_refused_before_anything_runs(task, kind):
    made = task(*MIXED[kind])
    with raises(DataError, "train.parquet", "row 1", "label", "`labels`", "`merge`"):
        read_task(made)
    (fault,) = preview.find_task_errors(made)
    assert fault.startswith("task.evaluation.") and mentions(fault, "label", "`labels`", "`merge`")


def test_a_list_of_its_own_may_be_given_in_another_way(task):
    made = task(
        pairs("neutral", "entailment"),
        {
            "dev": (pairs(2, 0), {"group": "id", "labels": NLI}),
            "hans": (HANS_ROWS, HANS),
            "more": (pairs("neutral"), {"group": "ood"}),
        },
    )
    assert preview.find_task_errors(made) == [] and len(read_task(made).evaluation) == 7


def test_numbers_that_name_no_last_class_are_doubted(task, caplog):
    made = task(pairs(0, 1, 2), {"hans": (pairs(0, 1), {"group": "ood"}), "dev": (pairs(0, 2), {"group": "id"})})
    assert preview.find_task_errors(made) == []
    (message,) = (message for message in caplog.messages if "`merge`" in message)
    assert mentions(message, "hans.parquet", 0, 1, "'entailment'", "'neutral'")


@pytest.mark.parametrize(
    ("labels", "merge", "doubted"),
    [
        (["entailment", "no"], {"entailment": "no", "neutral": "entailment", "contradiction": "no"}, "'entailment'"),
        (NLI, {"entailment": "entailment", "neutral": "contradiction", "contradiction": "neutral"}, "'neutral'"),
        (["entailment", "no"], {"entailment": "entailment", "neutral": "no", "contradiction": "no"}, None),
        (["yes", "no"], {"entailment": "yes", "neutral": "no", "contradiction": "no"}, None),
    ],
)
def test_a_class_that_counts_as_another_label_although_the_file_has_its_own_is_doubted(
    task, caplog, labels, merge, doubted
):
    rows = pairs(*range(len(labels)))
    made = task(evaluation={"dev": (rows, {"group": "ood", "labels": labels, "merge": merge})})
    assert preview.find_task_errors(made) == []
    doubts = [message for message in caplog.messages if mentions(message, "merge")]
    assert len(doubts) == (doubted is not None) and all(doubted in message for message in doubts)


# ---- rows with keys of their own


def lines(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return make_task(path.parent, path.name)


def row(first="sentence1", second="sentence2", label="label", **more):
    return {first: "a", second: "b", label: "neutral", **more}


@pytest.mark.parametrize(
    ("other", "lacking"),
    [
        (row("premise", "hypothesis"), "'sentence1'"),
        (row("sentence1", "hypothesis", "gold"), "'sentence2'"),
        (row(label="gold"), "'label'"),
        (row(label="label\u200b"), "'label'"),
        ({"version": 2}, "'sentence1'"),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_json_lines_of_another_kind_are_named_before_anything_runs(tmp_path, other, lacking, first):
    rows = [row(), row(), other] if not first else [other, row(), row()]
    made = lines(tmp_path / "a.jsonl", *rows)
    for fault in preview.find_task_errors(made):
        assert mentions(fault, tmp_path / "a.jsonl", f"line {1 if first else 3}", lacking)
    assert len(preview.find_task_errors(made)) == 2  # training and evaluation read it


def test_json_lines_without_a_label_or_not_chosen_may_lack_keys(tmp_path):
    unlabelled = {"sentence1": "a", "sentence2": "b"}
    null = unlabelled | {"label": None, "more": 1}
    made = lines(tmp_path / "a.jsonl", row(id=1), unlabelled, unlabelled | {"id": 2}, null)
    rows = read_rows(made, made.train[0], NLI)[0]
    assert [item.label for item in rows] == [1, None, None, None]
    made = lines(tmp_path / "b.jsonl", row(part="ours"), row("premise", "hypothesis", part="theirs"), {"version": 2})
    spec = made.train[0].model_copy(update={"where": {"part": "ours"}})
    assert len(read_rows(made, spec, NLI)[0]) == 1


@pytest.mark.parametrize(
    ("more", "renamed"),
    [
        (({"note": "to do"}, {"note": "later"}), False),
        (({"note": "neutral"}, {"note": "not neutral"}), False),
        (({"score": 0.5}, {"score": 1}), False),
        (({"votes": ["neutral"]}, {"votes": []}), False),
        (({"note": None}, {"note": ""}), False),
        (({"note": "neutral"}, {"other": "sure"}), True),
        (({"gold": "Entailment "}, {"gold": "-"}), True),
        (({"gold": 0}, {"gold": 2.0}), True),
        (({"gold": "1"}, {"gold": None}), True),
        (({"Label": "e"}, {"Label": "c"}), True),
        (({"note": "sure", "gold": "neutral"}, {"note": "sure", "gold": "contradiction"}), True),
    ],
)
def test_keys_that_labelled_rows_lack_are_a_fault_only_if_one_may_be_the_label(tmp_path, caplog, more, renamed):
    unlabelled = [{"sentence1": "a", "sentence2": "b"} | item for item in more]
    made = lines(tmp_path / "a.jsonl", unlabelled[0], row(), row() | {"label": "entailment"}, unlabelled[1])
    if renamed:
        key = list(more[0])[-1]
        with raises(DataError, "line 1", "'label'", repr(key)):
            read_task(made)
        assert len(preview.find_task_errors(made)) == 2
        return
    result = read_task(made)
    assert [account.reasons["unlabelled"] for account in result.accounts] == [2, 2]
    assert sum(mentions(warning, 2) for warning in result.warnings) == 2
    assert preview.find_task_errors(made) == []


def test_rows_that_are_not_chosen_say_nothing_of_the_label(tmp_path):
    theirs = {"sentence1": "a", "sentence2": "b", "part": "theirs", "gold": "neutral"}
    ours = {"sentence1": "a", "sentence2": "b", "part": "ours", "gold": "to do"}
    made = lines(tmp_path / "a.jsonl", row(part="ours"), theirs, ours)
    read = {}
    for part in ("ours", "ours|theirs"):
        spec = made.train[0].model_copy(update={"where": {"part": part}})
        read[part] = [item.label for item in read_rows(made, spec, NLI)[0]]
    assert read == {"ours": [1, None], "ours|theirs": [1, None, None]}
    with raises(DataError, "'gold'"):
        read_rows(made, made.train[0].model_copy(update={"where": {"gold": "neutral"}}), NLI)


def test_a_long_file_without_labels_at_its_head_is_no_fault(tmp_path, monkeypatch):
    unlabelled = {"sentence1": "a", "sentence2": "b", "pool": 1}
    made = lines(tmp_path / "a.jsonl", unlabelled, row(), row(pool=2))
    monkeypatch.setattr(preview, "PREVIEW_ROWS", 2)
    assert preview.find_task_errors(made) == []
    assert [item.label for item in read_rows(made, made.train[0], NLI)[0]] == [None, 1, 1]
