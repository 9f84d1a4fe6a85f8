"""Shared parts serve any experiment: those there are, several in one run, and one that a test adds."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import yaml
from conftest import ROOT
from mentions import mentions, raises
from reduced import REDUCED, clone, planned, snakemake

from heuristic_core.config.claims import list_claim_tables
from heuristic_core.config.reading import ConfigError, read_config
from heuristic_core.experiments.list_sorting.experiment import ListSorting
from heuristic_core.experiments.registry import EXPERIMENT_FOLDERS, load_experiment, load_experiments
from heuristic_core.experiments.studies import parse_studies, parse_sweep, read_studies
from heuristic_core.provenance.changes.explain import NO_JOBS_TEXT
from heuristic_core.study.experiment import Experiment
from heuristic_core.tables.parquet import read_table

SORTING = ROOT / "tests" / "studies" / "sorting.yaml"
EXTRACTIVE = ROOT / "tests" / "studies" / "extractive.yaml"
MADE = ROOT / "tests" / "made"


def test_a_configuration_without_an_experiment_is_of_the_heuristic_core():
    values = read_config(REDUCED)
    assert load_experiment(values) is load_experiment(values | {"experiment": "heuristic-core"})
    first, second = (
        load_experiment(values).parse(item) for item in (values, values | {"experiment": "heuristic-core"})
    )
    assert first == second
    assert isinstance(load_experiment(read_config(SORTING)), ListSorting)


def test_an_unknown_experiment_is_named():
    with raises(ConfigError, "a.yaml", "experiment", "x", "heuristic-core", "list-sorting"):
        load_experiment({"experiment": "x"}, "a.yaml")


def test_a_file_that_changes_another_one_is_not_read_alone():
    values = read_config(ROOT / "config" / "list-sorting" / "decay.yaml")
    with raises(ConfigError, "decay.yaml", "experiment", "task", "CONFIG"):
        load_experiment(values).parse(values, "decay.yaml")


@pytest.mark.parametrize("experiment", load_experiments(), ids=EXPERIMENT_FOLDERS.get)
def test_every_experiment_gives_what_shared_parts_ask_for(experiment):
    assert isinstance(experiment, Experiment) and experiment.claims.is_file()
    assert (ROOT / "workflow" / "rules" / f"{experiment.folder.name}.smk").is_file()
    for target in experiment.targets.values():
        assert {*target.tables, *target.optional_tables} <= {
            name for name, t in experiment.tables.items() if t.archived
        }
    assert list_claim_tables(experiment.claims) <= {name for name, t in experiment.tables.items() if t.archived}
    assert experiment.list_drawing_modules("prune", {}) == []


@pytest.mark.slow
@pytest.mark.parametrize("path", [REDUCED, SORTING, EXTRACTIVE], ids=lambda path: path.stem)
def test_members_of_an_archive_are_results_of_the_study(path, tmp_path):
    ((_, entry),) = read_studies(read_config(path), path).items()
    done = snakemake(tmp_path, "--dry-run", "export", config=path)
    assert len(entry.experiment.list_members(entry.study)) == len(set(entry.experiment.list_members(entry.study)))
    assert all(
        f"{entry.study.root}/{name}" in done.stdout + done.stderr for name in entry.experiment.list_members(entry.study)
    )


@pytest.fixture
def two_studies(tmp_path):
    """A file of a study of each experiment."""
    path = tmp_path / "both.yaml"
    path.write_text(yaml.safe_dump({"studies": [os.path.relpath(item, tmp_path) for item in (REDUCED, SORTING)]}))
    return path


@pytest.mark.slow
def test_one_run_makes_studies_of_several_experiments(two_studies, tmp_path):
    jobs = planned(tmp_path, two_studies)
    assert {"reduced_finetune", "reduced_report", "sorting_measure", "sorting_report"} <= jobs.keys()


@pytest.mark.slow
def test_the_reports_of_several_studies_are_one_target(two_studies, tmp_path):
    output = snakemake(tmp_path, "--dry-run", "report", "provenance", config=two_studies).stdout
    assert all(
        f"results/{study}/{name}" in output for study in ("reduced", "sorting") for name in ("report.html", "tables")
    )


def test_no_figure_is_over_studies_of_several_experiments(two_studies):
    values = read_config(two_studies) | {"sweep": {"name": "x", "axes": {"a": "training.steps"}}}
    with raises(ConfigError, "sweep", "heuristic-core", "list-sorting"):
        parse_sweep(values, parse_studies(values, two_studies), two_studies)


def copy_with_made(tmp_path: Path) -> Path:
    """A checkout with the experiment "made" as a user would add it: its files, and a line of the registry."""
    checkout = clone(tmp_path / "checkout")
    shutil.copytree(MADE, checkout, dirs_exist_ok=True)
    registry = checkout / "src/heuristic_core/experiments/registry.py"
    line = '    "list-sorting": "list_sorting",\n'
    registry.write_text(registry.read_text().replace(line, f'{line}    "made": "made",\n'))
    shutil.copy(ROOT / "CITATION.cff", checkout)
    return checkout


@pytest.mark.slow
def test_a_table_a_figure_and_a_claim_are_added_as_contributing_says(tmp_path):
    """Each block of CONTRIBUTING.md is text of the file that its first line names, in a mapping or at the end."""
    checkout = copy_with_made(tmp_path)
    section = (ROOT / "CONTRIBUTING.md").read_text().partition("## Adding")[2].partition("\n## ")[0]
    blocks = re.findall(r"```\w+\n# (\S+?)(?:, in (\w+))?\n(.*?)```", section, re.DOTALL)
    assert len(blocks) == 9
    for name, mapping, text in blocks:
        path = checkout / name
        before = path.read_text() if path.exists() else ""
        opening = f"{mapping} = {{\n"
        assert not mapping or before.count(opening) == 1
        indented = "".join(f"    {line}\n" for line in text.splitlines())
        after = before.replace(opening, opening + indented) if mapping else f"{before}\n\n{text}".lstrip("\n")
        path.write_text(after)
    snakemake(tmp_path, config=checkout / "made.yaml", checkout=checkout)
    root = tmp_path / "results/squares"
    assert read_table(root / "tables/cubes.parquet")["cube"].tolist() == [0, 1, 8, 27]
    verdicts = read_table(root / "tables/claims.parquet").set_index("claim")["verdict"]
    assert verdicts.to_dict() == {"not-negative": "supported", "cubes-exceed": "supported"}
    assert (root / "figures/figure_cubes.png").is_file() and "cubes-exceed" in (root / "report.html").read_text()


@pytest.mark.slow
def test_another_experiment_is_a_folder_rules_and_a_line(tmp_path):
    checkout = copy_with_made(tmp_path)
    config, root = checkout / "made.yaml", Path("results/squares")
    snakemake(tmp_path, config=config, checkout=checkout)
    assert read_table(tmp_path / root / "tables/squares.parquet")["square"].tolist() == [0, 1, 4, 9]
    assert (tmp_path / root / "provenance/tables/squares.parquet.json").is_file()
    assert read_table(tmp_path / root / "tables/claims.parquet")["verdict"].tolist() == ["supported"]
    assert (tmp_path / root / "figures/figure_squares.png").is_file() and (tmp_path / root / "report.html").is_file()

    def run_script(name, *options):
        command = [sys.executable, checkout / "workflow/scripts" / f"{name}.py", "--configfile", config, *options]
        environment = os.environ | {"PYTHONPATH": str(checkout / "src")}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    assert mentions(run_script("plan"), "0 of")
    assert mentions(run_script("audit", "--sample", "2"), "5 of 5") and run_script(
        "audit"
    )  # nothing found, or the status is 1
    assert NO_JOBS_TEXT in run_script("changes")
    config.write_text(config.read_text().replace("largest: 3", "largest: 4"))
    assert mentions(run_script("changes"), "largest", 3, 4)
    snakemake(tmp_path, "export", config=config, checkout=checkout)
    with zipfile.ZipFile(tmp_path / root / "squares.crate.zip") as archive:
        assert {"study.json", "tables/squares.parquet", "claims.yaml"} <= set(archive.namelist())
