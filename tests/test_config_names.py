"""Names and sparsities that make no folder of their own are refused."""

import pytest
from test_config import GENERATED, REAL, SET, VALUES, faults, replaced


@pytest.mark.parametrize("sparsities", [[0.00001, 0.35, 0.5], [0.35, 0.35000001, 0.5]])
def test_sparsities_that_a_path_cannot_tell_apart_are_refused(sparsities):
    (line,) = faults(replaced(VALUES[GENERATED], "grid.sparsities", sparsities))
    assert "sparsities" in line


@pytest.mark.parametrize("path", ["study", "model.name", "task.name"])
@pytest.mark.parametrize("name", ["a/b", "..", "../a", ".", "", "/", "a\\b", "a b", "-rf", "a\n", "{seed}", "x" * 61])
def test_names_that_are_no_plain_folder_are_refused(path, name):
    (line,) = faults(replaced(VALUES[GENERATED], path, name))
    assert line.startswith(f"  {path} = ")


@pytest.mark.parametrize("name", ["a/b", "..", ""])
def test_names_of_evaluation_sets_are_held_to_the_same(name):
    values = replaced(VALUES[REAL], "task.evaluation", {name: SET})
    assert any(repr(name) in line for line in faults(values))
