"""Portable arithmetic where the processor cannot: a study runs, says once that its bytes differ, and records it."""

import json
import os
import tempfile

import pytest
from mentions import mentions
from reduced import ROOT, RUNS, snakemake

# Python imports a module of this name at its start, in Snakemake and in every job.
OLD = "from heuristic_core.common import arithmetic\narithmetic.supports_portable = lambda: False\n"


@pytest.fixture
def environment(tmp_path):
    """Return the environment of a user of such a processor, with its own fork server."""
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "sitecustomize.py").write_text(OLD)
    path = os.pathsep.join([str(tmp_path / "old"), str(ROOT / "src")])
    with tempfile.TemporaryDirectory(prefix="hc") as folder:  # the name of a socket must be short
        yield os.environ | {"PYTHONPATH": path, "TMPDIR": folder}


def says_it_once(done) -> bool:
    """Whether one line names the setting and the instructions that the processor lacks."""
    lines = (done.stdout + done.stderr).splitlines()
    return sum(mentions(line, "arithmetic", "'portable'", "AVX2") for line in lines) == 1


@pytest.mark.slow
def test_a_dry_run_says_that_the_bytes_will_be_others(environment, tmp_path):
    done = snakemake(tmp_path, "--dry-run", "--quiet", env=environment, fork=False)
    assert says_it_once(done)


@pytest.mark.slow
def test_jobs_run_and_record_that_they_computed_natively(environment, tmp_path):
    wanted = f"{RUNS}/ft1/overlap_heads.parquet"
    done = snakemake(tmp_path, "--", wanted, env=environment, fork=False)
    assert says_it_once(done)
    records = list((tmp_path / "results/reduced/provenance").rglob("*.json"))
    assert len(records) > 3
    assert {json.loads(record.read_text())["arithmetic"] for record in records} == {"native"}
    assert (tmp_path / wanted).exists()
