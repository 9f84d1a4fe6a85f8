"""The real workflow through its own command line, on a reduced study: what it makes, repeats, reruns and survives."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT
from mentions import mentions
from reduced import OWN, RUNS, STUDY, planned, snakemake

from heuristic_core.common.arithmetic import NATIVE, PORTABLE, supports_portable
from heuristic_core.config.claims import load_claims
from heuristic_core.experiments.subnetworks.analysis.claims import judge_claims
from heuristic_core.experiments.subnetworks.analysis.outcomes import format_warning
from heuristic_core.experiments.subnetworks.config.cells import list_cells, repeated_cells
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.experiment import EXPERIMENT
from heuristic_core.experiments.subnetworks.figures.targets import TARGETS
from heuristic_core.figures.targets import target_files
from heuristic_core.pruning.subnetwork import Subnetwork
from heuristic_core.tables.parquet import read_table
from heuristic_core.tables.schemas import SCHEMAS, get_schema

# Schemas of files that are no table of a study of ours.
NO_TABLE_OF_A_STUDY = {
    "sentences",
    "predictions",
    "finetune_predictions",
    "actual_sparsity",
    "differences",
    "replicates",
}
NO_TABLE_OF_A_STUDY |= {name for name, table in EXPERIMENT.tables.items() if not table.exists(STUDY)}


def test_every_figure_and_table_stands_there(finished):
    for name in OWN:
        for path in target_files("results/reduced", name):
            assert (finished / path).stat().st_size > 0, path
    report = (finished / "results/reduced/report.html").read_text()
    assert all(name in report for name in OWN)


def test_every_job_computed_in_the_arithmetic_of_the_study(finished):
    computed = read_table(finished / "results/reduced/tables/provenance.parquet")["arithmetic"]
    assert set(computed) == {PORTABLE if supports_portable() else NATIVE}


def test_tables_have_their_schemas_and_one_row_per_observation(finished):
    paths = (finished / "results/reduced/tables").glob("*.parquet")
    tables = {path.stem: read_table(path) for path in paths if path.stem not in TARGETS}
    of_others = {name for name in SCHEMAS if name.startswith(("sorting_", "extractive_"))}  # where imported
    assert set(tables) == set(SCHEMAS) - NO_TABLE_OF_A_STUDY - of_others
    for name, table in tables.items():
        assert list(table.columns) == get_schema(name).names
        assert len(table) or name == "triples", name  # of a core of three heads or fewer there are none
    runs, size = len(STUDY.finetune.seeds), 2 * 4 + 2
    assert len(tables["components"]) == runs * (len(list_cells(STUDY)) + len(repeated_cells(STUDY))) * size
    models = ["ft_seed", "step", "sparsity", "seed", "repeat"]
    per_model = tables["accuracy"].groupby(models, dropna=False).size()
    assert len(per_model) == runs * (
        len(list_cells(STUDY)) + len(repeated_cells(STUDY)) + len(STUDY.finetune.checkpoints)
    )
    predictions = [read_table(p) for p in sorted((finished / "results/reduced/tables/predictions").iterdir())]
    assert sum(map(len, predictions)) == tables["accuracy"]["n"].sum()


def test_claims_and_their_preconditions_read_no_table_that_their_entries_lack(finished):
    tables = {path.stem: read_table(path) for path in (finished / "results/reduced/tables").glob("*.parquet")}
    tables = {name: table for name, table in tables.items() if name in {"claims", *EXPERIMENT.tables}}
    claims = tables.pop("claims")
    runs = {name: table for name, table in tables.items() if "ft_seed" in table}
    judged = judge_claims(Context.from_study(STUDY), runs, load_claims(EXPERIMENT.claims))
    assert judged["detail"].tolist() == claims["detail"].tolist()


def test_the_empty_circuit_gives_one_class_to_all_pairs(finished):
    """BERT's classifier reads one fixed token: OOD and entailment pairs are all right, or all wrong."""
    rows = read_table(finished / "results/reduced/tables/empty_circuit.parquet")
    models = rows.groupby(["ft_seed", "step"])
    assert models.ngroups == len(STUDY.finetune.seeds) * len(STUDY.grid.checkpoints)
    for _, of_model in models:
        by_group = of_model.groupby("group")["accuracy"].unique().map(list)
        assert by_group["ood"] in ([0.0], [100.0])
        assert by_group["ood-entailment"] == [100 - by_group["ood"][0]]


def test_subnetworks_keep_exactly_k_components(finished):
    files = sorted((finished / RUNS).glob("ft*/step*/s*/seed*/subnetwork.json"))
    assert len(files) == len(STUDY.finetune.seeds) * len(list_cells(STUDY))
    for file in files:
        result = Subnetwork.load(file)
        assert len(result.kept) == round((1 - result.identity.sparsity) * 10)
        assert file.parts[-2] == f"seed{result.identity.seed}"


def test_checkpoints_are_ordinary_hugging_face_folders(finished):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = finished / RUNS / "ft1" / "step60" / "checkpoint"
    model, tokenizer = AutoModelForSequenceClassification.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)
    logits = model(**tokenizer("kings slept", "kings danced", return_tensors="pt")).logits
    assert logits.shape == (1, 3)
    assert model.config.id2label == {0: "entailment", 1: "neutral", 2: "contradiction"}


def test_every_job_left_a_log(finished):
    logs = {
        str(p.relative_to(finished / "results/reduced/logs")) for p in finished.glob("results/reduced/logs/**/*.log")
    }
    assert {"sentences.log", "finetune/ft1.log", "prune/ft2-step60-s0.4-seed44.log", "figures/figure06.log"} <= logs
    assert "60/60" in (finished / "results/reduced/logs/finetune/ft1.log").read_text()
    assert "20/20" in (finished / "results/reduced/logs/prune/ft1-step30-s0.2-seed42.log").read_text()


def test_a_second_run_has_nothing_to_do(finished):
    assert "Nothing to be done" in (finished / "again.txt").read_text()


@pytest.mark.slow
def test_the_terminal_ends_with_what_went_wrong_with_pruning(finished, tmp_path):
    for name in ("results", ".snakemake"):
        shutil.copytree(finished / name, tmp_path / name)
    (tmp_path / "results/reduced/report.html").unlink()
    done = snakemake(tmp_path)
    runs = read_table(tmp_path / "results/reduced/tables/runs.parquet")
    warning = f"reduced: {format_warning(runs)} See results/reduced/report.html"
    assert (done.stdout + done.stderr).splitlines()[-8:].count(warning) == 1


def test_a_repeated_run_alone_finds_the_same_subnetwork(finished):
    for name in ("s0.2", "s0.4"):
        cell = finished / RUNS / "ft1/step60" / name / "seed42"
        first, again = (Subnetwork.load(folder / "subnetwork.json") for folder in (cell, cell / "repeat1"))
        assert (first.kept, first.log_alpha) == (again.kept, again.log_alpha)
        assert (first.identity.repeat, again.identity.repeat) == (0, 1)


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"grid__mid": 1.2}, ("grid.mid", 1.2)),
        ({"grid__mid": 0.3}, ("mid", 0.3, "sparsities", "[0.2, 0.4]")),
        ({"finetune__checkpoints": [30, 90]}, ("checkpoints", 90)),
        ({"finetune__seeds": [1, 1]}, ("finetune.seeds", 1)),
        ({"prune__learning_rat": 1}, ("prune.learning_rat", 1, "learning_rate")),
        ({"finetune__steps": "many"}, ("finetune.steps", "'many'")),
    ],
)
def test_a_faulty_configuration_ends_with_one_message_and_no_job(tmp_path, changed, settings, named):
    done = snakemake(tmp_path, config=changed(**settings), check=False, fork=True)
    text = done.stdout + done.stderr
    assert done.returncode == 1
    assert sum(mentions(line, *named) for line in text.splitlines()) == 1
    assert mentions(text, "changed.yaml")
    assert "Traceback" not in text
    assert not (tmp_path / "results").exists()


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


@pytest.mark.slow
def test_a_killed_workflow_leaves_nothing_that_counts_as_finished(finished, changed, tmp_path):
    """Snakemake and its jobs get SIGKILL while a subnetwork is pruned; the next run makes it again."""
    folder = tmp_path / "copy"
    shutil.copytree(finished, folder, symlinks=True)
    target = f"{RUNS}/ft1/step60/s0.4/seed44/subnetwork.json"
    log = folder / "results/reduced/logs/prune/ft1-step60-s0.4-seed44.log"
    log.unlink()
    endless = changed(prune__hold=1_000_000)
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder)]
    command += ["--configfile", str(endless), "--cores", "1", "--", target]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    wait_for(lambda: log.is_file() and "prune" in log.read_text())
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    assert not (folder / target).exists()
    snakemake(folder, "--unlock")  # the killed Snakemake could not do that itself
    snakemake(folder, "--rerun-incomplete", "--", target)
    assert len(Subnetwork.load(folder / target).kept) == 6


def prune_arguments(finished: Path, out: Path, config: Path, sparsity: str = "0.4", seed: str = "42") -> list[str]:
    step = finished / RUNS / "ft1" / "step60"
    options = {
        "--prune": config,
        "--study": "reduced",
        "--model-name": "mini-bert",
        "--task-name": "pairs",
        "--ft-seed": 1,
        "--step": 60,
        "--sparsities": sparsity,
        "--seeds": seed,
        "--checkpoint": step / "checkpoint",
        "--means": step / "means.safetensors",
        "--logits": step / "logits.safetensors",
        "--train": finished / RUNS / "data/encoded/train.safetensors",
        "--subnetworks": out / "subnetwork.json",
        "--traces": out / "trace.parquet",
        "--arithmetic": STUDY.arithmetic,
        "--log": out / "log",
    }
    return [str(ROOT / "workflow/scripts/prune.py"), *(str(part) for pair in options.items() for part in pair)]


@pytest.mark.slow
def test_runs_that_share_a_pass_share_a_job_and_find_the_same_subnetworks(finished, changed, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(finished, folder, symlinks=True)
    config = changed(prune__together=2)
    jobs = planned(folder, config)
    assert jobs["prune"] == 2 * (2 * 2 + 1)  # of two fine-tuning seeds: 42 and 43 at two steps, 44 at the last
    assert jobs["evaluate"] == jobs["prune"]
    step = f"{RUNS}/ft1/step60"
    snakemake(folder, "--", f"{step}/s0.4/seed43/subnetwork.json", config=config)
    for sparsity in (0.2, 0.4):
        cell = f"{step}/s{sparsity}/seed43/subnetwork.json"
        alone, shared = (Subnetwork.load(place / cell) for place in (finished, folder))
        assert (alone.identity, alone.kept) == (shared.identity, shared.kept)
        assert alone.log_alpha == pytest.approx(shared.log_alpha, abs=1e-4)
