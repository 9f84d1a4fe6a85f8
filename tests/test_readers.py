"""Every format of files of sentence pairs: rows come back as they were, faults are named with file and line."""

import csv
import gzip
import io
import json
import logging
import sys
import types

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import SHARED
from hypothesis import given
from hypothesis import strategies as st

from heuristic_core.config.tasks import FilesTask, Split
from heuristic_core.tasks.readers import DataError, read_columns
from heuristic_core.tasks.rows import local_paths, read_rows, split_paths

NLI = ["entailment", "neutral", "contradiction"]
HANS = ["entailment", "non-entailment"]
QQP = ["not_duplicate", "duplicate"]
# (labels, rows of two sentences and a label's number): what quoting, other scripts and missing data do to readers.
MADE_UP = [
    ('He said "no, never".', "n/a", 2),
    ("null", 'A "quote that never ends', 0),
    ("  Straße,\u2028naïve 東京 ", "b'not bytes", 1),
    ("It's 5; or 6.", "\\t is no tab", 0),
]


def tsv(path, header, rows):
    lines = ["\t".join(map(str, row)) for row in (header, *rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def glue_mnli(path, rows, labels):
    parses = ["sentence1_binary_parse", "sentence2_binary_parse", "sentence1_parse", "sentence2_parse"]
    header = ["index", "promptID", "pairID", "genre", *parses, "sentence1", "sentence2", "label1", "gold_label"]
    tsv(path, header, [[i, i, f"{i}e", "fiction", *"()()", a, b, "-", labels[y]] for i, (a, b, y) in enumerate(rows)])


def glue_qqp(path, rows, labels):
    header = ["id", "qid1", "qid2", "question1", "question2", "is_duplicate"]
    tsv(path, header, [[i, 2 * i, 2 * i + 1, *row] for i, row in enumerate(rows)])


def hans_txt(path, rows, labels):
    parses = ["sentence1_binary_parse", "sentence2_binary_parse", "sentence1_parse", "sentence2_parse"]
    header = ["gold_label", *parses, "sentence1", "sentence2", "pairID", "heuristic", "subcase", "template"]
    more = ("constituent", "cn_adverb", "temp1")
    tsv(path, header, [[labels[y], *"()()", a, b, f"ex{i}", *more] for i, (a, b, y) in enumerate(rows)])


def paws_tsv(path, rows, labels):
    tsv(path, ["id", "sentence1", "sentence2", "label"], [[i, *row] for i, row in enumerate(rows, 1)])


def paws_qqp_tsv(path, rows, labels):
    paws_tsv(path, [(str(a.encode()), str(b.encode()), y) for a, b, y in rows], labels)


def multinli_jsonl(path, rows, labels):
    lines = [{"sentence1": a, "sentence2": b, "gold_label": labels[y], "annotator_labels": []} for a, b, y in rows]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def plain_csv(path, rows, labels):
    with open(path, "w", newline="", encoding="utf-8-sig") as file:  # as Excel writes it
        csv.writer(file).writerows([("sentence1", "sentence2", "label"), *((a, b, labels[y]) for a, b, y in rows)])


def dataset(rows, labels):
    from datasets import ClassLabel, Dataset, Features, Value

    features = Features({"sentence1": Value("string"), "sentence2": Value("string"), "label": ClassLabel(names=labels)})
    return Dataset.from_list([dict(zip(features, row, strict=True)) for row in rows], features)


def saved(path, rows, labels):
    dataset(rows, labels).save_to_disk(path)


def paws_qqp_saved(path, rows, labels):
    saved(path, [(str(a.encode()), str(b.encode()), y) for a, b, y in rows], labels)


def paws_qqp_parquet(path, rows, labels):
    class_label_parquet(path, [(str(a.encode()), str(b.encode()), y) for a, b, y in rows], labels)


def saved_dict(path, rows, labels):
    from datasets import DatasetDict

    assert path.name == "dev"
    DatasetDict({"train": dataset(rows[:1], labels), "dev": dataset(rows, labels)}).save_to_disk(path.parent)


def class_label_parquet(path, rows, labels):
    dataset(rows, labels).to_parquet(path)


SENTENCES, QUESTIONS = ["sentence1", "sentence2"], ["question1", "question2"]
# Name -> (writer, file, columns of the sentences, column of the label).
FORMATS = {
    "glue-mnli": (glue_mnli, "dev_matched.tsv", SENTENCES, "gold_label"),
    "glue-qqp": (glue_qqp, "dev.tsv", QUESTIONS, "is_duplicate"),
    "hans": (hans_txt, "heuristics_evaluation_set.txt", SENTENCES, "gold_label"),
    "paws": (paws_tsv, "dev_and_test.tsv", SENTENCES, "label"),
    "paws-qqp": (paws_qqp_tsv, "dev_and_test.tsv", SENTENCES, "label"),
    "paws-qqp-saved": (paws_qqp_saved, "paws", SENTENCES, "label"),
    "paws-qqp-parquet": (paws_qqp_parquet, "paws.parquet", SENTENCES, "label"),
    "multinli": (multinli_jsonl, "multinli_1.0_dev_matched.jsonl", SENTENCES, "gold_label"),
    "csv": (plain_csv, "dev.csv", SENTENCES, "label"),
    "saved": (saved, "folder", SENTENCES, "label"),
    "saved-split": (saved_dict, "folder/dev", SENTENCES, "label"),
    "parquet": (class_label_parquet, "dev-00000.parquet", SENTENCES, "label"),
}


def task_of(folder, file, sentences=SENTENCES, label="label", labels=NLI, **more):
    split = {"file": file, "sentences": sentences, "label": label, **more}
    return FilesTask.model_validate(
        {
            "name": "t",
            "source": "files",
            "folder": str(folder),
            "labels": labels,
            "train": [split],
            "evaluation": {"dev": {**split, "group": "id"}},
        }
    )


def read(folder, file, sentences=SENTENCES, label="label", labels=NLI, **more):
    """(first, second, label's number) of each row of a split, as the workflow reads it."""
    task = task_of(folder, file, sentences, label, labels, **more)
    return [(*row.sentences, row.label) for row in read_rows(task, task.train[0], labels)[0]]


@pytest.mark.parametrize("name", FORMATS)
def test_rows_come_back_as_they_were(tmp_path, name):
    write, file, *columns = FORMATS[name]
    write(tmp_path / file, MADE_UP, NLI)
    assert read(tmp_path, file, *columns) == MADE_UP


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
    assert read(tmp_path, file, *columns, labels) == rows


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
    assert read(tmp_path, f"{file}.gz", *columns) == MADE_UP


def test_a_given_format_overrides_the_ending(tmp_path):
    paws_tsv(tmp_path / "pairs.csv", MADE_UP, NLI)
    assert read(tmp_path, "pairs.csv", format="tsv") == MADE_UP


def test_several_files_alike_are_read_in_the_order_of_their_names(tmp_path):
    for name, row in zip(("b", "c", "a"), MADE_UP, strict=False):
        plain_csv(tmp_path / f"part-{name}.csv", [row], NLI)
    plain_csv(tmp_path / "other.csv", MADE_UP, NLI)
    assert read(tmp_path, "part-*.csv") == [MADE_UP[i] for i in (2, 0, 1)]
    task = task_of(tmp_path, "part-*.csv")
    assert local_paths(task) == [str(tmp_path / f"part-{name}.csv") for name in "abc"]


def test_a_saved_data_set_is_its_files(tmp_path):
    for name in ("b.arrow", "inner/a.json", ".hidden"):
        (tmp_path / "saved" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "saved" / name).touch()
    assert local_paths(task_of(tmp_path, "saved")) == [
        f"{tmp_path}/saved/{name}" for name in ("b.arrow", "inner/a.json")
    ]


def test_brackets_in_a_files_name_stand_for_themselves(tmp_path):
    plain_csv(tmp_path / "part[1].csv", MADE_UP, NLI)
    assert read(tmp_path, "part[1].csv") == read(tmp_path, "*[1].csv") == MADE_UP


def test_bytes_literals_are_read_as_text_only_where_all_are_such(tmp_path, caplog):
    rows = [["b'caf\\xc3\\xa9'", "b'a'"], ['b"it\'s"', "a"]]
    tsv(tmp_path / "a.tsv", ["x", "y"], rows)
    with caplog.at_level(logging.INFO, "heuristic_core"):
        found = read_columns(tmp_path / "a.tsv", None, ["x", "y"]).values
    assert found == {"x": ["café", "it's"], "y": ["b'a'", "a"]}
    (message,) = caplog.messages
    assert message.startswith(f"{tmp_path}/a.tsv: the values of x are bytes literals")


@pytest.mark.parametrize("value", ["b'a' + b'b'", "b'\\xff'", "b'é'", "b'a", "b'a', 'b'"])
def test_what_is_no_bytes_literal_of_utf8_stays(tmp_path, value):
    tsv(tmp_path / "a.tsv", ["x", "y"], [[value, "1"]])
    assert read_columns(tmp_path / "a.tsv", None, ["x"]).values == {"x": [value]}


def test_hub_splits_are_read_from_the_cache(tmp_path, monkeypatch):
    plain_csv(tmp_path / "dev.csv", MADE_UP, NLI)
    asked = []

    def cached_files(repository, revision, patterns, kind):
        asked.append((repository, revision, patterns, kind))
        return [tmp_path / "dev.csv"]

    monkeypatch.setitem(sys.modules, "heuristic_core.sources.hub", types.SimpleNamespace(cached_files=cached_files))
    commit = "0" * 40
    assert read(tmp_path / "elsewhere", "data/dev*.csv", hub="owner/pairs", revision=commit) == MADE_UP
    assert asked == [("owner/pairs", commit, ["data/dev*.csv"], "dataset")]
    task = task_of(tmp_path, "data/dev*.csv", hub="owner/pairs", revision=commit)
    assert task.train[0].source == "owner/pairs/data/dev*.csv"
    assert local_paths(task) == []


# ---- faults


def fails(path, *parts, needed=("x",), format=None):
    with pytest.raises(DataError) as caught:
        read_columns(path, format, needed)
    assert [part for part in (str(path), *parts) if part not in str(caught.value)] == [], str(caught.value)


def test_torn_lines_of_a_large_tsv_are_dropped_and_counted(tmp_path, caplog):
    tsv(tmp_path / "a.tsv", ["x", "y"], [[i, i] if i != 5 else ["half a question"] for i in range(1000)])
    found = read_columns(tmp_path / "a.tsv", None, ["x"])
    assert (found.values["x"], found.torn) == ([str(i) for i in range(1000) if i != 5], 1)
    assert caplog.messages == [f"{tmp_path}/a.tsv: dropped 1 torn lines, the first is 7"]


@pytest.mark.parametrize("row", [["one"], ["one", "two", "three"]])
def test_ragged_lines_are_named(tmp_path, row):
    rows = [["1", "2"], row, ["3", "4"]]
    tsv(tmp_path / "a.tsv", ["x", "y"], rows)
    fails(tmp_path / "a.tsv", f"line 3 has {len(row)} fields, but the header has 2", "1 of 3 rows")
    text = io.StringIO()
    csv.writer(text).writerows([["x", "y"], ["1", "with\na break"], *rows[1:]])
    (tmp_path / "a.csv").write_text(text.getvalue())
    fails(tmp_path / "a.csv", f"line 4 has {len(row)} fields, but the header has 2", "double quotes")


def test_files_that_are_not_what_they_seem_are_named(tmp_path):
    (tmp_path / "a.json").write_text("{}")
    fails(tmp_path / "a.json", "'.json' is none of .parquet, .csv", "format")
    (tmp_path / "a.parquet").write_text("x,y\n1,2\n")
    fails(tmp_path / "a.parquet", "cannot be read as parquet")
    (tmp_path / "a.csv").write_bytes("x,y\nnaïve,1\n".encode("latin-1"))
    fails(tmp_path / "a.csv", "not UTF-8 text")
    (tmp_path / "b.csv").write_text('x,y\n"open,1\n')
    fails(tmp_path / "b.csv", "cannot be read as csv: unexpected end of data")
    (tmp_path / "empty.tsv").write_text("")
    fails(tmp_path / "empty.tsv", "empty; its first line must name the columns")
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"x,y\n1,2\n")[:-9])
    fails(tmp_path / "a.csv.gz", "cannot be read as csv")
    (tmp_path / "b.csv.gz").write_text("x,y\n1,2\n")
    fails(tmp_path / "b.csv.gz", "cannot be read as csv", "gzip")
    (tmp_path / "a.jsonl").write_text('{"x": 1}\n{"x": \n')
    fails(tmp_path / "a.jsonl", "line 2 is not JSON")
    (tmp_path / "b.jsonl").write_text('{"x": 1}\n\n[1]\n')
    fails(tmp_path / "b.jsonl", "line 3 is not a JSON object")
    (tmp_path / "folder").mkdir()
    fails(tmp_path / "folder", "cannot be read as saved")
    saved(tmp_path / "torn", MADE_UP, NLI)
    (arrow,) = (tmp_path / "torn").glob("*.arrow")
    arrow.write_bytes(arrow.read_bytes()[:100])
    fails(tmp_path / "torn", "cannot be read as saved")
    fails(tmp_path / "absent.csv", "cannot be read as csv", "No such file")


def test_a_saved_data_set_of_several_splits_asks_for_one(tmp_path):
    saved_dict(tmp_path / "folder" / "dev", MADE_UP, NLI)
    fails(tmp_path / "folder", "folder/train, folder/dev")


@pytest.mark.parametrize("name", FORMATS)
def test_a_missing_column_is_named_in_every_format(tmp_path, name):
    write, file, (first, _), label = FORMATS[name]
    write(tmp_path / file, MADE_UP, NLI)
    fails(tmp_path / file, "no column 'premise'; it has ", first, label, needed=("premise",))


def test_no_matching_file_is_named(tmp_path):
    plain_csv(tmp_path / "dev.csv", MADE_UP, NLI)
    task = task_of(tmp_path, "train*.csv")
    with pytest.raises(DataError, match=r"train\*\.csv: no such file; task.folder = "):
        split_paths(task, task.train[0])


@pytest.mark.parametrize("file", ["/data/dev.csv", "~/dev.csv", ""])
def test_a_file_outside_the_folder_is_refused(file):
    with pytest.raises(ValueError, match="no path inside a folder"):
        Split(file=file, sentences=SENTENCES)


@pytest.mark.parametrize("name", ["saved", "parquet"])
def test_label_names_that_the_file_knows_must_be_the_declared_ones(tmp_path, name):
    write, file, *columns = FORMATS[name]
    write(tmp_path / file, MADE_UP, NLI)
    swapped = ["entailment", "contradiction", "neutral"]
    with pytest.raises(DataError) as caught:
        read(tmp_path, file, *columns, labels=swapped)
    assert str(NLI) in str(caught.value) and str(swapped) in str(caught.value) and file in str(caught.value)
    assert read(tmp_path, file, *columns, labels=NLI) == MADE_UP


@pytest.mark.parametrize("apart", [False, True], ids=["one file", "two files"])
def test_labels_by_name_and_by_number_in_one_entry_are_refused(tmp_path, apart):
    rows = [("a", "b", "neutral"), ("c", "d", "0")]
    for name, part in {"1": rows[:1], "2": rows[1:]}.items() if apart else {"1": rows}.items():
        tsv(tmp_path / f"{name}.tsv", [*SENTENCES, "label"], part)
    with pytest.raises(DataError) as caught:
        read(tmp_path, "*.tsv")
    message = str(caught.value)
    assert "label = 'neutral' is a label's name" in message and "label = '0' a number" in message
    assert f"{2 if apart else 1}.tsv: label = '0'" in message


def test_numbers_that_are_names_of_labels_are_names(tmp_path):
    tsv(tmp_path / "a.tsv", [*SENTENCES, "label"], [("a", "b", "1"), ("c", "d", "0")])
    assert [label for *_, label in read(tmp_path, "a.tsv", labels=["1", "0"])] == [0, 1]


def test_sentences_that_are_no_text_are_named(tmp_path):
    rows = [{"sentence1": "a", "sentence2": 1, "label": 0}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    with pytest.raises(DataError, match=r"a\.parquet: row 1: sentence2 = 1 is not text"):
        read(tmp_path, "a.parquet")
