"""Publishing: which subnetworks, under which licence, as what folder, and with which card."""

import json

import numpy as np
import pandas as pd
import pytest
import yaml
from conftest import ROOT
from mentions import mentions, raises
from reduced import RUNS, STUDY, snakemake
from test_scripts import script

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.subnetworks.archive.cards import Origin
from heuristic_core.experiments.subnetworks.archive.publishing import infer_licence, select_subnetworks
from heuristic_core.experiments.subnetworks.config import load_study
from heuristic_core.experiments.subnetworks.jobs import publish as publishing
from heuristic_core.tables.parquet import read_table, write_table

CELL = "ft1/step60/s0.4/seed42"


def publish(study, index, *cells, runs_table=None):
    """Run the script on the finished study in `study`, with these subnetworks."""
    runs, tables = study / RUNS, study / "results" / "reduced" / "tables"
    words = ["--root", study / "results" / "reduced", "--licence", "mit", "--settings", tables.parent / "study.json"]
    words += ["--accuracy", tables / "accuracy.parquet", "--groups", tables / "group_accuracy.parquet"]
    words += ["--subnetworks", *(runs / cell / "subnetwork.json" for cell in cells), "--index", index]
    words += ["--runs", runs_table] if runs_table else []
    script("publish").main([str(part) for part in [*words, "--log", index.with_suffix(".log")]])
    return index.with_name("ft1-s0.4-seed42")


def header(card):
    return yaml.safe_load(card.read_text().split("---\n")[1])


@pytest.fixture(scope="module")
def folder(finished, tmp_path_factory):
    return publish(finished, tmp_path_factory.mktemp("published") / "README.md", CELL)


def test_transformers_alone_computes_what_the_study_computes(finished, folder):
    """In float32 but for rounding; in float64 the checkpoint is the masked model to 1e-6."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    from heuristic_core.data.encoded import Encoded
    from heuristic_core.models.ablation import Ablation, ComponentMeans, gates_without
    from heuristic_core.models.batches import PairTensors
    from heuristic_core.models.hooked import HookedModel
    from heuristic_core.pruning.subnetwork import Subnetwork

    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    sentences = read_table(finished / RUNS / "data/sentences/evaluation.parquet")
    encoded = tokenizer(*(sentences[item].tolist() for item in ("sentence1", "sentence2")), padding=True,
                        return_tensors="pt")  # fmt: skip
    stored = np.stack(read_table(finished / RUNS / CELL / "predictions.parquet")["logits"].tolist())
    with torch.no_grad():
        assert np.abs(model(**encoded).logits.numpy() - stored).max() < 3e-6
        exact = model.double()(**encoded).logits
    step = finished / RUNS / "ft1/step60"
    hooked = HookedModel.load(step / "checkpoint", dtype=torch.float64)
    removed = Subnetwork.load(folder / "subnetwork.json").list_removed(hooked.grid)
    means = ComponentMeans.load(step / "means.safetensors").to(hooked)
    pairs = PairTensors(Encoded.load(finished / RUNS / "data/encoded/evaluation.safetensors"), hooked.pad)
    edit = Ablation(gates_without(removed, hooked.grid), means, hooked.grid)
    masked = hooked.logits(pairs.batch(torch.arange(len(pairs))), edit)
    assert len(removed) == 4 and masked.dtype == torch.float64
    assert (exact - masked).abs().max() < 1e-6


def test_a_card_says_what_it_is_how_accurate_and_what_it_is_not_for(finished, folder):
    text = (folder / "README.md").read_text()
    assert mentions(text, "40 %", 42, "| fine-tuning seed | 1 |")
    accuracy = read_table(finished / "results/reduced/tables/group_accuracy.parquet")
    of_cell = (accuracy["ft_seed"] == 1) & (accuracy["step"] == 60) & (accuracy["sparsity"] == 0.4)
    (row,) = accuracy[
        of_cell & (accuracy["seed"] == 42) & (accuracy["repeat"] == 0) & (accuracy["group"] == "id")
    ].itertuples()
    assert f"| ID | {row.accuracy:.1f} [{row.low:.1f}, {row.high:.1f}] |" in text
    result = header(folder / "README.md")
    assert (result["license"], result["library_name"]) == ("mit", "transformers") and "base_model" not in result
    results = result["model-index"][0]["results"]
    assert [item["dataset"]["config"] for item in results] == ["ID", "OOD", "OOD-entailment"]
    assert results[0]["metrics"][0]["value"] == round(row.accuracy / 100, 4)
    assert str(ROOT) not in text and str(finished) not in text
    assert "[ft1-s0.4-seed42](ft1-s0.4-seed42)" in (folder.parent / "README.md").read_text()


@pytest.mark.parametrize("low", [50.0, 39.0])  # at chance, and below
def test_a_subnetwork_at_chance_says_so_and_claims_no_accuracy(copy, tmp_path, low):
    runs = copy / "results/reduced/tables/runs.parquet"
    (copy / "results/reduced/provenance/tables/runs.parquet.json").unlink()
    rows = read_table(runs)
    rows["chance"], rows["id_accuracy"], rows["id_low"] = 50.0, 55.0, low
    write_table("runs", rows, runs)
    card = publish(copy, tmp_path / "README.md", CELL, runs_table=runs) / "README.md"
    assert "model-index" not in header(card)
    assert any(mentions(line, "ID", 55.0, f"{low:.1f}") for line in card.read_text().splitlines())
    (row,) = (line for line in (tmp_path / "README.md").read_text().splitlines() if "(ft1-s0.4-seed42)" in line)
    rows["id_low"] = 51.0
    write_table("runs", rows, runs)
    card = publish(copy, tmp_path / "README.md", CELL, runs_table=runs) / "README.md"
    (other,) = (line for line in (tmp_path / "README.md").read_text().splitlines() if "(ft1-s0.4-seed42)" in line)
    assert "model-index" in header(card) and row != other  # which no longer says at chance


def test_publishing_again_touches_nothing_and_mends_what_was_damaged(finished, tmp_path):
    index = tmp_path / "hub" / "README.md"
    folder = publish(finished, index, CELL)
    before = {path.name: (path.stat().st_ino, path.read_bytes()) for path in folder.iterdir()}
    left = folder.with_name(f".{folder.name}.partial")  # of a job that was killed
    left.mkdir()
    publish(finished, index, CELL)
    assert {path.name: (path.stat().st_ino, path.read_bytes()) for path in folder.iterdir()} == before
    assert not left.exists()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").unlink()
    publish(finished, index, CELL)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {k: v for k, (_, v) in before.items()}


def test_a_job_that_fails_leaves_no_half_of_a_folder(finished, tmp_path, monkeypatch):
    index = tmp_path / "README.md"
    monkeypatch.setattr(publishing, "render_card", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        publish(finished, index, CELL)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["README.log"]


def test_a_run_that_failed_is_named_and_has_no_folder(copy):
    failed = copy / RUNS / "ft1/step60/s0.4/seed43/subnetwork.json"
    identity = json.loads(failed.read_text())["identity"]
    failed.write_text(json.dumps({"identity": identity, "failed": "diverged by step 70", "kept": None}))
    (copy / "results/reduced/provenance" / failed.relative_to(copy / "results/reduced")).with_suffix(
        ".json.json"
    ).unlink()
    index = copy / "hub" / "README.md"
    publish(copy, index, CELL, "ft1/step60/s0.4/seed43")
    assert sorted(path.name for path in index.parent.iterdir() if path.is_dir()) == ["ft1-s0.4-seed42"]
    assert mentions(index.read_text(), "ft1-s0.4-seed43", "diverged by step 70")


def test_all_of_the_last_checkpoint_are_chosen_or_some():
    assert len(select_subnetworks(STUDY)) == 2 * 2 * 3
    ((ft_seed, cell),) = select_subnetworks(STUDY, "ft_seed=2 seed=43 sparsity=0.4")
    assert (ft_seed, cell) == (2, (60, 0.4, 43))


@pytest.mark.parametrize(
    ("text", "named"),
    [("seed=99", ("seed=99", 42, 43, 44)), ("head=1", ("publish", "'head=1'", "ft_seed", "sparsity", "seed"))],
)
def test_a_choice_that_nothing_has_is_refused_with_what_there_is(text, named):
    with raises(InputError, *named):
        select_subnetworks(STUDY, text)


def test_a_card_knows_licence_origin_and_heuristic_as_far_as_the_study_says():
    assert infer_licence(STUDY, "MIT") == infer_licence(load_study(ROOT / "config.yaml"), "MIT") == "mit"
    theirs = load_study(ROOT / "config" / "paper-mnli-bert.yaml")
    assert infer_licence(theirs, "MIT") is None and infer_licence(theirs, "MIT", "apache-2.0") == "apache-2.0"
    origin = Origin(theirs.model_dump(mode="json"), "apache-2.0")
    assert len({*origin.heuristic_phrases}) == 2
    assert all(mentions(phrase, theirs.task.heuristic) for phrase in origin.heuristic_phrases)
    other = theirs.model_copy(update={"task": theirs.task.model_copy(update={"heuristic": None})})
    assert Origin(other.model_dump(mode="json"), "apache-2.0").heuristic_phrases == ("", "")
    assert origin.base_model == theirs.model.hub and theirs.model.revision in origin.base_description


@pytest.mark.slow
def test_a_licence_that_nobody_knows_is_asked_for_before_anything_runs(tmp_path):
    done = snakemake(tmp_path, "--", "publish", config=ROOT / "config" / "paper-mnli-bert.yaml", check=False)
    assert done.returncode and "make publish LICENCE=apache-2.0" in done.stdout + done.stderr
    assert not pd.Series([*tmp_path.rglob("*.safetensors")]).any()


@pytest.mark.slow
def test_the_workflow_publishes_what_is_asked_for(copy):
    snakemake(copy, "--config", "publish=seed=42 ft_seed=1", "--", "publish")
    hub = copy / "results" / "reduced" / "hub"
    assert sorted(path.name for path in hub.iterdir() if path.is_dir()) == ["ft1-s0.2-seed42", "ft1-s0.4-seed42"]
