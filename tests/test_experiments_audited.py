"""Records of every experiment: what depends on the run or on a network is told by its rule, whatever it is called."""

import os
import subprocess
import sys

import pytest
from conftest import ROOT
from reduced import REDUCED, snakemake
from test_experiments import EXTRACTIVE, SORTING

from heuristic_core.config.reading import read_config
from heuristic_core.experiments.studies import read_studies
from heuristic_core.provenance.audit.recompute import select_recomputable
from heuristic_core.provenance.job import list_recorded_jobs
from heuristic_core.provenance.record import DEPENDS_ON
from heuristic_core.provenance.reproduction import compare_results, write_digests

SLOWLY = [pytest.param(path, marks=pytest.mark.slow, id=path.stem) for path in (REDUCED, SORTING)]


@pytest.mark.parametrize("config", [pytest.param(EXTRACTIVE, id=EXTRACTIVE.stem), *SLOWLY])
def test_the_report_of_every_experiment_depends_on_its_run_and_nothing_else_does(config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    jobs = list_recorded_jobs(ROOT / "Snakefile", [str(config)])
    marked = {job.name: job.settings[DEPENDS_ON] for job in jobs if DEPENDS_ON in job.settings}
    assert marked == {"report": "run"}
    assert len(select_recomputable(jobs, [])) == len(jobs) - 1


@pytest.mark.slow
@pytest.mark.parametrize("config", [SORTING, EXTRACTIVE], ids=lambda path: path.stem)
def test_studies_of_other_experiments_are_audited_and_reproduced(config, tmp_path, monkeypatch):
    ((_, one),) = read_studies(read_config(config), config).items()
    monkeypatch.chdir(tmp_path)
    snakemake(tmp_path, config=config)
    root, published = tmp_path / one.study.root, tmp_path / "published.json"
    write_digests(root, published)
    (root / "report.html").unlink()
    snakemake(tmp_path, config=config)  # at another time
    assert compare_results(root, published).first is None
    audit = [sys.executable, ROOT / "workflow/scripts/audit.py", "--configfile", config, "--sample", "100%"]
    done = subprocess.run(audit, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0 and "nothing found" in done.stdout, done.stdout + done.stderr
