"""Pruning and fine-tuning, killed with SIGKILL at random moments and run again, end with an undisturbed run's bytes."""

import json
import random
import re
import subprocess
import sys
import time

import pytest
import torch
from conftest import ROOT
from reduced import RUNS, snakemake
from safetensors.torch import save_file

from heuristic_core.config.pruning import Prune
from heuristic_core.evaluation.evaluate import all_logits
from heuristic_core.models.ablation import component_means
from heuristic_core.plan.jobs import Listed
from heuristic_core.pruning.subnetwork import Subnetwork
from heuristic_core.tables.parquet import read_table

SEEDS = (1, 2)
KILLS = 3
PRUNE = Prune(
    rise=1200, hold=400, batch_size=8, log_alpha_mean=2.0, learning_rate=0.2, controller_learning_rate=0.1,
    warmup_steps=10, examples=60, mean_examples=60, save_every=20, together=2,
)  # fmt: skip


def command(inputs, out):
    given = {
        "prune": PRUNE.model_dump_json(), "study": "s", "model-name": "m", "task-name": "t", "ft-seed": 1, "step": 20,
        "sparsity": 0.4, "log": out / "log", **{name: inputs / name for name in ("means", "logits", "train")},
    }  # fmt: skip
    lists = {"seeds": SEEDS} | {name: [out / f"{name}{seed}" for seed in SEEDS] for name in ("subnetworks", "traces")}
    parts = [part for name, value in given.items() for part in (f"--{name}", value)]
    parts += [part for name, values in lists.items() for part in (f"--{name}", *values)]
    return [sys.executable, str(ROOT / "workflow/scripts/prune.py"), *map(str, parts)]


@pytest.mark.slow
def test_pruning_killed_at_random_moments_ends_with_the_same_bytes(fused, pairs, encoded, checkpoint, tmp_path):
    component_means(fused, pairs, torch.arange(len(pairs)).split(16)).save(tmp_path / "means")
    save_file({"logits": all_logits(fused, pairs)}, tmp_path / "logits")
    encoded.save(tmp_path / "train")
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    ordinary, killed = ([*command(tmp_path, out), "--checkpoint", str(checkpoint)] for out in (whole, cut))
    subprocess.run(ordinary, check=True, capture_output=True)

    rng, left, state = random.Random(0), [], cut / ".unfinished" / "state.safetensors"
    for _ in range(KILLS):
        left.append(state.stat().st_mtime_ns if state.is_file() else None)
        running = subprocess.Popen(killed, stderr=subprocess.DEVNULL)
        # Counted from the first state saved in this life, so that every life gets somewhere, however slow the machine.
        while running.poll() is None and (not state.is_file() or state.stat().st_mtime_ns == left[-1]):
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.4))
        running.kill()
        running.wait()
        for seed in SEEDS:  # what bears the name of a result is a whole one
            if (cut / f"subnetworks{seed}").exists():
                assert len(Subnetwork.load(cut / f"subnetworks{seed}").kept) == 9
            if (cut / f"traces{seed}").exists():
                assert len(read_table(cut / f"traces{seed}")) == 161
    assert state.is_file() and not (cut / f"subnetworks{SEEDS[-1]}").exists()  # it was not over yet
    subprocess.run(killed, check=True, capture_output=True)
    assert "resuming after step" in (cut / "log").read_text()
    for name in (f"{kind}{seed}" for kind in ("subnetworks", "traces") for seed in SEEDS):
        assert (whole / name).read_bytes() == (cut / name).read_bytes(), name
    assert not (cut / ".unfinished").exists()


def command_of(folder, target):
    """What the workflow runs to make `target`, without a record: the script and its arguments."""
    told = snakemake(folder, "--dry-run", "--logger", "jobs", "--force", target).stdout
    listed = [Listed(**json.loads(line)) for line in told.splitlines()]
    words = next(job.words for job in listed if target in job.outputs)
    return [sys.executable, str(ROOT / "workflow" / "scripts" / f"{words[1]}.py"), *words[2 : words.index("--code")]]


@pytest.mark.slow
def test_fine_tuning_killed_at_random_moments_ends_with_the_same_bytes(finished, tmp_path):
    folder = f"{RUNS}/ft1"
    command = command_of(finished, f"{folder}/trace.parquet")
    for option in ("--trace", "--predictions"):
        command[command.index(option) + 1] = str(tmp_path / option[2:])
    command = [word.replace(folder, str(tmp_path)) if word.endswith("/checkpoint") else word for word in command]
    command += ["--log", str(tmp_path / "log")]
    log, state = tmp_path / "log", tmp_path / ".unfinished" / "state.safetensors"
    draws, resumed, longest = random.Random(0), [], 0.8
    for _ in range(KILLS + 1):
        log.unlink(missing_ok=True)
        running = subprocess.Popen(command, cwd=finished, stderr=subprocess.DEVNULL)
        while running.poll() is None and not (log.exists() and state.exists()):  # the log is opened after the imports
            time.sleep(0.01)
        time.sleep(draws.uniform(0, longest))
        running.kill()
        running.wait()
        if not state.exists():  # a fast machine: the run was over
            longest /= 8
        cut_off = state.with_name("step60")
        if state.exists() and not cut_off.exists():  # as a run leaves it that is killed while it writes the checkpoint
            cut_off.mkdir()
            (cut_off / ".tmpcut").touch()
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
