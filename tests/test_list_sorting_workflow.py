"""The list-sorting experiment as a workflow: from nothing to its tables, again, and with a setting changed."""

import shutil

import pytest
from conftest import ROOT
from reduced import planned, snakemake

from heuristic_core.common.errors import InputError
from heuristic_core.config.reading import read_values
from heuristic_core.experiments.list_sorting.study import evenly, parse_sorting
from heuristic_core.experiments.list_sorting.tables import SORTING
from heuristic_core.tables.parquet import read_table

CONFIG = ROOT / "tests" / "studies" / "sorting.yaml"
ROOT_OF_RESULTS = "results/sorting"


@pytest.mark.slow
def test_from_nothing_to_tables(tmp_path):
    snakemake(tmp_path, config=CONFIG)
    tables = {path.stem: read_table(path) for path in (tmp_path / ROOT_OF_RESULTS / "tables").glob("*.parquet")}
    assert tables.keys() == SORTING.keys()
    study = parse_sorting(read_values(CONFIG))
    models = tables["sorting_models"]
    assert len(models) == 2 * 2 * len(study.training.kept)  # conditions, seeds
    assert set(tables["sorting_llc"]["step"]) == set(study.sampled("l2")) and len(study.sampled("l2")) == 2
    assert set(tables["sorting_matrices"]["step"]) == {0, study.training.steps}
    assert len(tables["sorting_subsets"]) == 16 * len(models)
    assert len(tables["sorting_masks"]) == 2 * 2 * 2 * 2  # conditions, seeds, checkpoints, pruning seeds
    assert tables["sorting_masks"]["rank"].between(1, 6).all() and tables["sorting_core"]["of"].eq(2).all()
    full = tables["sorting_subsets"].query("halves == 4").set_index(["condition", "seed", "step"])
    assert full["kl"].eq(0).all() and full["loss"].equals(models.set_index(["condition", "seed", "step"])["loss"])
    assert len(tables["sorting_sizes"]) == 4 * len(models)
    assert planned(tmp_path, CONFIG) == {}
    records = list((tmp_path / ROOT_OF_RESULTS / "provenance").rglob("*.json"))
    assert any("step40.safetensors" in path.name for path in records)

    again = tmp_path / "again"
    shutil.copytree(tmp_path / "results", again / "results")
    (again / ROOT_OF_RESULTS / "l2" / "step40.safetensors").write_bytes(b"")  # not what its record says
    failed = snakemake(again, "--forcerun", "measure", config=CONFIG, check=False)
    assert failed.returncode and "step40.safetensors" in failed.stdout + failed.stderr


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"data": {"length": 13, "numbers": 12}}, "length = 13 exceeds numbers = 12"),
        ({"conditions": {"a": {"llc": {}}}}, "conditions.a: llc cannot be changed; it can change data, model"),
        ({"conditions": {"a": {"data": {"numbers": 3}}}}, "conditions.a.data: length = 10 exceeds numbers = 3"),
        ({"llc": {"conditions": ["b"]}}, "llc.conditions: there is no condition 'b'; there are base"),
        ({"prune": {"conditions": ["b"]}}, "prune.conditions: there is no condition 'b'; there are base"),
        ({"prune": {"sparsity": 0.1}}, "prune.sparsity = 0.1 keeps 4 of the 4 halves of condition 'base'"),
        ({"study": "no name"}, "study = 'no name'"),
    ],
)
def test_an_impossible_study_has_one_message(changes, said):
    values = {"experiment": "list-sorting", "study": "s", "training": {"seeds": [1]}} | changes
    with pytest.raises(InputError) as found:
        parse_sorting(values, "some.yaml")
    assert said in str(found.value) and str(found.value).startswith("some.yaml cannot be run")


def test_checkpoints_are_spread_evenly():
    assert evenly(list(range(11)), 3) == [0, 5, 10]
    assert evenly([1, 2], 5) == [1, 2]
    assert evenly([1, 2, 9], 1) == [9]
