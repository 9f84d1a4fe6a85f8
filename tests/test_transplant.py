"""Masks of one checkpoint on the weights of another: the diagonal is the subnetwork itself."""

import json

import pandas as pd
import pytest
import torch
from claim_tables import CONTEXT, table
from conftest import make_encoded
from mentions import mentions
from test_scripts import script
from transformers import BertForSequenceClassification

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis.levels import append_means, average_by_subset
from heuristic_core.experiments.subnetworks.figures.figure_transplant import draw
from heuristic_core.interventions.evaluate import make_predictions, subnetwork_logits
from heuristic_core.models.ablation import component_means
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.fused import FusedModel
from heuristic_core.pruning.subnetwork import FailedRun, Subnetwork
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import read_table

STEPS, KEPT = (10, 20), {10: (0, 3, 5, 9, 12, 13), 20: (1, 2, 5, 8, 12, 14)}


@pytest.fixture(scope="module")
def made(bert, checkpoint, tmp_path_factory):
    """Two checkpoints, each with a mask of its own, a run that failed at the later one, and the table of all."""
    folder = tmp_path_factory.mktemp("transplant")
    later = BertForSequenceClassification.from_pretrained(checkpoint)
    with torch.no_grad():
        for k, weight in enumerate(later.parameters()):
            weight.add_(0.05 * torch.randn(weight.shape, generator=torch.Generator().manual_seed(k)))
    later.save_pretrained(folder / "later")
    encoded = make_encoded(60)
    encoded.save(folder / "evaluation.safetensors")
    models, files = {}, []
    for step, path in zip(STEPS, (checkpoint, folder / "later"), strict=True):
        model = FusedModel.load(path)
        pairs = PairTensors(encoded, model.pad)
        means = component_means(model, pairs, torch.arange(len(pairs)).split(20))
        means.save(folder / f"means{step}.safetensors")
        run = Identity("s", "m", "t", 1, step, 0.6, 42)
        subnetwork = Subnetwork(run, 3, 4, KEPT[step], tuple(range(15)))
        subnetwork.save(folder / f"mask{step}.json")
        files.append(folder / f"mask{step}.json")
        models[step] = model, pairs, means, path
    FailedRun(Identity("s", "m", "t", 1, 20, 0.6, 43), "diverged by step 7: kl nan").save(folder / "failed.json")
    options = {
        "mechanism": [json.dumps({"transplant": {}})],
        "analysis": ["{}"],
        "study": ["s"],
        "model-name": ["m"],
        "task-name": ["t"],
        "ft-seed": [1],
        "sparsity": [0.6],
        "steps": STEPS,
        "checkpoints": [models[step][3] for step in STEPS],
        "means": [folder / f"means{step}.safetensors" for step in STEPS],
        "subnetworks": [*files, folder / "failed.json"],
        "evaluation": [folder / "evaluation.safetensors"],
        "transplant": [folder / "out.parquet"],
    }
    script("transplant").main([str(part) for name, arguments in options.items() for part in (f"--{name}", *arguments)])
    return models, encoded, read_table(folder / "out.parquet")


def values(rows):
    return rows.set_index(["subset", "group", "family"])[["accuracy", "log_odds"]].astype(float)


@pytest.mark.parametrize("mask_step", STEPS)
@pytest.mark.parametrize("step", STEPS)
def test_every_cell_is_the_mask_on_that_checkpoints_weights_and_means(made, mask_step, step):
    """On the diagonal this is what the job that evaluates a subnetwork does."""
    models, encoded, result = made
    model, pairs, means, _ = models[step]
    removed = sorted(set(range(15)) - set(KEPT[mask_step]))
    rows = average_by_subset(
        make_predictions(subnetwork_logits(model, pairs, removed, means).numpy(), encoded), "argmax-first"
    )
    expected = append_means(rows.assign(model=0), ["model"])
    cell = result[(result["step"] == step) & (result["mask_step"] == mask_step) & (result["seed"] == 42)]
    pd.testing.assert_frame_equal(values(cell), values(expected))
    assert set(cell["sparsity"]) == {0.6} and cell["reason"].isna().all()


def test_cells_differ_by_mask_and_by_weights(made):
    result = made[2]
    whole = result[result["subset"].isna() & result["family"].isna() & (result["seed"] == 42)]
    cells = whole[whole["group"] != "j"].pivot(index=["mask_step", "step"], columns="group", values="log_odds")
    assert len(cells.round(3).drop_duplicates()) == 4


def test_the_full_model_has_no_mask_and_a_failed_run_no_value(made):
    models, encoded, result = made
    full = result[result["seed"].isna()]
    assert full["mask_step"].isna().all() and set(full["sparsity"]) == {0.0} and set(full["step"]) == {*STEPS}
    model, pairs, means, _ = models[20]
    rows = average_by_subset(
        make_predictions(subnetwork_logits(model, pairs, [], means).numpy(), encoded), "argmax-first"
    )
    pd.testing.assert_frame_equal(
        values(full[full["step"] == 20]), values(append_means(rows.assign(model=0), ["model"]))
    )
    failed = result[result["seed"] == 43]
    assert set(failed["reason"]) == {"diverged by step 7: kl nan"} and failed["accuracy"].isna().all()
    assert set(failed["step"]) == {*STEPS} and set(failed["mask_step"]) == {20}


def test_the_figure_leaves_out_masks_whose_run_went_wrong():
    level = {"subset": None, "family": None, "n": 9}
    rows = [
        level | {"mask_step": m, "step": s, "seed": seed, "sparsity": 0.3 if m else 0.0, "group": g, "accuracy": a}
        for m, seed, a in ((10, 1, 50.0), (10, 2, 90.0), (None, None, 99.0))
        for s in STEPS
        for g in ("id", "j")
    ]
    about = {"step": 10, "sparsity": 0.3, "repeat": 0, "actual_sparsity": 0.3, "collapsed": False}
    runs = [about | {"seed": seed, "missed": seed == 2} for seed in (1, 2)]
    tables = {"transplant": table("transplant", rows)}
    figure, marks = draw(tables, Figure(), CONTEXT)
    assert set(marks.loc[marks["mask_step"] == 10, "accuracy"]) == {70.0}
    figure, marks = draw(tables | {"runs": table("runs", runs)}, Figure(), CONTEXT)
    of_masks = marks[marks["mask_step"] == 10]
    assert set(of_masks["accuracy"]) == {50.0} and set(of_masks["left_out"]) == {1}
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert mentions(labels[0], 10, 1, 2) and len(labels) == 2
    assert [panel.get_aspect() for panel in figure.axes] == [1.0, 1.0] and len(figure.axes[0].patches) == 1
    three = pd.concat([tables["transplant"].assign(ft_seed=seed) for seed in (1, 2, 3)])
    figure, marks = draw({"transplant": three}, Figure(), CONTEXT)
    assert len(figure.axes) == 6 and set(marks["ft_seed"]) == {1, 2, 3}
