"""After every target of `make help`, in any order, an audit of an untouched study finds nothing."""

import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from reduced import REDUCED, snakemake
from test_experiments import EXTRACTIVE, SORTING

from heuristic_core.config.reading import read_config
from heuristic_core.experiments.studies import read_studies
from heuristic_core.provenance.audit.check import check_study
from heuristic_core.provenance.job import list_recorded_jobs

STUDY = Path("results/reduced")
# What `make` runs on a study; `expected` and `reproduce` compare with published digests, which this study has none of.
TARGETS = [
    ("export",),
    ("publish",),
    ("publish", "--config", "publish=seed=42"),
    ("report", "provenance"),
    ("figure02",),
]
TARGETS += [
    ("all_figures",),
    ("--cores", "1", "--forceall", "fetch"),
    ("redraw", "--config", f"crate={STUDY}/reduced.crate.zip"),
]
TARGETS += [("compare", "--config", "compare=results/reduced results/reduced"), ("table3", "figure05")]
SCRIPTS = ["targets", "plan", "changes", "reproduce", "audit", "print_report"]


def run(order):
    """Run one target, or one script on the study, whether or not it succeeds."""
    if isinstance(order, tuple):
        snakemake(Path.cwd(), *order, check=False)
        return
    command = [sys.executable, ROOT / f"workflow/scripts/{order}.py", "--configfile", REDUCED]
    subprocess.run([*command, *["--sample", "1"] * (order == "audit")], capture_output=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_after_every_target_in_any_order_an_audit_finds_nothing(copy, monkeypatch, seed):
    monkeypatch.chdir(copy)
    jobs = list_recorded_jobs(ROOT / "Snakefile", [str(REDUCED)])
    orders = [*TARGETS, *SCRIPTS]
    random.Random(seed).shuffle(orders)
    if seed:  # begin with what was computed, and nothing that was made of it
        for name in ("figures", "tables", "provenance/figures", "provenance/tables"):
            shutil.rmtree(STUDY / name)
        for name in ("report.html", "study.json", "provenance/report.html.json", "provenance/study.json.json"):
            (STUDY / name).unlink()
    for order in orders:
        run(order)
        assert check_study(STUDY, jobs) == [], order


SLOWLY = [pytest.param(path, marks=pytest.mark.slow, id=path.stem) for path in (ROOT / "config.yaml", EXTRACTIVE)]


@pytest.mark.parametrize("config", [pytest.param(SORTING, id=SORTING.stem), *SLOWLY])
def test_a_run_makes_all_that_the_archive_takes(config, tmp_path):
    """Else `export` would make results that no other target makes, and that an audit finds."""
    ((_, entry),) = read_studies(read_config(config), config).items()
    done = snakemake(tmp_path, "--dry-run", config=config)
    lacking = [
        name for name in entry.experiment.list_members(entry.study) if f"{entry.study.root}/{name}" not in done.stdout
    ]
    assert lacking == []
