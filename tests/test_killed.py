"""Pruning and fine-tuning, killed with SIGKILL at random moments and run again, end with an undisturbed run's bytes."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from conftest import ROOT
from mentions import mentions
from reduced import RUNS, STUDY
from safetensors.torch import save_file

from heuristic_core.config.pruning import Prune
from heuristic_core.interventions.evaluate import all_logits
from heuristic_core.models.ablation import component_means
from heuristic_core.pruning.subnetwork import Subnetwork
from heuristic_core.tables.parquet import read_table
from heuristic_core.training.saved_state import load_state

SEEDS = (1, 2)
KILLS = 3
CHECKPOINTS = (60, 400)  # of fine-tuning
PRUNE = Prune(
    rise=1200, hold=400, batch_size=8, log_alpha_mean=2.0, learning_rate=0.2, controller_learning_rate=0.1,
    warmup_steps=10, examples=60, mean_examples=60, save_every=20, together=2,
)  # fmt: skip


def command(inputs, out):
    options = {
        "prune": PRUNE.model_dump_json(), "study": "s", "model-name": "m", "task-name": "t", "ft-seed": 1, "step": 20,
        "log": out / "log", **{name: inputs / name for name in ("means", "logits", "train")},
    }  # fmt: skip
    lists = {"seeds": SEEDS, "sparsities": [0.4] * len(SEEDS)}
    lists |= {name: [out / f"{name}{seed}" for seed in SEEDS] for name in ("subnetworks", "traces")}
    parts = [part for name, value in options.items() for part in (f"--{name}", value)]
    parts += [part for name, values in lists.items() for part in (f"--{name}", *values)]
    return [sys.executable, str(ROOT / "workflow/scripts/prune.py"), *map(str, parts)]


def saved_step(state: Path) -> int | None:
    """The step that a killed run has saved."""
    saved = load_state(state)
    return saved and saved[1]["step"]


def begins_at(log: Path, step: int | None) -> bool:
    """Whether the log names the step from which its run goes on, beside what it reports of its progress."""
    lines = [line for line in log.read_text().splitlines() if "%" not in line]
    return step is not None and any(mentions(line, "step", step) for line in lines)


@pytest.mark.slow
def test_pruning_killed_at_random_moments_ends_with_the_same_bytes(fused, pairs, encoded, checkpoint, tmp_path):
    component_means(fused, pairs, torch.arange(len(pairs)).split(16)).save(tmp_path / "means")
    save_file({"logits": all_logits(fused, pairs)}, tmp_path / "logits")
    encoded.save(tmp_path / "train")
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    ordinary, killed = ([*command(tmp_path, out), "--checkpoint", str(checkpoint)] for out in (whole, cut))
    subprocess.run(ordinary, check=True, capture_output=True)

    rng, left, state = random.Random(0), [], cut / ".unfinished-find_subnetworks" / "state.safetensors"
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
    step = saved_step(state)
    subprocess.run(killed, check=True, capture_output=True)
    assert begins_at(cut / "log", step)
    for name in (f"{kind}{seed}" for kind in ("subnetworks", "traces") for seed in SEEDS):
        assert (whole / name).read_bytes() == (cut / name).read_bytes(), name
    assert not (cut / ".unfinished-find_subnetworks").exists()


def finetuning(finished: Path, folder: Path, config: Path) -> list[str]:
    """Fine-tuning by hand, as a user would, on the data of the finished study."""
    data = finished / RUNS / "data"
    options = {
        "--model": config, "--finetune": config, "--study": "reduced", "--model-name": "mini-bert",
        "--task-name": "pairs", "--ft-seed": 1, "--train": data / "encoded/train.safetensors",
        "--evaluation": data / "encoded/evaluation.safetensors", "--subsets": data / "subsets.json",
        "--tokenizer": data / "tokenizer", "--trace": folder / "trace.parquet", "--arithmetic": STUDY.arithmetic,
        "--predictions": folder / "predictions.parquet", "--log": folder / "log",
    }  # fmt: skip
    arguments = [str(part) for pair in options.items() for part in pair]
    arguments += ["--checkpoints", *(str(folder / f"step{step}" / "checkpoint") for step in CHECKPOINTS)]
    return [sys.executable, str(ROOT / "workflow/scripts/finetune.py"), *arguments]


@pytest.mark.slow
def test_fine_tuning_killed_at_random_moments_ends_with_the_same_bytes(finished, changed, tmp_path):
    """First killed with a checkpoint and a state saved, then at random."""
    longer = changed(
        finetune__steps=CHECKPOINTS[-1], finetune__checkpoints=list(CHECKPOINTS), grid__checkpoints=list(CHECKPOINTS),
        grid__early=None,
    )  # fmt: skip
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    subprocess.run(finetuning(finished, whole, longer), check=True, capture_output=True)
    command, log = finetuning(finished, cut, longer), cut / "log"
    first, state = (
        cut / ".unfinished-finetune_checkpoints" / name for name in (f"step{CHECKPOINTS[0]}", "state.safetensors")
    )
    draws, resumed, longest = random.Random(0), [], 0.8
    for life in range(KILLS + 1):
        step = saved_step(state)
        log.unlink(missing_ok=True)
        running = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        # The log is opened after the imports.
        while running.poll() is None and not (log.exists() and state.exists() and (life or first.exists())):
            time.sleep(0.01)
        time.sleep(draws.uniform(0, longest) if life else 0)
        running.kill()
        running.wait()
        if not life:
            assert not (cut / first.name).exists() and not (cut / "trace.parquet").exists()
        if not state.exists():  # a fast machine: the run was over
            longest /= 8
        cut_off = state.with_name(f"step{CHECKPOINTS[-1]}")
        if state.exists() and not cut_off.exists():  # as a run leaves it that is killed while it writes the checkpoint
            cut_off.mkdir()
            (cut_off / ".tmpcut").touch()
        resumed += [step] if begins_at(log, step) else []
    step = saved_step(state)
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    resumed += [step] if begins_at(log, step) else []
    made = [path.relative_to(cut) for path in cut.rglob("*") if path.is_file() and path != log]
    assert set(made) == {path.relative_to(whole) for path in whole.rglob("*") if path.is_file()} - {Path("log")}
    assert {path.parts[0] for path in made} == {"step60", "step400", "trace.parquet", "predictions.parquet"}
    for path in made:
        assert (whole / path).read_bytes() == (cut / path).read_bytes(), path
    assert resumed, "no kill hit a run between its saved states"
