"""The list-sorting experiment as a workflow: from nothing to its figures, again, and with a setting changed."""

import json
import os
import shutil
import zipfile
from pathlib import Path

import pandas as pd
import pytest
import yaml
from conftest import ROOT
from mentions import mentions
from pages import check_source
from reduced import planned, snakemake

from heuristic_core.common.errors import InputError
from heuristic_core.config.reading import read_config
from heuristic_core.experiments.list_sorting.experiment import EXPERIMENT
from heuristic_core.experiments.list_sorting.figures.targets import TARGETS
from heuristic_core.experiments.list_sorting.layout import Layout
from heuristic_core.experiments.list_sorting.study import RESERVED_NAMES, parse_sorting, select_evenly
from heuristic_core.experiments.list_sorting.tables import TABLES
from heuristic_core.figures.targets import target_files
from heuristic_core.provenance.record import record_path
from heuristic_core.tables.parquet import read_table

CONFIG = ROOT / "tests" / "studies" / "sorting.yaml"
ROOT_OF_RESULTS = "results/sorting"


@pytest.mark.slow
def test_from_nothing_to_figures(tmp_path):
    snakemake(tmp_path, config=CONFIG)
    tables = {path.stem: path for path in (tmp_path / ROOT_OF_RESULTS / "tables").glob("sorting_*.parquet")}
    assert tables.keys() == TABLES.keys()
    tables = {name: read_table(path) for name, path in tables.items()}
    for path in (path for name in TARGETS for path in target_files(tmp_path / ROOT_OF_RESULTS, name)):
        assert Path(path).stat().st_size, path
    accuracy = pd.read_csv(tmp_path / ROOT_OF_RESULTS / "tables" / "table_conditions.csv")["token_accuracy"]
    at_end = tables["sorting_models"].query("step == 40").groupby("condition", sort=False)["token_accuracy"].mean()
    assert accuracy.tolist() == pytest.approx(at_end.tolist())
    study = parse_sorting(read_config(CONFIG))
    models = tables["sorting_models"]
    assert len(models) == 2 * 2 * len(study.training.kept)  # conditions, seeds
    assert models["lists"].eq(study.measure.lists).all()
    assert set(tables["sorting_llc"]["step"]) == set(study.sampled_steps("l2")) and len(study.sampled_steps("l2")) == 2
    assert set(tables["sorting_matrices"]["step"]) == {0, study.training.steps}
    assert len(tables["sorting_subsets"]) == 16 * len(models)
    assert len(tables["sorting_masks"]) == 2 * 2 * 2 * 2  # conditions, seeds, checkpoints, pruning seeds
    assert tables["sorting_masks"]["rank"].between(1, 6).all() and tables["sorting_core"]["of"].eq(2).all()
    full = tables["sorting_subsets"].query("halves == 4").set_index(["condition", "seed", "step"])
    assert full["kl"].eq(0).all() and full["loss"].equals(models.set_index(["condition", "seed", "step"])["loss"])
    assert len(tables["sorting_sizes"]) == 4 * len(models)
    claims = read_table(tmp_path / ROOT_OF_RESULTS / "tables" / "claims.parquet").set_index("claim")["verdict"]
    assert claims["sorts"] == "contradicted" and set(claims.drop("sorts")) == {"does not apply"}  # 40 steps are few
    page = check_source(tmp_path / ROOT_OF_RESULTS / "report.html")
    assert {a["id"] for a in page.all("figure") if "id" in a} == {name for name in TARGETS if name.startswith("figure")}
    described = json.loads((tmp_path / ROOT_OF_RESULTS / "study.json").read_text())
    assert parse_sorting(described["settings"]) == study
    jobs = read_table(tmp_path / ROOT_OF_RESULTS / "tables" / "provenance.parquet")["job"]
    assert {"report", "tables/claims", "train/l2"} <= set(jobs)
    assert planned(tmp_path, CONFIG) == {}
    records = list((tmp_path / ROOT_OF_RESULTS / "provenance").rglob("*.json"))
    assert any("step40.safetensors" in path.name for path in records)

    second = {"study": "second", "training": read_config(CONFIG)["training"] | {"seeds": [3, 4]}}
    few = {key: value for key, value in read_config(CONFIG).items() if key not in ("llc", "prune")}
    (tmp_path / "second.yaml").write_text(yaml.safe_dump(few | second))
    snakemake(tmp_path, config=tmp_path / "second.yaml")
    compared_studies = "compare=results/sorting results/second"
    snakemake(tmp_path, "compare", "--config", compared_studies, config=CONFIG)
    compared = check_source(tmp_path / "results/compare-sorting-second/compare.html")
    assert compared.all("tr")
    differences = read_table(tmp_path / "results/compare-sorting-second/differences.parquet")
    assert set(differences["group_or_subset"]) == {"l2", "no-decay"}
    snakemake(tmp_path, "export", config=CONFIG)
    with zipfile.ZipFile(tmp_path / ROOT_OF_RESULTS / "sorting.crate.zip") as archive:
        assert {"report.html", "study.json", "claims.yaml", "tables/claims.parquet"} <= set(archive.namelist())

    again = tmp_path / "again"
    shutil.copytree(tmp_path / "results", again / "results")
    (again / ROOT_OF_RESULTS / "l2" / "step40.safetensors").write_bytes(b"")  # not what its record says
    failed = snakemake(again, "--forcerun", "measure", config=CONFIG, check=False)
    assert failed.returncode and "step40.safetensors" in failed.stdout + failed.stderr


@pytest.mark.slow
def test_one_condition_without_llc_has_all_but_the_figure_of_modes(tmp_path):
    values = {key: value for key, value in read_config(CONFIG).items() if key not in ("conditions", "llc")}
    config = tmp_path / "one.yaml"
    config.write_text(yaml.safe_dump(values))
    jobs = planned(tmp_path, config)
    assert TARGETS.keys() - jobs.keys() == {"figure_modes"} and "llc" not in jobs
    refused = snakemake(tmp_path, "figure_modes", config=config, check=False)
    lines = (refused.stdout + refused.stderr).splitlines()
    assert refused.returncode and any(mentions(line, "figure_modes", 2, "`conditions`") for line in lines)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"data": {"length": 13, "numbers": 12}}, ("data", "length", 13, "numbers", 12)),
        ({"conditions": {"a": {"llc": {}}}}, ("conditions.a", "llc", "data", "model")),
        ({"conditions": {"a": {"data": {"numbers": 3}}}}, ("conditions.a.data", "length", 10, "numbers", 3)),
        ({"measure": {"lists": 3000}}, ("measure.lists", 3000, "data.held_out_lists")),
        ({"measure": {"mean_lists": 300000}}, ("measure.mean_lists", 300000, "data.train_lists")),
        ({"measure": {"folded_lists": 400, "lists": 300}}, ("measure.folded_lists", 400, "measure.lists", 300)),
        ({"prune": {"lists": 5000}}, ("prune.lists", 5000, "data.held_out_lists")),
        (
            {"conditions": {"a": {"data": {"train_lists": 600}}}, "measure": {"mean_lists": 700}},
            ("measure.mean_lists", 700, 600, "'a'"),
        ),
        ({"conditions": {"a": None}}, ("conditions.a", "{}")),
        ({"conditions": {"a": {"data": 101}}}, ("conditions.a.data", 101)),
        ({"llc": {"conditions": ["b"]}}, ("llc.conditions", "'b'", "base")),
        ({"prune": {"conditions": ["b"]}}, ("prune.conditions", "'b'", "base")),
        ({"llc": {"conditions": ["base", "base"]}}, ("llc.conditions", "base")),
        ({"prune": {"conditions": ["base", "base"]}}, ("prune.conditions", "base")),
        ({"prune": {"conditions": []}}, ("prune.conditions",)),
        ({"conditions": {"tables": {}}}, ("conditions.tables", "results/s/tables")),
        ({"prune": {"sparsity": 0.1}}, ("prune.sparsity", 0.1, 4, "'base'")),
        ({"study": "no name"}, ("study", "'no name'")),
        (
            {"conditions": {"a": {"training": {"optimizer": "adam"}}}},
            ("conditions.a.training.optimizer", "'adam'", "optimiser"),
        ),
        ({"conditions": {"a": {"training": {"steps": 0}}}}, ("conditions.a.training.steps", 0)),
        ({"training": {"seeds": []}}, ("training.seeds", "[]", 1)),
        ({"llc": {"checkpoints": 60}}, ("llc.checkpoints", 60, "'base'", "training.per_decade")),
        ({"prune": {"checkpoints": 60}}, ("prune.checkpoints", 60, "'base'", "training.per_decade")),
        ({"measure": {"matrices": 60}}, ("measure.matrices", 60, "'base'", "training.per_decade")),
    ],
)
def test_an_impossible_study_has_one_message(changes, named):
    values = {"experiment": "list-sorting", "study": "s", "training": {"seeds": [1]}} | changes
    with pytest.raises(InputError) as result:
        parse_sorting(values, "some.yaml")
    first, *lines = str(result.value).splitlines()
    assert mentions(first, "some.yaml") and len(lines) == 1 and mentions(lines[0], *named), lines


def test_no_condition_can_be_named_as_a_result_of_the_whole_study():
    study = parse_sorting(read_config(CONFIG))
    record = record_path(Path(study.root, "report.html"), Path(study.root))
    paths = [
        *EXPERIMENT.list_members(study),
        *(os.path.relpath(path, study.root) for path in (Layout.from_study(study).log("claims"), record)),
    ]
    assert {path.split("/")[0] for path in paths} == set(RESERVED_NAMES)


def test_checkpoints_are_spread_evenly():
    assert select_evenly(list(range(11)), 3) == [0, 5, 10]
    assert select_evenly([1, 2], 5) == [1, 2]
    assert select_evenly([1, 2, 9], 1) == [9]
