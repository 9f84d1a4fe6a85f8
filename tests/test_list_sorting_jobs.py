"""The jobs of list sorting: what they write, that training resumes, and that they are plain functions."""

from pathlib import Path

import pytest
import torch
from list_sorting import study
from mentions import raises
from safetensors.torch import load_file

from heuristic_core.common.errors import InputError
from heuristic_core.common.roles import ParameterRole
from heuristic_core.experiments.list_sorting.config_llc import Stages
from heuristic_core.experiments.list_sorting.config_prune import PruneRuns
from heuristic_core.experiments.list_sorting.data import draw_lists
from heuristic_core.experiments.list_sorting.jobs import train as train_job
from heuristic_core.experiments.list_sorting.jobs.core import find_needed_halves
from heuristic_core.experiments.list_sorting.jobs.llc import sample_llc
from heuristic_core.experiments.list_sorting.jobs.measure import measure_models
from heuristic_core.experiments.list_sorting.jobs.prune import prune_halves
from heuristic_core.experiments.list_sorting.jobs.stages import find_stages
from heuristic_core.experiments.list_sorting.jobs.train import train_models
from heuristic_core.experiments.list_sorting.study import LlcRuns, Measure
from heuristic_core.experiments.list_sorting.training import train
from heuristic_core.jobs.job import job
from heuristic_core.jobs.signature import inspect_parameters
from heuristic_core.tables.parquet import read_table

NAMES = {"study": "tiny", "condition": "l2"}
GATES = {"rise": 4, "hold": 2, "batch_size": 8, "warmup_steps": 2}

MEASUREMENTS = ("models", "heads", "ablations", "mode_ablations", "numbers", "matrices", "distance")


def paths(folder: Path, steps) -> dict:
    """The paths that training writes."""
    tables = {name: str(folder / f"{name}.parquet") for name in ("trace", "conditions")}
    return {"checkpoints": [str(folder / f"step{step}.safetensors") for step in steps], **tables}


def command(sorting, outputs: dict) -> list[str]:
    """The command line of training."""
    words = ["--sorting", sorting.model_dump_json(), *(f"--{name}={value}" for name, value in NAMES.items())]
    words += ["--checkpoints", *outputs["checkpoints"]]
    return [*words, "--trace", outputs["trace"], "--conditions", outputs["conditions"]]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_training_writes_weights_losses_and_the_condition(tmp_path):
    sorting, kept = study(), {}
    outputs = paths(tmp_path / "l2", sorting.training.kept)
    train_models(sorting, **NAMES, **outputs, unfinished=tmp_path)
    expected = train(sorting, draw_lists(sorting.data).train, lambda step, parameters: kept.update({step: parameters}))
    for parameters, path in zip(kept.values(), outputs["checkpoints"], strict=True):
        assert all(torch.equal(value, parameters[name]) for name, value in load_file(path).items())
    trace = read_table(outputs["trace"]).set_index(["study", "condition", "seed", "step"])["loss"]
    assert len(trace) == 3 * 3
    assert trace["tiny", "l2", 3, 8] == pytest.approx(float(expected.losses[4:8, 2].mean()))
    condition = read_table(outputs["conditions"]).iloc[0]
    assert (condition.study, condition.condition, condition.numbers, condition.steps) == ("tiny", "l2", 12, 12)


def test_training_that_was_cut_off_resumes_with_the_same_bytes(tmp_path, monkeypatch):
    sorting, write_bytes = study(), train_job.write_bytes
    whole, resumed = tmp_path / "whole", tmp_path / "resumed"
    main = job(train_models)
    main(command(sorting, paths(whole, sorting.training.kept)))

    def cut(path, content):
        if path.name == "8.safetensors":
            raise KeyboardInterrupt
        write_bytes(path, content)

    monkeypatch.setattr(train_job, "write_bytes", cut)
    with pytest.raises(KeyboardInterrupt):
        main(command(sorting, paths(resumed, sorting.training.kept)))
    left = resumed / ".unfinished-train_models"
    assert [path.name for path in resumed.iterdir()] == [left.name]
    assert {"0.safetensors", "4.safetensors", "state.safetensors"} <= contents(left).keys()

    written = []
    monkeypatch.setattr(
        train_job, "write_bytes", lambda path, content: (written.append(path.name), write_bytes(path, content))
    )
    main(command(sorting, paths(resumed, sorting.training.kept)))
    assert written == ["8.safetensors", "12.safetensors"]
    assert contents(resumed) == contents(whole)


@pytest.mark.parametrize("function", [train_models, measure_models, prune_halves])
def test_as_many_paths_as_kept_steps_are_asked_for(function, tmp_path):
    blocks = {"sorting": study(), "measure": Measure(), "prune": PruneRuns()}
    values = {"checkpoints": ["a"], "unfinished": tmp_path, **NAMES, **blocks}
    names = [parameter.name for parameter in inspect_parameters(function)]
    with raises(InputError, "checkpoints", 1, 4, "sorting.training.kept"):
        function(**{name: values.get(name, str(tmp_path / name)) for name in names})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("function", "tables"), [(measure_models, MEASUREMENTS), (prune_halves, ("subsets", "masks"))])
def test_the_outputs_are_the_tables_that_the_workflow_names(function, tables):
    assert [p.name for p in inspect_parameters(function) if p.role is ParameterRole.OUTPUT] == list(tables)


@pytest.mark.slow
def test_a_study_can_be_made_by_functions(tmp_path):
    def table(name):
        return str(tmp_path / f"{name}.parquet")

    sorting = study(training={"steps": 4, "seeds": [1, 2], "checkpoints": [4]})
    outputs = paths(tmp_path, sorting.training.kept)
    checkpoints = outputs["checkpoints"]
    train_models(sorting, **NAMES, **outputs, unfinished=tmp_path / "state")
    measure = Measure(lists=20, mean_lists=20, folded_lists=5, matrices=1)
    measure_models(checkpoints, sorting, measure, **NAMES, **{name: table(name) for name in MEASUREMENTS})
    models = read_table(table("models")).set_index(["seed", "step"])
    assert list(models.index) == [(1, 0), (2, 0), (1, 4), (2, 4)]
    assert set(read_table(table("matrices"))["step"]) == {4}

    prune = PruneRuns(checkpoints=1, seeds=[5, 6], lists=20, training_lists=20, gates=GATES)
    prune_halves(checkpoints, sorting, prune, **NAMES, subsets=table("subsets"), masks=table("masks"))
    full = read_table(table("subsets")).query("halves == 4").set_index(["seed", "step"])
    assert full["kl"].eq(0).all() and full["loss"].to_dict() == models["loss"].to_dict()
    masks = read_table(table("masks"))
    assert list(zip(masks["seed"], masks["step"], masks["prune_seed"], strict=True)) == [
        (seed, 4, pruning) for seed in (1, 2) for pruning in (5, 6)
    ]
    find_needed_halves(table("subsets"), table("masks"), table("heads"), prune, table("sizes"), table("core"))
    sizes, core = read_table(table("sizes")), read_table(table("core"))
    assert len(sizes) == 4 * len(models) and set(sizes["threshold"]) == {prune.margin, prune.kl}
    assert core["of"].eq(2).all() and set(core["half"]) == {"qk", "ov"} and len(core) == 2 * 4

    llc = LlcRuns(draws=4, burn_in=20, batch_size=8, gradient_examples=16)
    sample_llc(checkpoints[1], sorting, llc, **NAMES, step=4, table=table("llc"))
    rows = read_table(table("llc"))
    assert set(zip(rows["seed"], rows["step"], strict=True)) == {(1, 4), (2, 4)}
    assert set(rows["estimator"]) == {"raw", "scaled", "tilted"}

    written = {name: table(name) for name in ("table", "seed_stages", "changes", "movements")}
    for coefficient, curves in ((None, {"loss", "overlap"}), (table("llc"), {"loss", "overlap", "llc tilted"})):
        find_stages(table("models"), Stages(bootstrap=10), **written, llc=coefficient)
        assert curves <= set(read_table(table("movements"))["curve"])
        assert ("llc tilted" in set(read_table(table("movements"))["curve"])) == (coefficient is not None)
    assert len(read_table(table("table"))) == 3 * 2 and len(read_table(table("seed_stages"))) == 3 * 2
