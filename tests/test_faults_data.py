"""Data as bad as they come: rows or one message that names what is wrong, nothing else."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from amounts import amount
from damaged_bytes import damaged
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pair_files import make_task

from heuristic_core.common.errors import InputError
from heuristic_core.data.counts import count_rows
from heuristic_core.data.sentences import load_sentences
from heuristic_core.tables.parquet import as_table

ROWS = [{"sentence1": f"a {i}", "sentence2": f"b, {i}", "label": i % 3, "group": "x/y"} for i in range(9)]


def write_content(kind: str) -> bytes:
    lines = [[*ROWS[0]], *(list(map(str, row.values())) for row in ROWS)]
    if kind == "tsv":
        return "\n".join("\t".join(line) for line in lines).encode()
    if kind == "csv":
        return "\n".join(",".join(f'"{field}"' for field in line) for line in lines).encode()
    if kind == "jsonl":
        return "\n".join(json.dumps(row) for row in ROWS).encode()
    sink = pa.BufferOutputStream()
    features = {"label": {"names": ["entailment", "neutral", "contradiction"], "_type": "ClassLabel"}}
    about = {"huggingface": json.dumps({"info": {"features": features}})}
    pq.write_table(pa.Table.from_pylist(ROWS).replace_schema_metadata(about), sink)
    return sink.getvalue().to_pybytes()


KINDS = ("tsv", "csv", "jsonl", "parquet")
CONTENTS = {kind: write_content(kind) for kind in KINDS} | {"csv.gz": gzip.compress(write_content("csv"))}


def check_data(folder: Path, name: str) -> bool:
    """Data become the tables of the study (True), or one message that names the file or the task's key (False)."""
    task = make_task(folder, name)
    try:
        pairs = load_sentences(task)
        for part in (pairs.train, pairs.evaluation):
            as_table("sentences", part)
        count_rows(pairs)
    except InputError as error:
        assert name in str(error) or "task." in str(error)
        return False
    return True


@pytest.mark.parametrize("kind", CONTENTS)
def test_whole_files_are_read(tmp_path, kind):
    (tmp_path / f"data.{kind}").write_bytes(CONTENTS[kind])
    assert check_data(tmp_path, f"data.{kind}")


@pytest.mark.sampled
@pytest.mark.parametrize("kind", CONTENTS)
def test_any_damaged_data_file_is_read_or_refused(tmp_path, kind):
    @settings(max_examples=amount(100), deadline=None, derandomize=True)
    @given(content=damaged([CONTENTS[kind]]))
    def run(content):
        (tmp_path / f"data.{kind}").write_bytes(content)
        check_data(tmp_path, f"data.{kind}")

    run()


VALUE = st.sampled_from(
    [
        "a",
        "",
        " ",
        "\0",
        "\ud800",
        "\u2028",
        -1,
        2,
        0.5,
        1e400,
        10**300,
        None,
        True,
        [],
        [["a"]],
        {"a": []},
        "nan",
        "-",
        "0",
    ]
)


@pytest.mark.sampled
@settings(max_examples=amount(150), deadline=None, derandomize=True)
@given(st.lists(st.dictionaries(st.sampled_from(["sentence1", "sentence2", "label", "template"]), VALUE), max_size=6))
@example([{"sentence1": "\ud800", "sentence2": "b", "label": 0}])
@example([{"sentence1": "a", "sentence2": "b", "label": 0, "template": "\ud800"}])
@example([{"sentence1": "a", "sentence2": "b", "label": "\ud800"}])
def test_any_values_in_json_lines_are_read_or_refused(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("rows")
    (folder / "data.jsonl").write_text("\n".join(json.dumps(row) for row in [*ROWS, *rows]))
    check_data(folder, "data.jsonl")


def test_json_without_end_is_refused(tmp_path):
    (tmp_path / "data.jsonl").write_text("[" * 100_000)
    assert not check_data(tmp_path, "data.jsonl")


COLUMN = {
    "text": pa.array(["a", "b"]),
    "binary": pa.array([b"a", b"\xff"]),
    "number": pa.array([0.0, float("inf")]),
    "wide": pa.array([2**63 - 1, None]),
    "late": pa.array([2**60, 0], pa.timestamp("ms")),
    "nested": pa.array([{"a": [1]}, None]),
    "map": pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int64())),
    "null": pa.nulls(2),
    "dictionary": pa.array(["a", "b"]).dictionary_encode(),
    "label": pa.array([0, 1]),
}
FEATURES = [{}, [], None, 3, {"info": []}, {"info": {"features": []}}, {"info": {"features": {"label": 3}}}]
FEATURES += [{"info": {"features": {"label": {"_type": "ClassLabel"}}}}, {"info": {"features": None}}]


@pytest.mark.sampled
@settings(max_examples=amount(150), deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.sampled_from(["sentence1", "sentence2", "label", "template"]), st.sampled_from([*COLUMN]))),
    st.sampled_from([None, b"\xff", b"{", *(json.dumps(value).encode() for value in FEATURES)]),
)
@example([("sentence1", "text"), ("sentence2", "text"), ("label", "label"), ("label", "label")], None)
@example([("sentence1", "late"), ("sentence2", "text"), ("label", "label")], None)
@example([("sentence1", "text"), ("sentence2", "text"), ("label", "label")], json.dumps(FEATURES[-1]).encode())
def test_any_columns_of_a_parquet_file_are_read_or_refused(tmp_path_factory, columns, about):
    folder = tmp_path_factory.mktemp("columns")
    table = pa.table([COLUMN[kind] for _, kind in columns], names=[name for name, _ in columns])
    table = table.replace_schema_metadata({b"huggingface": about} if about else None)
    pq.write_table(table, folder / "data.parquet")
    check_data(folder, "data.parquet")


@pytest.mark.sampled
def test_a_saved_data_set_that_is_damaged_is_read_or_refused(tmp_path):
    from datasets import Dataset

    Dataset.from_list(ROWS).save_to_disk(tmp_path / "data")
    assert check_data(tmp_path, "data")
    whole = {path: path.read_bytes() for path in (tmp_path / "data").iterdir()}

    @settings(max_examples=amount(60), deadline=None, derandomize=True)
    @given(st.sampled_from(sorted(whole)), st.data())
    def run(path, data):
        for each, content in whole.items():
            each.write_bytes(content)
        path.write_bytes(data.draw(damaged([whole[path]])))
        check_data(tmp_path, "data")

    run()
