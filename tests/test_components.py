"""The numbering of components, and subnetworks as files and as rows."""

import json
from fractions import Fraction
from itertools import product

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mentions import raises

from heuristic_core.common.errors import InputError
from heuristic_core.models.components import Component, ComponentGrid, kept_count
from heuristic_core.pruning.subnetwork import FailedRun, Subnetwork, load_run
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import as_table

RUN = Identity("study", "model", "task", 1, 400, 0.5, 42)
# 0.1 + 0.2 and the like: alphas whose shortest decimal form is long.
ALPHAS = (0.1 + 0.2, -1e-300, 2 / 3, 5e20, -3.0, 7.25)


def subnetwork(**changes):
    """Two layers of two heads: heads 0 to 3, MLPs 4 and 5."""
    return Subnetwork(**{"identity": RUN, "layers": 2, "heads": 2, "kept": (1, 2, 5), "log_alpha": ALPHAS} | changes)


def test_components_are_numbered_heads_first_layer_by_layer():
    assert list(ComponentGrid(2, 3)) == [
        Component(0, "head", 0, 0),
        Component(1, "head", 0, 1),
        Component(2, "head", 0, 2),
        Component(3, "head", 1, 0),
        Component(4, "head", 1, 1),
        Component(5, "head", 1, 2),
        Component(6, "mlp", 0, None),
        Component(7, "mlp", 1, None),
    ]


@pytest.mark.parametrize(("layers", "heads"), [(1, 1), (2, 3), (4, 8), (12, 12)])
def test_numbers_and_names_are_those_of_the_formula(layers, heads):
    grid = ComponentGrid(layers, heads)
    assert len(grid) == len(list(grid)) == layers * heads + layers
    assert [component.index for component in grid] == list(range(len(grid)))
    for layer, head in product(range(layers), range(heads)):
        assert grid.index(f"{layer}.{head}") == layer * heads + head
    for layer in range(layers):
        assert grid.index(f"mlp {layer}") == layers * heads + layer


@pytest.mark.parametrize("name", ["2.0", "0.3", "mlp 2", "mlp2", "", "0.0 ", "00.0"])
def test_a_name_outside_the_grid_is_refused(name):
    with raises(ValueError, repr(name), 2, 3):
        ComponentGrid(2, 3).index(name)


# 36 components of the miniature, 156 of BERT-base.
@pytest.mark.parametrize(
    ("size", "sparsity", "kept"),
    [
        (36, 0.2, 29),
        (36, 0.3, 25),
        (36, 0.35, 23),
        (36, 0.5, 18),
        (36, 0.6, 14),
        (156, 0.5, 78),
        (156, 0.7, 47),
        (7, 0, 7),
    ],
)
def test_kept_count(size, sparsity, kept):
    assert kept_count(size, sparsity) == kept


@settings(deadline=None, derandomize=True)
@given(st.integers(1, 400), st.integers(0, 100))
def test_kept_count_is_the_nearest_whole_number(size, percent):
    exact = Fraction(100 - percent, 100) * size
    assert abs(kept_count(size, percent / 100) - exact) <= Fraction(1, 2)


# ---- subnetworks


def test_mask_and_actual_sparsity():
    assert subnetwork().mask == [0, 1, 1, 0, 0, 1]
    assert subnetwork().actual_sparsity == 0.5
    assert subnetwork(kept=()).actual_sparsity == 1
    assert subnetwork(kept=tuple(range(6))).actual_sparsity == 0


@pytest.mark.parametrize("kept", [(2, 1), (1, 1), (1, 6), (-1, 2)])
def test_kept_components_ascend_and_exist(kept):
    with raises(ValueError, 6, kept):
        subnetwork(kept=kept)


def test_one_log_alpha_for_each_component():
    with raises(ValueError, 5, 6):
        subnetwork(log_alpha=ALPHAS[:5])


def test_rows_hold_every_component_once_and_fit_their_table():
    rows = subnetwork().rows()
    assert [row["component"] for row in rows] == list(range(6))
    assert [row["kept"] for row in rows] == [False, True, True, False, False, True]
    assert [row["name"] for row in rows] == ["0.0", "0.1", "1.0", "1.1", "mlp 0", "mlp 1"]
    assert [row["head"] for row in rows] == [0, 1, 0, 1, None, None]
    assert tuple(row["log_alpha"] for row in rows) == ALPHAS
    for row in rows:
        assert {name: row[name] for name in Identity._fields} == RUN._asdict()
        assert row["actual_sparsity"] == 0.5
    assert as_table("components", rows).to_pylist() == rows


def test_identity_columns_end_where_asked():
    assert RUN.as_columns(2, "step") == {
        "study": ["study"] * 2,
        "model": ["model"] * 2,
        "task": ["task"] * 2,
        "ft_seed": [1, 1],
        "step": [400, 400],
    }
    assert list(RUN.as_columns(0)) == list(Identity._fields)
    full = Identity("study", "model", "task", 1, 400).as_columns(1)
    assert full["sparsity"] == [0.0] and full["seed"] == [None]
    assert pa.table(RUN.as_columns(3)).num_rows == 3


# ---- the file


@pytest.mark.parametrize("kept", [(1, 2, 5), (), (0, 1, 2, 3, 4, 5)])
def test_a_saved_subnetwork_is_read_back_to_the_last_digit(tmp_path, kept):
    saved = subnetwork(kept=kept)
    saved.save(tmp_path / "a" / "subnetwork.json")
    assert Subnetwork.load(tmp_path / "a" / "subnetwork.json") == saved
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["subnetwork.json"]


def test_the_file_is_for_people_to_read(tmp_path):
    subnetwork().save(tmp_path / "subnetwork.json")
    text = json.loads((tmp_path / "subnetwork.json").read_text())
    assert text["identity"] == RUN._asdict()
    assert text["kept"] == ["0.1", "1.0", "mlp 1"]
    assert text["actual_sparsity"] == 0.5
    assert text["log_alpha"]["mlp 0"] == -3.0


def without(key):
    return lambda text: {name: value for name, value in text.items() if name != key}


MALFORMED = {
    "a list": lambda text: [text],
    "no kept components": without("kept"),
    "no layers": without("layers"),
    "no identity": without("identity"),
    "an unknown component": lambda text: text | {"kept": ["0.1", "2.0"]},
    "a component twice": lambda text: text | {"kept": ["0.1", "0.1"]},
    "kept is null": lambda text: text | {"kept": None},
    "another shape": lambda text: text | {"heads": 3},
    "a missing log alpha": lambda text: text | {"log_alpha": {"0.0": 1.0}},
    "a log alpha that is no number": lambda text: text | {"log_alpha": dict.fromkeys(text["log_alpha"], "high")},
    "a shape that is no number": lambda text: text | {"layers": "2"},
    "an identity with an unknown field": lambda text: text | {"identity": text["identity"] | {"epoch": 3}},
    "an identity without a study": lambda text: text | {"identity": without("study")(text["identity"])},
}


@pytest.mark.parametrize("change", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_file_is_named(tmp_path, change):
    path = tmp_path / "subnetwork.json"
    subnetwork().save(path)
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    with raises(ValueError, path):
        Subnetwork.load(path)


@pytest.mark.parametrize("content", [b"", b"{", b"kept: [0.1]", b"\xff\xfe"])
def test_a_file_that_is_no_json_is_named(tmp_path, content):
    path = tmp_path / "subnetwork.json"
    path.write_bytes(content)
    with raises(ValueError, path):
        Subnetwork.load(path)


def test_a_failed_run_is_written_in_the_place_of_a_subnetwork_and_is_none(tmp_path):
    path = tmp_path / "subnetwork.json"
    failed = FailedRun(RUN, "diverged by step 70: kl nan")
    failed.save(path)
    assert load_run(path) == failed and failed.rows() == []
    text = json.loads(path.read_text())
    assert (text["failed"], text["kept"]) == ("diverged by step 70: kl nan", None)
    with raises(InputError, path, "diverged by step 70: kl nan"):
        Subnetwork.load(path)
    subnetwork().save(path)
    assert load_run(path) == subnetwork()


def test_a_subnetwork_of_another_model_is_refused():
    result = subnetwork()
    assert result.list_removed(ComponentGrid(2, 2)) == [0, 3, 4]
    with raises(InputError, 2, 4):
        result.list_removed(ComponentGrid(2, 4))


def test_the_threshold_and_the_rule_that_decided_are_kept_in_the_file(tmp_path):
    for threshold, rule in ((None, "exact"), (0.35, "by-hand")):
        subnetwork(threshold=threshold, rule=rule).save(tmp_path / "s.json")
        result = Subnetwork.load(tmp_path / "s.json")
        assert (result.threshold, result.rule) == (threshold, rule)
