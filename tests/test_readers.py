"""Every format of files of sentence pairs: rows come back as they were."""

import csv
import gzip
import json
import logging
import sys
import types

import pyarrow.parquet as pq
import pytest
from conftest import SHARED
from hypothesis import given
from hypothesis import strategies as st
from mentions import mentions
from pair_files import FORMATS, HANS, MADE_UP, NLI, QQP, SENTENCES, make_task, paws_tsv, plain_csv, read_pairs, tsv

from heuristic_core.data.readers import read_columns
from heuristic_core.data.split_files import find_local_paths


@pytest.mark.parametrize("name", FORMATS)
def test_rows_come_back_as_they_were(tmp_path, name):
    write, file, *columns = FORMATS[name]
    write(tmp_path / file, MADE_UP, NLI)
    assert read_pairs(tmp_path, file, *columns) == MADE_UP


REAL = {
    "mnli": ("mnli_dev_matched", ["premise", "hypothesis"], NLI),
    "hans": ("hans_validation", ["premise", "hypothesis"], HANS),
    "qqp": ("qqp_dev", ["question1", "question2"], QQP),
    "paws": ("paws_qqp", ["question1", "question2"], QQP),
}


@pytest.mark.skipif(not (SHARED / "data").is_dir(), reason="needs the real data files in ../shared/data")
@pytest.mark.parametrize("data", REAL)
@pytest.mark.parametrize("name", FORMATS)
def test_real_rows_come_back_as_they_were(tmp_path, data, name):
    stem, columns, labels = REAL[data]
    table = pq.read_table(SHARED / "data" / f"{stem}.parquet", columns=[*columns, "label"])[::10]
    values = zip(*table.to_pydict().values(), strict=True)
    rows = [(a, b, labels.index(y) if isinstance(y, str) else y) for a, b, y in values]
    assert len(rows) > 700
    write, file, *columns = FORMATS[name]
    write(tmp_path / file, rows, labels)
    assert read_pairs(tmp_path, file, *columns, labels) == rows


LINE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\t\r\n"), min_size=1)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


@given(st.lists(LINE, min_size=1))
def test_any_line_is_a_field_of_a_tsv(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("tsv") / "a.tsv"
    tsv(path, ["x", "y"], [("y", value) for value in values])
    assert read_columns(path, None, ["y"]).values == {"y": values}


@given(st.lists(TEXT, min_size=1))
def test_any_text_is_a_field_of_a_csv_a_jsonl_and_inside_bytes_literals(tmp_path_factory, values):
    folder = tmp_path_factory.mktemp("text")
    with open(folder / "a.csv", "w", newline="", encoding="utf-8") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["x"], *([value] for value in values)])
    text = "".join(json.dumps({"x": value}, ensure_ascii=False) + "\n" for value in values)
    (folder / "a.jsonl").write_text(text, encoding="utf-8", newline="\n")
    tsv(folder / "a.tsv", ["x", "y"], [(str(value.encode()), "-") for value in values])
    for ending in ("csv", "jsonl", "tsv"):
        assert read_columns(folder / f"a.{ending}", None, ["x"]).values == {"x": values}


@pytest.mark.parametrize("name", ["glue-qqp", "multinli", "csv"])
def test_compressed_files_are_read(tmp_path, name):
    write, file, *columns = FORMATS[name]
    write(tmp_path / file, MADE_UP, NLI)
    (tmp_path / f"{file}.gz").write_bytes(gzip.compress((tmp_path / file).read_bytes()))
    assert read_pairs(tmp_path, f"{file}.gz", *columns) == MADE_UP


def test_a_given_format_overrides_the_ending(tmp_path):
    paws_tsv(tmp_path / "pairs.csv", MADE_UP, NLI)
    assert read_pairs(tmp_path, "pairs.csv", format="tsv") == MADE_UP


def test_several_files_alike_are_read_in_the_order_of_their_names(tmp_path):
    for name, row in zip(("b", "c", "a"), MADE_UP, strict=False):
        plain_csv(tmp_path / f"part-{name}.csv", [row], NLI)
    plain_csv(tmp_path / "other.csv", MADE_UP, NLI)
    assert read_pairs(tmp_path, "part-*.csv") == [MADE_UP[i] for i in (2, 0, 1)]
    task = make_task(tmp_path, "part-*.csv")
    assert find_local_paths(task) == [str(tmp_path / f"part-{name}.csv") for name in "abc"]


def test_a_saved_data_set_is_its_files(tmp_path):
    for name in ("b.arrow", "inner/a.json", ".hidden"):
        (tmp_path / "saved" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "saved" / name).touch()
    assert find_local_paths(make_task(tmp_path, "saved")) == [
        f"{tmp_path}/saved/{name}" for name in ("b.arrow", "inner/a.json")
    ]


def test_brackets_in_a_files_name_stand_for_themselves(tmp_path):
    plain_csv(tmp_path / "part[1].csv", MADE_UP, NLI)
    assert read_pairs(tmp_path, "part[1].csv") == read_pairs(tmp_path, "*[1].csv") == MADE_UP


def test_bytes_literals_are_read_as_text_only_where_all_are_such(tmp_path, caplog):
    rows = [["b'caf\\xc3\\xa9'", "b'a'"], ['b"it\'s"', "a"]]
    tsv(tmp_path / "a.tsv", ["x", "y"], rows)
    with caplog.at_level(logging.INFO, "heuristic_core"):
        result = read_columns(tmp_path / "a.tsv", None, ["x", "y"]).values
    assert result == {"x": ["café", "it's"], "y": ["b'a'", "a"]}
    (message,) = caplog.messages
    assert mentions(message, tmp_path / "a.tsv", "x")


@pytest.mark.parametrize("value", ["b'a' + b'b'", "b'\\xff'", "b'é'", "b'a", "b'a', 'b'"])
def test_what_is_no_bytes_literal_of_utf8_stays(tmp_path, value):
    tsv(tmp_path / "a.tsv", ["x", "y"], [[value, "1"]])
    assert read_columns(tmp_path / "a.tsv", None, ["x"]).values == {"x": [value]}


def test_hub_splits_are_read_from_the_cache(tmp_path, monkeypatch):
    plain_csv(tmp_path / "dev.csv", MADE_UP, NLI)
    requests = []

    def find_cached_files(repository, revision, patterns, kind):
        requests.append((repository, revision, patterns, kind))
        return [tmp_path / "dev.csv"]

    monkeypatch.setitem(
        sys.modules, "heuristic_core.data.hub", types.SimpleNamespace(find_cached_files=find_cached_files)
    )
    commit = "0" * 40
    assert read_pairs(tmp_path / "elsewhere", "data/dev*.csv", hub="owner/pairs", revision=commit) == MADE_UP
    assert requests == [("owner/pairs", commit, ["data/dev*.csv"], "dataset")]
    task = make_task(tmp_path, "data/dev*.csv", hub="owner/pairs", revision=commit)
    assert task.train[0].source == "owner/pairs/data/dev*.csv"
    assert find_local_paths(task) == []


def test_numbers_that_are_names_of_labels_are_names(tmp_path):
    tsv(tmp_path / "a.tsv", [*SENTENCES, "label"], [("a", "b", "1"), ("c", "d", "0")])
    assert [label for *_, label in read_pairs(tmp_path, "a.tsv", labels=["1", "0"])] == [0, 1]
