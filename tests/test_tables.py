"""Tables have the columns their schema names, are written whole or not at all, and say what their columns mean."""

import math

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from mentions import raises

from heuristic_core.common import atomic
from heuristic_core.experiments.subnetworks.tables.schemas import SCHEMAS
from heuristic_core.tables import parquet
from heuristic_core.tables.parquet import (
    as_frame,
    as_table,
    concatenate,
    read_rows,
    read_table,
    write_joined,
    write_table,
)
from heuristic_core.tables.schemas import get_schema

ROW = {
    "subset": "ln_prep",
    "group": "ood",
    "family": "lexical_overlap",
    "template": None,
    "sentence1": "judges near poets saw kings",
    "sentence2": "poets saw kings",
    "target_start": None,
    "target_end": None,
    "label": 1,
}
ROWS = [ROW, ROW | {"family": None, "label": None}, ROW | {"label": 0, "sentence2": "é"}]
WITHOUT = {name: value for name, value in ROW.items() if name != "label"}
SETS = [
    {
        "study": "s",
        "model": "m",
        "task": "t",
        "ft_seed": 1,
        "step": 9,
        "kind": "mean",
        "ablation": a,
        "role": r,
        "heads": h,
        "layers": m,
    }
    for a, r, h, m in [("none", "none", [], None), ("0.1+1.2", "pair", [1, 14], "0+1"), ("c", "control", [2], "0")]
]


def columns(rows):
    return {name: [row[name] for row in rows] for name in rows[0]}


KINDS = {
    "rows": list,
    "columns": columns,
    "frame": lambda rows: pd.DataFrame(rows).astype({"label": "Int32"}),
    "arrow": lambda rows: as_table("sentences", rows),
    "two chunks": lambda rows: pa.concat_tables([as_table("sentences", rows[:1]), as_table("sentences", rows[1:])]),
    "columns in another order": lambda rows: dict(reversed(columns(rows).items())),
}


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_rows_of_any_kind_come_back_with_their_nulls(tmp_path, kind):
    write_table("sentences", kind(ROWS), tmp_path / "a.parquet")
    assert read_rows(tmp_path / "a.parquet") == ROWS
    assert pq.read_schema(tmp_path / "a.parquet").equals(get_schema("sentences"))


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_same_rows_give_the_same_bytes(tmp_path, kind):
    write_table("sentences", ROWS, tmp_path / "a.parquet")
    write_table("sentences", kind(ROWS), tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    write_table("sentences", kind([ROW]), tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() != (tmp_path / "b.parquet").read_bytes()


FAULTY = {
    "missing": [WITHOUT],
    "unknown": [ROW | {"labels": 1}],
    "both": [WITHOUT | {"labels": 1}],
    "missing in a later row": [ROW, WITHOUT],
    "missing in the first row": [WITHOUT, ROW],
    "unknown in a later row": [ROW, ROW | {"labels": 1}],
}


@pytest.mark.parametrize("rows", FAULTY.values(), ids=FAULTY)
def test_a_missing_or_unknown_column_is_refused(rows):
    with raises(ValueError, "sentences"):
        as_table("sentences", rows)


@pytest.mark.parametrize("kind", [columns, pd.DataFrame, pa.Table.from_pylist], ids=["columns", "frame", "arrow"])
@pytest.mark.parametrize("row", [WITHOUT, ROW | {"labels": 1}], ids=["missing", "unknown"])
def test_it_is_refused_in_every_kind_of_rows(kind, row):
    with raises(ValueError, "sentences"):
        as_table("sentences", kind([row]))


@pytest.mark.parametrize("value", ["one", 0.5, 2**31])
def test_a_value_that_its_column_cannot_hold_is_refused(value):
    with pytest.raises(ValueError):
        as_table("sentences", [ROW | {"label": value}])


def test_a_missing_number_of_a_frame_is_a_null(tmp_path):
    row = {"study": "s", "model": "m", "task": "t", "ft_seed": 1, "step": 9, "seeds": "shared", "n": 3}
    row |= {"rho": math.nan, "low": 0.1, "high": math.nan}
    write_table("rank_correlation", pd.DataFrame([row, row | {"rho": 0.25}]), tmp_path / "a.parquet")
    assert read_rows(tmp_path / "a.parquet") == [row | {"rho": None, "high": None}, row | {"rho": 0.25, "high": None}]


def test_no_rows_are_an_empty_table():
    for name in SCHEMAS:
        empty = as_table(name, [])
        assert empty.num_rows == 0 and empty.schema.equals(get_schema(name), check_metadata=True)


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_file_says_what_its_columns_mean(tmp_path, name):
    write_table(name, [], tmp_path / "a.parquet")
    written = pq.read_schema(tmp_path / "a.parquet")
    assert written.names == list(SCHEMAS[name])
    for column, (kind, description) in SCHEMAS[name].items():
        assert description
        assert written.field(column).type.equals(kind)
        assert written.field(column).metadata[b"description"] == description.encode()


def test_frames_keep_integers_beside_nulls():
    frame = as_frame(as_table("sentences", ROWS))
    assert frame["label"].dtype == pd.Int32Dtype()
    assert frame["label"].tolist() == [1, pd.NA, 0]
    assert frame["family"].isna().tolist() == [False, True, False]


def test_lists_come_back(tmp_path):
    write_table("ablation_sets", SETS, tmp_path / "a.parquet")
    assert [list(heads) for heads in read_table(tmp_path / "a.parquet")["heads"]] == [[], [1, 14], [2]]
    assert read_rows(tmp_path / "a.parquet") == SETS


def test_concatenated_files_keep_their_order(tmp_path):
    for name, rows in (("a", ROWS[:1]), ("b", []), ("c", ROWS[1:])):
        write_table("sentences", rows, tmp_path / f"{name}.parquet")
    paths = [tmp_path / f"{name}.parquet" for name in "cab"]
    assert concatenate("sentences", paths).to_pylist() == [*ROWS[1:], *ROWS[:1]]
    assert concatenate("sentences", []).equals(get_schema("sentences").empty_table())
    write_table("ablation_sets", SETS, tmp_path / "d.parquet")
    with pytest.raises(ValueError):
        concatenate("sentences", [*paths, tmp_path / "d.parquet"])


def test_files_are_joined_in_their_order_into_one_of_the_same_schema(tmp_path):
    for name, rows in (("a", ROWS[:1]), ("b", []), ("c", ROWS[1:])):
        write_table("sentences", rows, tmp_path / f"{name}.parquet")
    write_joined("sentences", [tmp_path / f"{name}.parquet" for name in "cab"], tmp_path / "all.parquet")
    assert read_rows(tmp_path / "all.parquet") == [*ROWS[1:], *ROWS[:1]]
    assert pq.read_schema(tmp_path / "all.parquet").equals(get_schema("sentences"), check_metadata=True)
    write_joined("sentences", [], tmp_path / "none.parquet")
    assert read_rows(tmp_path / "none.parquet") == []
    write_table("ablation_sets", SETS, tmp_path / "d.parquet")
    with raises(ValueError, "sentences"):
        write_joined("sentences", [tmp_path / "a.parquet", tmp_path / "d.parquet"], tmp_path / "half.parquet")
    assert not (tmp_path / "half.parquet").exists()


# ---- whole or not at all


def test_a_long_file_is_joined_in_parts_to_the_bytes_of_the_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "ROW_GROUP_SIZE", 10)
    row = dict.fromkeys(get_schema("sentences").names) | {"subset": "s", "label": 1}
    rows = as_table("sentences", [row | {"sentence1": f"text {k}"} for k in range(33)])
    pq.write_table(rows, tmp_path / "part.parquet", row_group_size=4)
    write_joined("sentences", [tmp_path / "part.parquet"], tmp_path / "all.parquet")
    pq.write_table(rows, tmp_path / "whole.parquet", compression="zstd", row_group_size=10)
    assert (tmp_path / "all.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_a_file_has_its_name_only_when_it_is_whole(tmp_path):
    path = tmp_path / "new" / "a.txt"
    with atomic.replace_atomically(path) as partial:
        partial.write_text("half")
        assert not path.exists()
        assert partial.parent == path.parent and partial.suffix == ".txt" and partial.name.startswith(".")
    assert path.read_text() == "half"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("before", [None, "whole"])
@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt])
def test_a_failure_leaves_what_was_there(tmp_path, before, failure):
    path = tmp_path / "a.txt"
    if before:
        path.write_text(before)
    with pytest.raises(failure), atomic.replace_atomically(path) as partial:
        partial.write_text("half")
        raise failure
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == ({"a.txt": before} if before else {})


def test_a_table_that_fails_half_written_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    write_table("sentences", ROWS, path)

    def half(table, target, **_):
        target.write_bytes(b"PAR1")
        raise OSError("no space left on device")

    monkeypatch.setattr(parquet.pq, "write_table", half)
    with pytest.raises(OSError, match="no space"):
        write_table("sentences", [ROW], path)
    assert read_rows(path) == ROWS
    assert list(tmp_path.iterdir()) == [path]


def test_rows_that_are_refused_leave_no_file(tmp_path):
    with pytest.raises(ValueError):
        write_table("sentences", [WITHOUT], tmp_path / "a.parquet")
    assert list(tmp_path.iterdir()) == []
