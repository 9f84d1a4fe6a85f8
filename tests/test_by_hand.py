"""Scripts by hand and forks of the fork server, on the reduced study."""

import subprocess
import sys
import time

import numpy as np
import pytest
from conftest import ROOT
from reduced import REDUCED, RUNS, STUDY
from test_workflow import prune_arguments, wait_for

from heuristic_core.tables.parquet import read_table, write_table


def script(name: str, **options) -> None:
    """Run a script by hand; an underscore in an option becomes a dash, True for an option without a value."""
    options |= {"arithmetic": STUDY.arithmetic}
    words = [
        part
        for key, value in options.items()
        for part in (f"--{key.replace('_', '-')}", *([] if value is True else [str(value)]))
    ]
    subprocess.run([sys.executable, str(ROOT / f"workflow/scripts/{name}.py"), *words], check=True, capture_output=True)


@pytest.mark.slow
def test_a_subnetwork_becomes_an_ordinary_checkpoint(finished, tmp_path):
    """Loaded by transformers alone, it predicts what the workflow's evaluation says."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    step = finished / RUNS / "ft1" / "step60"
    cell = step / "s0.4" / "seed42"
    inputs = {"checkpoint": step / "checkpoint", "means": step / "means.safetensors"}
    script("shrink", **inputs, subnetwork=cell / "subnetwork.json", folder=tmp_path / "small")
    model = AutoModelForSequenceClassification.from_pretrained(tmp_path / "small").eval()
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "small")
    sentences = read_table(finished / RUNS / "data/sentences/evaluation.parquet")
    predicted = read_table(cell / "predictions.parquet")
    first, second = (sentences[column].tolist()[:40] for column in ("sentence1", "sentence2"))
    logits = model(**tokenizer(first, second, padding=True, return_tensors="pt")).logits.detach().numpy()
    assert np.abs(logits - np.stack(predicted["logits"].tolist()[:40])).max() < 1e-4


@pytest.mark.slow
def test_evaluation_by_hand_knows_other_kinds_of_ablation(finished, tmp_path):
    step = finished / RUNS / "ft1" / "step60"
    inputs = {"checkpoint": step / "checkpoint", "means": step / "means.safetensors"}
    inputs |= {"subnetworks": step / "s0.4/seed42/subnetwork.json"}
    inputs |= {"evaluation": finished / RUNS / "data/encoded/evaluation.safetensors"}
    logits = {}
    logits["mean"] = np.stack(read_table(step / "s0.4/seed42/predictions.parquet")["logits"].tolist())  # the workflow's
    for kind in ("zero", "resample"):
        donors = {"train": finished / RUNS / "data/encoded/train.safetensors"} if kind == "resample" else {}
        script("evaluate", **inputs, **donors, ablation=kind, predictions=tmp_path / f"{kind}.parquet")
        logits[kind] = np.stack(read_table(tmp_path / f"{kind}.parquet")["logits"].tolist())
    for first_kind, second_kind in (("mean", "zero"), ("mean", "resample"), ("zero", "resample")):
        assert np.abs(logits[first_kind] - logits[second_kind]).max() > 1e-3


def warm_command() -> list[str]:
    return [sys.executable, "-IS", str(ROOT / "workflow/fork_server/run.py"), "test"]


@pytest.mark.slow
def test_a_script_by_hand_gives_what_its_fork_in_the_workflow_gave(finished, tmp_path):
    subprocess.run([sys.executable, *prune_arguments(finished, tmp_path, REDUCED)], check=True, capture_output=True)
    made = finished / RUNS / "ft1/step60/s0.4/seed42"
    for name in ("subnetwork.json", "trace.parquet"):
        assert (made / name).read_bytes() == (tmp_path / name).read_bytes()


@pytest.mark.slow
def test_a_fork_passes_on_its_exit_status_and_messages(finished, tmp_path):
    nothing_else = [str(ROOT / "workflow/scripts/prune.py"), "--arithmetic", STUDY.arithmetic]
    done = subprocess.run([*warm_command(), *nothing_else], capture_output=True, text=True)
    assert done.returncode == 2
    assert "--means" in done.stderr
    broken = prune_arguments(finished, tmp_path, REDUCED)
    broken[broken.index("--means") + 1] = str(tmp_path / "absent.safetensors")
    done = subprocess.run([*warm_command(), *broken], capture_output=True, text=True)
    assert done.returncode == 1
    assert "absent.safetensors" in done.stderr
    assert "absent.safetensors" in (tmp_path / "log").read_text()


@pytest.mark.slow
def test_a_fork_ends_with_the_process_that_asked_for_it(finished, changed, tmp_path):
    endless = changed(prune__hold=1_000_000)
    running = subprocess.Popen([*warm_command(), *prune_arguments(finished, tmp_path, endless)])
    log = tmp_path / "log"
    wait_for(lambda: log.is_file() and "prune" in log.read_text())
    running.kill()
    running.wait()
    time.sleep(0.5)
    written = log.read_text()
    time.sleep(7)  # longer than the time between two lines of progress
    assert log.read_text() == written
    assert not (tmp_path / "subnetwork.json").exists()


@pytest.mark.slow
def test_a_core_of_five_heads_and_a_stable_core_of_six_are_ablated(finished, tmp_path):
    """The core's three strongest heads are tested on other pairs; what is not in a core is ablated around it."""
    run = finished / RUNS / "ft1"
    core = read_table(run / "core.parquet")
    heads = core["kind"] == "head"
    sizes = {"in_core": 5, "in_stable_core": 6}
    chosen = {name: heads & (core["component"] < size) for name, size in sizes.items()}
    write_table("core", core.assign(**chosen), tmp_path / "core.parquet")
    inputs = {"checkpoint": run / "step60/checkpoint", "means": run / "step60/means.safetensors"}
    inputs |= {"evaluation": finished / RUNS / "data/encoded/evaluation.safetensors", "core": tmp_path / "core.parquet"}
    inputs |= {name: finished / RUNS / f"data/encoded/{name}.safetensors" for name in ("train", "minimal")}
    identity = {"study": "reduced", "model_name": "mini-bert", "task_name": "pairs", "ft_seed": 1, "step": 60}
    outputs = {name: tmp_path / f"{name}.parquet" for name in ("predictions", "sets")}
    script("ablate", **inputs, **identity, **outputs, analysis=REDUCED)
    tables = {name: tmp_path / f"{name}.parquet" for name in ("table", "triples")}
    script("ablations", **outputs, **tables, analysis=REDUCED)
    rows = read_table(tables["triples"])
    draws = STUDY.analysis.control_draws
    assert rows.groupby("role")["ablation"].nunique().to_dict() == {"triple": 1, "control-triple": draws}
    assert set(rows["size"]) == {3} and set(rows["kind"]) == {STUDY.analysis.ablation_kinds[0]}
    whole = read_table(tables["table"]).set_index(["kind", "ablation", "group", "subset"])["n"]
    tested = rows.set_index(["kind", "ablation", "group", "subset"])["n"]
    assert (2 * tested <= whole[tested.index]).all() and (2 * tested > 0.8 * whole[tested.index]).all()
    sets = read_table(tables["table"]).drop_duplicates(["kind", "ablation"])
    around = sets[sets["role"].str.contains("all-|stable")]
    assert set(around["kind"]) == {STUDY.analysis.ablation_kinds[0]}
    number = {"all-heads": 1} | {
        prefix + role: count
        for role in ("all-but-core", "stable-core", "all-but-stable-core")
        for prefix, count in (("", 1), ("control-", draws))
    }
    assert around["role"].value_counts().to_dict() == number
    size = around.groupby("role")["size"].agg(set)
    assert size["all-but-core"] == size["control-all-but-core"] == {heads.sum() - 5}
    assert size["stable-core"] == {6} and size["all-but-stable-core"] == {heads.sum() - 6}
