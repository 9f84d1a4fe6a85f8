"""Studies of every experiment are audited and reproduced: rules, not names, declare what depends on run or network."""

import os
import subprocess
import sys

import pytest
import yaml
from conftest import ROOT
from mentions import mentions
from reduced import REDUCED, snakemake
from test_experiments import EXTRACTIVE, SORTING

from heuristic_core.config.reading import read_config
from heuristic_core.experiments.studies import read_studies
from heuristic_core.provenance.audit.recompute import select_recomputable
from heuristic_core.provenance.job import list_recorded_jobs
from heuristic_core.provenance.record import DEPENDS_ON

SLOWLY = [pytest.param(path, marks=pytest.mark.slow, id=path.stem) for path in (REDUCED, SORTING)]
HUB = {"hub": "someone/model", "revision": "0" * 40}
DOWNLOADS = {
    REDUCED: {"model": {"name": "bert", "source": "pretrained", **HUB}, "lesion": None},
    EXTRACTIVE: {"model": None, "pretraining": None, "pretrained": {"name": "qwen", **HUB}},
}


def marked(config, folder, monkeypatch):
    """Jobs whose results depend on more than files, settings and code, and on what. No other job is left out."""
    monkeypatch.chdir(folder)
    jobs = list_recorded_jobs(ROOT / "Snakefile", [str(config)])
    marked = {job.name: job.settings[DEPENDS_ON] for job in jobs if DEPENDS_ON in job.settings}
    assert len(select_recomputable(jobs, [])) == len(jobs) - len(marked) > 0
    return marked


@pytest.mark.slow
@pytest.mark.parametrize("config", [pytest.param(EXTRACTIVE, id=EXTRACTIVE.stem), *SLOWLY])
def test_the_report_of_every_experiment_depends_on_its_run_and_nothing_else_does(config, tmp_path, monkeypatch):
    assert marked(config, tmp_path, monkeypatch) == {"report": "run"}


@pytest.mark.slow
@pytest.mark.parametrize("config", DOWNLOADS, ids=lambda path: path.stem)
def test_downloads_of_every_experiment_depend_on_a_network(config, tmp_path, monkeypatch):
    values = {key: value for key, value in (read_config(config) | DOWNLOADS[config]).items() if value is not None}
    (tmp_path / "hub.yaml").write_text(yaml.safe_dump(values | {"arithmetic": "native"}))
    assert marked(tmp_path / "hub.yaml", tmp_path, monkeypatch) == {"report": "run", "fetch": "network"}


@pytest.mark.slow
@pytest.mark.parametrize("config", [SORTING, EXTRACTIVE], ids=lambda path: path.stem)
def test_studies_of_other_experiments_are_audited_and_reproduced(config, tmp_path, monkeypatch):
    ((_, entry),) = read_studies(read_config(config), config).items()
    monkeypatch.chdir(tmp_path)
    snakemake(tmp_path, config=config)
    root = tmp_path / entry.study.root

    def run(script, *options):
        command = [sys.executable, ROOT / f"workflow/scripts/{script}.py", "--configfile", config, *options]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ)
        return done.returncode, done.stdout + done.stderr

    assert run("reproduce", "--write")[0] == 0
    (root / "report.html").unlink()
    snakemake(tmp_path, config=config)  # at another time
    status, text = run("reproduce")
    assert status == 0 and mentions(text, f"docs/expected/{entry.study.study}.json")
    status, text = run("audit", "--sample", "30%")
    assert status == 0, text
    claims = root / "tables/claims.parquet"
    content = bytearray(claims.read_bytes())
    content[60] ^= 1
    claims.write_bytes(content)
    status, text = run("reproduce")
    assert status == 1 and mentions(text, 1, "tables/claims", "tables/claims.parquet"), text
