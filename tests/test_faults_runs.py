"""Faults of whole runs: two Snakemakes, killed jobs, no memory, no GPU, results and records from elsewhere.

Each ends with a message and without a traceback; then the same command makes what an undisturbed run made.
"""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pytest
import torch
from conftest import ROOT
from mentions import mentions
from reduced import RUNS, results, snakemake
from test_faults_kills import MARK, check_that_nothing_runs, is_server, private, processes  # noqa: F401 (a fixture)
from whole_runs import CELL, TARGETS, fails, have_same_bytes, read_output

from heuristic_core.common import faults

GIGABYTE = 1 << 30


# ---- processes


def start(folder: Path, config: Path, environment: dict[str, str], *arguments: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder)]
    command += ["--configfile", str(config), "--cores", "2", "--scheduler", "greedy", *arguments]
    options = {"text": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, env=environment, start_new_session=True, **options)


def wait_for(condition, seconds=120):
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.05)


def log_of_pruning(folder: Path) -> Path:
    path = folder / "results/reduced/logs/prune/ft1-step60-s0.4-seed44.log"
    path.unlink(missing_ok=True)
    return path


def jobs(mark: str) -> list[psutil.Process]:
    """The processes that compute: forks of the server, and scripts."""
    result = processes(mark)
    servers = {process.pid for process in result if is_server(process)}
    return [item for item in result if item.ppid() in servers or any("watch.py" in word for word in item.cmdline())]


@pytest.fixture
def endless(changed):
    return changed(prune__hold=1_000_000)


@pytest.mark.slow
@pytest.mark.parametrize("fork_server", ["1", "0"])
def test_a_killed_job_says_so_and_nothing_of_it_is_left_running(copy, finished, endless, private, fork_server):  # noqa: F811
    """As the kernel kills where memory runs out. Of two Snakemakes in the folder the second is refused."""
    log = log_of_pruning(copy)
    environment = private | {"HEURISTIC_CORE_FORK_SERVER": fork_server}
    running = start(copy, endless, environment, "--", TARGETS[0])
    wait_for(lambda: log.is_file() and "prune" in log.read_text())
    if fork_server == "1":
        assert "lock" in fails(copy, "--", TARGETS[0]).lower()
        assert running.poll() is None
    for job in jobs(private[MARK]):
        job.kill()
    _, text = running.communicate(timeout=600)  # ends a hang, on a machine that is busy too
    assert running.returncode == 1
    assert mentions(text, "prune", f"signal {signal.SIGKILL:d}") and "Traceback" not in text
    check_that_nothing_runs(private[MARK])
    snakemake(copy, "--", TARGETS[0])
    assert have_same_bytes(copy, finished, *TARGETS)


@pytest.mark.slow
def test_two_runs_on_the_same_results_do_not_destroy_each_other(copy, endless, private, tmp_path):  # noqa: F811
    """From different working folders, where Snakemake's own lock does not help."""
    log = log_of_pruning(copy)
    running = start(copy, endless, private, "--", TARGETS[0])
    wait_for(lambda: log.is_file() and "prune" in log.read_text())
    other = tmp_path / "other"
    other.mkdir()
    (other / "results").symlink_to(copy / "results")
    state = copy / CELL / ".unfinished-find_subnetworks" / "state.safetensors"
    wait_for(state.is_file)
    text = fails(other, "--", TARGETS[0], config=endless)
    assert any(mentions(text, f"process {process.pid}") for process in processes(private[MARK]))
    assert running.poll() is None and state.is_file()
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate()


@pytest.mark.slow
def test_jobs_end_with_a_killed_snakemake(copy, endless, private):  # noqa: F811
    """Within seconds, those of both kinds, so that nothing writes beside the next run."""
    log = log_of_pruning(copy)
    shutil.rmtree(copy / RUNS / "ft2")
    running = start(copy, endless, private, "--", TARGETS[0], f"{RUNS}/ft2/trace.parquet")
    wait_for(lambda: log.is_file() and "prune" in log.read_text())
    assert len(processes(private[MARK])) > 3
    running.kill()
    running.communicate()
    check_that_nothing_runs(private[MARK], seconds=3)


# ---- what a machine lacks


@pytest.mark.slow
def test_a_job_without_memory_says_what_to_lower(tmp_path, changed, finished):
    """The first matrix of the model would take 17 GB, and a process may have 8."""
    huge = changed(model__architecture={"layers": 2, "heads": 4, "hidden": 65536, "feed_forward": 32, "positions": 24})

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (8 * GIGABYTE, 8 * GIGABYTE))

    target = f"{RUNS}/ft1/trace.parquet"
    with tempfile.TemporaryDirectory(prefix="hc") as folder:  # the fork server is limited, too
        environment = os.environ | {"TMPDIR": folder}
        text = fails(tmp_path, "--", target, config=huge, preexec_fn=limit, env=environment)
    assert faults.MEMORY_ADVICE in text
    assert faults.MEMORY_ADVICE in (tmp_path / "results/reduced/logs/finetune/ft1.log").read_text()
    snakemake(tmp_path, "--", target)
    assert have_same_bytes(tmp_path, finished, target, f"{RUNS}/ft1/step60/checkpoint/model.safetensors")


@pytest.mark.slow
@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_a_configuration_for_a_gpu_says_that_there_is_none(copy):
    whole = results(copy)
    text = fails(copy, "--config", "device=cuda", "arithmetic=native")
    assert mentions(text, "device", "'cuda'", "'cpu'")
    assert results(copy) == whole and len(whole) > 100
    snakemake(
        copy, "--config", "device=cuda", "arithmetic=native", "--", "results/reduced/study.json"
    )  # no model runs for that


# ---- results and records from elsewhere


def test_results_without_records_are_told(copy):
    shutil.rmtree(copy / ".snakemake")
    text = read_output(snakemake(copy, "--dry-run"))
    assert mentions(text, "results/reduced", "make audit")
    assert "Nothing to be done" in text


@pytest.mark.slow
def test_results_of_an_older_version_are_made_again(copy):
    """Their records name other code. Of one rule: what follows from it is planned, too, and nothing before it."""
    changed = 0
    for path in (copy / ".snakemake" / "metadata").rglob("*"):
        record = json.loads(path.read_text()) if path.is_file() else {}
        if record.get("rule") == "core":
            record["params"] = [param.replace("0", "1") for param in record["params"]]
            path.write_text(json.dumps(record))
            changed += 1
    assert changed
    text = read_output(snakemake(copy, "--dry-run", "--quiet", "rules"))
    assert "make audit" not in text
    planned = {line.split()[0] for line in text.splitlines() if len(line.split()) == 2}
    assert {"core", "ablate", "table_core"} <= planned and not {"prune_0", "finetune", "gather"} & planned


@pytest.mark.slow
def test_damaged_records_are_told(copy):
    records = [path for path in (copy / ".snakemake" / "metadata").rglob("*") if path.is_file()]
    whole = {path: path.read_bytes() for path in records}
    for path in records:
        path.write_bytes(whole[path][: len(whole[path]) // 2])
    text = read_output(snakemake(copy, "--dry-run"))
    assert "Ignore corrupted" in text and "Traceback" not in text
    for path in records:
        path.write_bytes(whole[path])
    records[0].write_bytes(whole[records[0]][:50] + b"\xf0" + whole[records[0]][51:])
    assert mentions(fails(copy, "--dry-run"), records[0])
    records[0].unlink()
    assert snakemake(copy, "--dry-run").returncode == 0
