"""A whole reduced study under SIGKILL: Snakemake, its process group, jobs, their shells and the fork server."""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest
from conftest import ROOT
from reduced import REDUCED, results, snakemake

pytestmark = pytest.mark.slow
KILLS = int(os.environ.get("HEURISTIC_CORE_KILLS", "8"))
SEED = int(os.environ.get("HEURISTIC_CORE_KILLS_SEED", "0"))
MARK = "HEURISTIC_CORE_TEST_OF_KILLS"
LONGEST = 2.0  # seconds between two kills, drawn evenly from 0 on


def processes(mark: str) -> list[psutil.Process]:
    """All processes that descend from this test, orphans too: they have its mark in their environment."""
    result = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                result.append(process)
        except psutil.Error:
            continue
    return result


def is_server(process: psutil.Process) -> bool:
    """Whether it is the process whose forks are jobs, not one of these; it ends by itself when idle."""
    try:
        return "server.py" in " ".join(process.cmdline()) and "server.py" not in " ".join(process.parent().cmdline())
    except (psutil.Error, AttributeError):
        return False


class Life:
    """One Snakemake that makes the study, with jobs that are started again when they fail."""

    def __init__(self, folder: Path, environment: dict[str, str]):
        command = [
            sys.executable,
            "-m",
            "snakemake",
            "--snakefile",
            str(ROOT / "Snakefile"),
            "--directory",
            str(folder),
        ]
        command += ["--configfile", str(REDUCED), "--cores", "2", "--scheduler", "greedy"]
        command += ["--retries", "20", "--keep-going", "--rerun-incomplete"]
        self.mark = environment[MARK]
        self.process = subprocess.Popen(
            command, env=environment, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def others(self) -> list[psutil.Process]:
        return [process for process in processes(self.mark) if process.pid != self.process.pid]

    def wait_for_jobs(self) -> None:
        """Until jobs run, or nothing is left to do."""
        while self.process.poll() is None and not self.others():
            time.sleep(0.02)

    def kill(self, what: str, draws: random.Random) -> str | None:
        """Kill; what was killed, None where there was nothing."""
        if what == "group":
            os.killpg(self.process.pid, signal.SIGKILL)
        elif what == "snakemake":
            self.process.kill()
        else:
            victims = self.others()
            if not victims:
                return None
            victim = draws.choice(sorted(victims, key=lambda process: process.pid))
            try:
                what = "server" if is_server(victim) else f"job: {Path(victim.exe()).name.rstrip('0123456789.')}"
                victim.kill()
            except psutil.Error:  # it has just ended by itself
                return None
        return what


@pytest.fixture
def private(tmp_path):
    """An environment with a mark, and with its own fork server."""
    folder = tempfile.mkdtemp(prefix="hc")  # a socket's path must be short
    yield os.environ | {MARK: folder, "TMPDIR": folder, "HEURISTIC_CORE_FORK_SERVER": "1"}
    for process in processes(folder):
        process.kill()
    shutil.rmtree(folder)


def one_life(folder: Path, environment: dict[str, str], draws: random.Random, longest: float) -> list[str]:
    """What was killed in one life of Snakemake: some jobs and, unless they ended it, in the end itself."""
    life, hits = Life(folder, environment), []
    life.wait_for_jobs()
    for what in ["job"] * draws.randint(4, 8) + [draws.choice(["group", "snakemake"])]:
        time.sleep(draws.uniform(0, longest))
        if life.process.poll() is not None:
            break
        hits.append(life.kill(what, draws))
    life.process.wait()
    return [hit for hit in hits if hit]


def check_that_nothing_runs(mark: str, seconds: float = 5) -> None:
    until = time.monotonic() + seconds
    while left := [process for process in processes(mark) if not is_server(process)]:
        assert time.monotonic() < until, f"still there: {left}"
        time.sleep(0.05)


def check_same(folder: Path, undisturbed: Path) -> None:
    result, whole = results(folder), results(undisturbed)
    assert result.keys() == whole.keys() and len(whole) > 150
    assert [name for name in whole if result[name] != whole[name]] == []
    names = [path.name for path in folder.rglob("*")]
    assert not [name for name in names if ".partial" in name or name.startswith(".unfinished")]


def test_a_study_killed_again_and_again_ends_with_an_undisturbed_runs_bytes(finished, private, tmp_path):
    """So two runs from scratch give the same bytes, too."""
    draws, killed, lives, rounds, longest = random.Random(SEED), Counter(), 0, 1, LONGEST
    while killed.total() < KILLS:
        before = len(results(tmp_path))
        killed.update(one_life(tmp_path, private, draws, longest))
        lives += 1
        check_that_nothing_runs(private[MARK])
        snakemake(tmp_path, "--unlock", fork=True)
        made = len(results(tmp_path))
        longest = LONGEST if made > before else 1.5 * longest  # however slow the machine, a life gets somewhere
        if made == len(results(finished)) and killed.total() < KILLS:
            snakemake(tmp_path, env=private)
            check_same(tmp_path, finished)
            shutil.rmtree(tmp_path / "results")
            rounds += 1
    print(f"{lives} lives, {rounds} rounds, killed: {dict(killed)}")
    snakemake(tmp_path, env=private)
    check_same(tmp_path, finished)
    audit = [sys.executable, ROOT / "workflow/scripts/audit.py", "--configfile", REDUCED, "--sample", "0"]
    done = subprocess.run(audit, cwd=tmp_path, capture_output=True, text=True)  # records of killed jobs are whole, too
    assert done.returncode == 0, done.stdout
