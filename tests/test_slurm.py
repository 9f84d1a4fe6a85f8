"""A study goes through a real SLURM with faults, and its results are the same.

It submits jobs, so it runs only where HEURISTIC_CORE_TEST_SLURM=1 is set and SLURM answers.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from conftest import ROOT
from reduced import REDUCED, parse_job_counts, results, snakemake
from slurm_dry_runs import site_profile


def reachable() -> bool:
    return shutil.which("sinfo") is not None and subprocess.run(["sinfo"], capture_output=True).returncode == 0


real = pytest.mark.skipif(
    os.environ.get("HEURISTIC_CORE_TEST_SLURM") != "1" or not reachable(),
    reason="submits jobs: set HEURISTIC_CORE_TEST_SLURM=1 where a SLURM for tests answers",
)
# Fake GPUs: the study's models run on the CPU, but SLURM is asked for a GPU.
BLOCKS = [f"{rule}_{number}" for rule in ("prune", "evaluate") for number in range(4)]  # two seeds, two sparsities
ON_GPU = {rule: {"gpu": 1} for rule in ("finetune", "full_model", "attention", *BLOCKS)}
OWN = {
    "cores": 2,
    "set-resources": ON_GPU,
    "slurm-init-seconds-before-status-checks": 2,
    "seconds-between-status-checks": 2,
    "latency-wait": 10,
}


def step_running(*words: str) -> tuple[int, str] | None:
    """Process and SLURM job of a workflow step whose command line has all these words."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().decode().replace("\0", " ")
            if sys.executable in line and "/workflow/scripts/" in line and all(word in line for word in words):
                job = re.search(rb"SLURM_JOB_ID=(\d+)", (folder / "environ").read_bytes())
                if job and not line.startswith(("/bin/sh", "/bin/bash")):
                    return int(folder.name), job[1].decode()
        except OSError:
            continue  # it has just ended
    return None


class Faults:
    """Things that go wrong while a run goes on, each once, when its step is seen running and has begun its log."""

    def __init__(self, folder: Path):
        logs = folder / "results" / "reduced" / "logs"
        self.left = {
            "requeued": (logs, "finetune/*.log", "/finetune.py"),
            "stopped": (logs, "initial_attention/*.log", "/initial_attention.py"),  # others go on until its time is up
            "killed": (logs, "prune/ft1-step60-*.log", "/prune.py", "/step60/"),
        }

    def look(self) -> None:
        for name, (logs, log, *words) in list(self.left.items()):
            if any(logs.glob(log)) and (result := step_running(*words)):
                getattr(self, name)(*result)
                del self.left[name]

    def requeued(self, process: int, job: str) -> None:
        subprocess.run(["scontrol", "requeue", job], check=True)
        queued = ["squeue", "--noheader", "--format=%r", f"--jobs={job}"]
        while "BeginTime" not in subprocess.run(queued, capture_output=True, text=True).stdout:
            time.sleep(0.2)
        subprocess.run(["scontrol", "update", f"JobId={job}", "StartTime=now"], check=True)  # not in two minutes

    def stopped(self, process: int, job: str) -> None:
        """A step that hangs, in a job whose time is up after a minute."""
        os.kill(process, signal.SIGSTOP)
        subprocess.run(["scontrol", "update", f"JobId={job}", "TimeLimit=1"], check=True)

    def killed(self, process: int, job: str) -> None:
        os.kill(process, signal.SIGKILL)


@pytest.fixture(scope="module")
def submitted(tmp_path_factory):
    """A small study through SLURM with every fault: its folder, its configuration, and what Snakemake said."""
    folder = tmp_path_factory.mktemp("slurm")
    values = yaml.safe_load(REDUCED.read_text())
    values["finetune"]["seeds"] = [1]
    values["grid"] = {key: values["grid"][key] for key in ("sparsities", "mid", "high", "checkpoints")}
    values["grid"] |= {"seeds": [42, 43], "curve_seeds": [42]}
    config = folder / "study.yaml"
    config.write_text(yaml.safe_dump(values))
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder)]
    command += ["--configfile", str(config), *site_profile(folder / "own", **OWN)]
    faults = Faults(folder)
    with open(folder / "said.txt", "w") as output:
        run = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        while run.poll() is None:
            faults.look()
            time.sleep(0.05)
    text = (folder / "said.txt").read_text()
    assert run.returncode == 0, text[-5000:]
    assert faults.left == {}
    return folder, config, text


@pytest.mark.slow
@real
def test_a_study_through_slurm_is_the_same_in_every_byte(submitted, tmp_path):
    folder, config, _ = submitted
    snakemake(tmp_path, config=config)
    here, there = (
        {name: content for name, content in results(of).items() if not Path(name).name.startswith(".")}
        for of in (tmp_path, folder)  # hidden files are those of killed steps, and the empty mark of a checked model
    )
    assert len(here) > 100 and sorted(here) == sorted(there)
    assert [name for name in here if here[name] != there[name]] == []


@pytest.mark.slow
@real
def test_each_fault_was_noticed_and_the_message_names_logs_that_say_why(submitted):
    folder, _, text = submitted
    messages = re.findall(r"message: Error in group (\w+)\n +log: (\S+) (.*?)\n\S", text, re.S)
    assert {name for name, *_ in messages} == {"initial_attention", "small_subnetworks_ft1_step60"}, (
        "a requeued job did not fail"
    )
    why = {"initial_attention": "DUE TO TIME LIMIT", "small_subnetworks_ft1_step60": "Killed"}
    for name, slurm_log, members in messages:
        assert why[name] in Path(slurm_log).read_text()
        logs = re.findall(r"^ +log: (\S+)", members, re.M)
        assert any((folder / log).exists() for log in logs)


@pytest.mark.slow
@real
def test_what_ran_through_slurm_has_nothing_to_do_here(submitted):
    folder, config, _ = submitted
    done = snakemake(folder, "--dry-run", "--quiet", "rules", config=config)
    assert parse_job_counts(done.stdout + done.stderr).total() == 0
