"""Long jobs that are killed for real, at random moments, go on from what they saved and end with the same bytes."""

import random
import re
import shlex
import subprocess
import sys
import time

import pytest
from reduced import ROOT, RUNS, snakemake

KILLS = 4


def command_of(folder, target):
    """What the workflow runs to make `target`: the script and its arguments, as `snakemake -n -p` prints them."""
    text = snakemake(folder, "--dry-run", "--printshellcmds", "--force", target).stdout
    name, rest = re.search(r"^Shell command: (?:step|fork) (\w+) (.+)$", text, re.MULTILINE).groups()
    return [sys.executable, str(ROOT / "workflow" / "scripts" / f"{name}.py"), *shlex.split(rest)]


@pytest.mark.workflow
def test_fine_tuning_killed_at_random_moments_ends_with_the_same_bytes(finished, tmp_path):
    folder = f"{RUNS}/ft1"
    command = command_of(finished, f"{folder}/trace.parquet")
    command[command.index("--folder") + 1] = str(tmp_path)
    for option in ("--trace", "--predictions", "--log"):
        command[command.index(option) + 1] = str(tmp_path / option[2:])
    log, state = tmp_path / "log", tmp_path / ".unfinished" / "state.safetensors"
    draws, resumed = random.Random(0), []
    for _ in range(KILLS):
        log.unlink(missing_ok=True)
        running = subprocess.Popen(command, cwd=finished, stderr=subprocess.DEVNULL)
        while running.poll() is None and not (log.exists() and state.exists()):  # the log is opened after the imports
            time.sleep(0.01)
        time.sleep(draws.uniform(0, 0.8))
        running.kill()
        running.wait()
        resumed += re.findall(r"resuming after step (\d+)", log.read_text())
    subprocess.run(command, cwd=finished, check=True, stderr=subprocess.DEVNULL)
    resumed += re.findall(r"resuming after step (\d+)", log.read_text())
    whole = finished / folder
    made = sorted(tmp_path.glob("step*/checkpoint/*"))
    assert {path.relative_to(tmp_path) for path in made} == {
        path.relative_to(whole) for path in whole.glob("step*/checkpoint/[!.]*")
    }
    for path in made:
        assert path.read_bytes() == (whole / path.relative_to(tmp_path)).read_bytes(), path.name
    assert (tmp_path / "trace").read_bytes() == (whole / "trace.parquet").read_bytes()
    assert (tmp_path / "predictions").read_bytes() == (whole / "evaluations.parquet").read_bytes()
    assert not (tmp_path / ".unfinished").exists()
    assert resumed, "no kill hit a run between its saved states"
