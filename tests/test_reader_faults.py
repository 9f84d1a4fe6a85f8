"""Faults in files of sentence pairs of every format are named with file, line, column and value."""

import csv
import gzip
import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from mentions import mentions, raises
from pair_files import (
    FORMATS,
    MADE_UP,
    NLI,
    SENTENCES,
    make_task,
    plain_csv,
    read_pairs,
    save_dataset,
    save_dataset_dict,
    tsv,
)

from heuristic_core.config.splits import Split
from heuristic_core.data.readers import DataError, read_columns
from heuristic_core.data.split_files import find_split_paths


def fails(path, *tokens, needed=("x",), format=None):
    with raises(DataError, path, *tokens):
        read_columns(path, format, needed)


def test_torn_lines_of_a_large_tsv_are_dropped_and_counted(tmp_path, caplog):
    tsv(tmp_path / "a.tsv", ["x", "y"], [[i, i] if i != 5 else ["half a question"] for i in range(1000)])
    result = read_columns(tmp_path / "a.tsv", None, ["x"])
    assert (result.values["x"], result.torn) == ([str(i) for i in range(1000) if i != 5], 1)
    (message,) = caplog.messages
    assert mentions(message, tmp_path / "a.tsv", 1, 7)


@pytest.mark.parametrize("row", [["one"], ["one", "two", "three"]])
def test_ragged_lines_are_named(tmp_path, row):
    rows = [["1", "2"], row, ["3", "4"]]
    tsv(tmp_path / "a.tsv", ["x", "y"], rows)
    fails(tmp_path / "a.tsv", "line 3", len(row), 2, 1, 3)  # 1 of 3 rows
    text = io.StringIO()
    csv.writer(text).writerows([["x", "y"], ["1", "with\na break"], *rows[1:]])
    (tmp_path / "a.csv").write_text(text.getvalue())
    fails(tmp_path / "a.csv", "line 4", len(row), 2)


def test_files_that_are_not_what_they_seem_are_named(tmp_path):
    (tmp_path / "a.json").write_text("{}")
    fails(tmp_path / "a.json", "'.json'", ".parquet", ".csv", "format")
    (tmp_path / "a.parquet").write_text("x,y\n1,2\n")
    fails(tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_bytes("x,y\nnaïve,1\n".encode("latin-1"))
    fails(tmp_path / "a.csv", "UTF-8")
    (tmp_path / "b.csv").write_text('x,y\n"open,1\n')
    fails(tmp_path / "b.csv", "line 2", "'\"open,1'", "`quoting: none`")
    (tmp_path / "empty.tsv").write_text("")
    fails(tmp_path / "empty.tsv")
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"x,y\n1,2\n")[:-9])
    fails(tmp_path / "a.csv.gz")
    (tmp_path / "b.csv.gz").write_text("x,y\n1,2\n")
    fails(tmp_path / "b.csv.gz")
    (tmp_path / "a.jsonl").write_text('{"x": 1}\n{"x": \n')
    fails(tmp_path / "a.jsonl", "line 2", "JSON")
    (tmp_path / "b.jsonl").write_text('{"x": 1}\n\n[1]\n')
    fails(tmp_path / "b.jsonl", "line 3", "JSON")
    (tmp_path / "folder").mkdir()
    fails(tmp_path / "folder", "saved")
    save_dataset(tmp_path / "torn", MADE_UP, NLI)
    (arrow,) = (tmp_path / "torn").glob("*.arrow")
    arrow.write_bytes(arrow.read_bytes()[:100])
    fails(tmp_path / "torn", "saved")
    fails(tmp_path / "absent.csv")


def test_a_saved_data_set_of_several_splits_asks_for_one(tmp_path):
    save_dataset_dict(tmp_path / "folder" / "dev", MADE_UP, NLI)
    fails(tmp_path / "folder", "folder/train", "folder/dev")


@pytest.mark.parametrize("name", FORMATS)
def test_a_missing_column_is_named_in_every_format(tmp_path, name):
    write, file, (first, _), label = FORMATS[name]
    write(tmp_path / file, MADE_UP, NLI)
    fails(tmp_path / file, "'premise'", first, label, needed=("premise",))


def test_no_matching_file_is_named(tmp_path):
    plain_csv(tmp_path / "dev.csv", MADE_UP, NLI)
    task = make_task(tmp_path, "train*.csv")
    with raises(DataError, "train*.csv", "task.folder"):
        find_split_paths(task, task.train[0])


@pytest.mark.parametrize("file", ["/data/dev.csv", "~/dev.csv", ""])
def test_a_file_outside_the_folder_is_refused(file):
    with raises(ValueError, "file", repr(file)):
        Split(file=file, sentences=SENTENCES)


@pytest.mark.parametrize("name", ["saved", "parquet"])
def test_label_names_that_the_file_knows_must_be_the_declared_ones(tmp_path, name):
    write, file, *columns = FORMATS[name]
    write(tmp_path / file, MADE_UP, NLI)
    swapped = ["entailment", "contradiction", "neutral"]
    with pytest.raises(DataError) as caught:
        read_pairs(tmp_path, file, *columns, labels=swapped)
    assert str(NLI) in str(caught.value) and str(swapped) in str(caught.value) and file in str(caught.value)
    assert read_pairs(tmp_path, file, *columns, labels=NLI) == MADE_UP


@pytest.mark.parametrize("apart", [False, True], ids=["one file", "two files"])
def test_labels_by_name_and_by_number_in_one_entry_are_refused(tmp_path, apart):
    rows = [("a", "b", "neutral"), ("c", "d", "0")]
    for name, part in {"1": rows[:1], "2": rows[1:]}.items() if apart else {"1": rows}.items():
        tsv(tmp_path / f"{name}.tsv", [*SENTENCES, "label"], part)
    file, line = ("2.tsv", 2) if apart else ("1.tsv", 3)
    with raises(DataError, "label", "'neutral'", "'0'", file, f"line {line}"):
        read_pairs(tmp_path, "*.tsv")


def test_sentences_that_are_no_text_are_named(tmp_path):
    rows = [{"sentence1": "a", "sentence2": 1, "label": 0}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    with raises(DataError, "a.parquet", "row 1", "sentence2", 1):
        read_pairs(tmp_path, "a.parquet")
