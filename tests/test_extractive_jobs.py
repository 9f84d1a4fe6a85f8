"""The jobs of extractive structures: what they write, that they resume, and that they are plain functions."""

from pathlib import Path

import pytest
import torch
from decoders import save_decoder
from extractive import VOCABULARY, study
from mentions import raises
from safetensors.torch import load_file

from heuristic_core.common.errors import InputError
from heuristic_core.common.roles import ParameterRole
from heuristic_core.experiments.extractive_structures.config import Freezing, Pretrained
from heuristic_core.experiments.extractive_structures.decoders import load_parameters
from heuristic_core.experiments.extractive_structures.freezing import curve_rows
from heuristic_core.experiments.extractive_structures.jobs.choice import choose_settings
from heuristic_core.experiments.extractive_structures.jobs.core import find_core
from heuristic_core.experiments.extractive_structures.jobs.freeze import freeze_layers
from heuristic_core.experiments.extractive_structures.jobs.load import convert_decoder
from heuristic_core.experiments.extractive_structures.jobs.made_up_sweep import sweep_made_up_facts
from heuristic_core.experiments.extractive_structures.jobs.order import teach_orders
from heuristic_core.experiments.extractive_structures.jobs.pretrain import pretrain_model
from heuristic_core.experiments.extractive_structures.jobs.prune import find_subnetworks
from heuristic_core.experiments.extractive_structures.jobs.score import score_components
from heuristic_core.experiments.extractive_structures.jobs.seed_model import SeedModel
from heuristic_core.experiments.extractive_structures.jobs.sweep import sweep_settings
from heuristic_core.experiments.extractive_structures.jobs.teach import teach_facts
from heuristic_core.experiments.extractive_structures.parameters import init_parameters
from heuristic_core.experiments.extractive_structures.setting import HOPS, Setting
from heuristic_core.experiments.extractive_structures.tokens import HubTokenizer
from heuristic_core.experiments.extractive_structures.training import Learner, learn
from heuristic_core.jobs.job import job
from heuristic_core.jobs.signature import inspect_parameters
from heuristic_core.tables.parquet import read_table

STUDY = study(
    sweep={"learning_rates": [1e-3, 1e-2], "epochs": [1, 2]},
    pruning={"seeds": [1, 2], "gates": {"rise": 4, "hold": 2, "batch_size": 4}},
)
SAVED = study(finetuning={"save_every": 1}).finetuning
RUN = {"data": STUDY.data, "study": "tiny", "seed": 1}

ORDER_TABLES = ("ordering", "grafting", "localisation")
SCORE_TABLES = ("scores", "components", "agreement", "removal")
PRUNE_TABLES, SHARING_TABLES = ("subnetworks", "transfer"), ("core", "sharing")


def paths(folder: Path, *names: str, kind: str = "parquet") -> dict[str, str]:
    return {name: str(folder / f"{name}.{kind}") for name in names}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the weights of a model before and after teaching, and the tables of both jobs."""
    folder = tmp_path_factory.mktemp("jobs")
    files = paths(folder, "checkpoint", kind="safetensors") | paths(folder, "trace")
    pretrain_model(model=STUDY.model, pretraining=STUDY.pretraining, corpus="whole", **RUN, **files, unfinished=folder)
    files = paths(folder, *HOPS, kind="safetensors") | paths(folder, "curves")
    teach_facts(seed_model(folder), STUDY.finetuning, corpus="whole", **files, unfinished=folder / "none")
    return folder


def seed_model(folder: Path) -> SeedModel:
    return SeedModel(str(folder / "checkpoint.safetensors"), **RUN)


def hop_weights(folder: Path) -> dict[str, str]:
    return paths(folder, *HOPS, kind="safetensors")


def ranks(table, condition: str) -> list[float]:
    return table.query(condition)["rank"].tolist()


def test_pretraining_writes_weights_and_losses(folder):
    start, order = init_parameters(STUDY.model, len(VOCABULARY), 1), ("pretraining", 1)
    expected = learn(
        start, Setting(STUDY.data, 1).encode_corpus("whole"), STUDY.pretraining, STUDY.pretraining.steps, order
    )
    written = load_file(folder / "checkpoint.safetensors")
    assert all(torch.equal(written[name], value) for name, value in expected.parameters.items())
    (row,) = read_table(folder / "trace.parquet").to_dict("records")
    assert (row["study"], row["seed"], row["corpus"], row["step"]) == ("tiny", 1, "whole", STUDY.pretraining.steps)
    assert row["loss"] == pytest.approx(float(expected.losses.double().mean()))


def test_teaching_writes_the_weights_and_answers_of_both_hops(folder):
    start, curves = load_file(folder / "checkpoint.safetensors"), read_table(folder / "curves.parquet")
    for hop in HOPS:
        taught = Setting(STUDY.data, 1).encode_hop(hop)
        rows, end = curve_rows(start, taught.facts, taught.parts, STUDY.finetuning, 1)
        written = load_file(folder / f"{hop}.safetensors")
        assert all(torch.equal(written[name], value) for name, value in end.items())
        assert ranks(curves, f"hop == '{hop}'") == [row["rank"] for row in rows]
    assert not (folder / "none").exists()  # without save_every, teaching saves no state


def test_a_model_without_frozen_or_with_all_layers_frozen_answers_as_the_taught_or_the_first_one(folder):
    settings = {"finetuning": STUDY.finetuning, "freezing": STUDY.freezing}
    freeze_layers(seed_model(folder), **hop_weights(folder), **settings, **paths(folder, "table"))
    frozen, curves = read_table(folder / "table.parquet"), read_table(folder / "curves.parquet")
    assert len(frozen) == 2 * 4 * 2 * 2  # hops, layers, frozen or restored, parts
    for how in ("frozen", "restored"):
        assert ranks(frozen, f"layers == 'none' and how == '{how}'") == ranks(curves, "epoch == 2")
        assert ranks(frozen, f"layers == 'all' and how == '{how}'") == ranks(curves, "epoch == 0")


def test_sweeps_repeat_the_runs_of_the_study_and_a_setting_is_chosen(folder):
    settings = {"finetuning": STUDY.finetuning, "sweep": STUDY.sweep}
    tables = {name: str(folder / f"{name}.parquet") for name in ("sweep", "made_up", "choice", *ORDER_TABLES)}
    sweep_settings(seed_model(folder), **settings, table=tables["sweep"])
    sweep, curves = read_table(tables["sweep"]), read_table(folder / "curves.parquet")
    assert len(sweep) == 2 * 2 * 2 * 2  # hops, rates, epochs, parts
    assert ranks(sweep, "learning_rate == 0.001 and epoch == 2") == ranks(curves, "epoch == 2")
    choose_settings(tables["sweep"], "tiny", tables["choice"])
    choice = read_table(tables["choice"])
    assert len(choice) == 2 * 2 * 2 and set(choice["study"]) == {"tiny"}
    assert (choice.groupby("hop")["chosen"].sum() <= 1).all()

    orders = {name: tables[name] for name in ORDER_TABLES}
    teach_orders(seed_model(folder), SAVED, **orders, unfinished=folder / "state")
    assert (folder / "state" / "second-facts.safetensors").is_file()
    sweep_made_up_facts(seed_model(folder), **settings, table=tables["made_up"])
    swept = read_table(tables["made_up"]).query("learning_rate == 0.001 and epochs == 2")
    last = read_table(tables["ordering"]).query("taught == 'test facts' and epoch == 2")
    assert ranks(swept, "experiment == 'ordering'") == ranks(last, "part.str.startswith('test')")
    assert ranks(swept, "experiment == 'grafting'") == read_table(tables["grafting"])["rank"].tolist()
    assert read_table(tables["localisation"])["kind"].tolist() == ["head", "mlp"]


def test_components_are_scored_pruned_and_counted(folder):
    scored = {f"{name}_table": str(folder / f"{name}.parquet") for name in SCORE_TABLES}
    score_components(seed_model(folder), **hop_weights(folder), scores=STUDY.scores, **scored)
    scores, components = (read_table(folder / f"{name}.parquet") for name in ("scores", "components"))
    component = ["layer", "kind", "head"]  # in the first hop, every question has a token of every role
    sums, totals = (
        table.query("hop == 'first'").groupby(component, dropna=False)[column].sum()
        for table, column in ((scores.query("score == 'informative'"), "value"), (components, "informative"))
    )
    assert len(components) == 2 * 6 and totals.tolist() == pytest.approx(sums.tolist())

    settings = {"scores": STUDY.scores, "pruning": STUDY.pruning}
    find_subnetworks(seed_model(folder), **hop_weights(folder), **settings, **paths(folder, *PRUNE_TABLES))
    subnetworks = read_table(folder / "subnetworks.parquet")
    kept = subnetworks.groupby(["hop", "part", "how", "prune_seed"], dropna=False)["kept"].sum()
    assert len(kept) == 2 * 2 * 3 and set(kept) == {3}  # hops, parts, two seeds and the greedy one
    assert set(read_table(folder / "transfer.parquet")["b"]) >= {"second hop"}
    inputs, outputs = paths(folder, "subnetworks", "components"), paths(folder, *SHARING_TABLES)
    find_core(**inputs, permutations=20, **outputs)
    core = read_table(folder / "core.parquet")
    assert len(core) == 2 * 2 * 6 and core["kept_by"].sum() == kept.drop("greedy", level="how").sum()
    assert len(read_table(folder / "sharing.parquet")) == 2 * 2


OUTPUTS = [(teach_orders, ORDER_TABLES), (find_subnetworks, PRUNE_TABLES), (find_core, SHARING_TABLES)]
OUTPUTS += [(score_components, tuple(f"{name}_table" for name in SCORE_TABLES))]


@pytest.mark.parametrize(("function", "names"), OUTPUTS)
def test_the_outputs_are_the_tables_that_the_workflow_names(function, names):
    assert tuple(p.name for p in inspect_parameters(function) if p.role is ParameterRole.OUTPUT) == names


# ---- resumption


def command(files: dict[str, str], **blocks) -> list[str]:
    """The command line of a job of the tiny study's whole corpus."""
    words = [f"--{name}={block.model_dump_json()}" for name, block in {"data": STUDY.data, **blocks}.items()]
    return [*words, "--study=tiny", "--seed=1", "--corpus=whole", *(f"--{name}={path}" for name, path in files.items())]


def kill_after(steps: int, monkeypatch) -> list[int]:
    """Let training be killed after some steps; the list gets each step that is taken."""
    advance, taken = Learner.advance, []

    def until_killed(self, *batch):
        if len(taken) == steps:
            raise KeyboardInterrupt
        taken.append(self.step)
        return advance(self, *batch)

    monkeypatch.setattr(Learner, "advance", until_killed)
    return taken


def require_resumption(function, line: list[str], outputs: list[str], steps: int, resumed: int, monkeypatch) -> None:
    """Check that a job that is killed after `steps` of its steps goes on at step `resumed`, and writes the same bytes.

    Args:
        function: The job's function.
        line: Its command line.
        outputs: What it writes; the last only at its end.
        steps: After how many steps it is killed.
        resumed: The step of a stage at which it goes on.
        monkeypatch: Of the test.
    """
    main, files = job(function), [Path(path) for path in outputs]
    main(line)
    whole = [path.read_bytes() for path in files]
    for path in files:
        path.unlink()
    state = files[0].with_name(f".unfinished-{function.__name__}")
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        kill_after(steps, patch)
        main(line)
    assert list(state.rglob("*.safetensors")) and not files[-1].exists()
    with monkeypatch.context() as patch:
        taken = kill_after(1000, patch)
        main(line)
    assert taken[0] == resumed
    assert [path.read_bytes() for path in files] == whole and not state.exists()


def test_pretraining_that_was_cut_off_resumes_with_the_same_bytes(tmp_path, monkeypatch):
    files = paths(tmp_path, "checkpoint", kind="safetensors") | paths(tmp_path, "trace")
    line = command(files, model=STUDY.model, pretraining=STUDY.pretraining)
    require_resumption(pretrain_model, line, [*files.values()], 5, 4, monkeypatch)  # saved every two steps


def test_teaching_that_was_cut_off_in_the_second_hop_resumes_there_with_the_same_bytes(folder, tmp_path, monkeypatch):
    outputs = paths(tmp_path, *HOPS, kind="safetensors") | paths(tmp_path, "curves")
    line = command(paths(folder, "checkpoint", kind="safetensors") | outputs, finetuning=SAVED)
    require_resumption(teach_facts, line, [*outputs.values()], 7, 2, monkeypatch)  # two epochs of two steps by hop


# ---- a decoder that was pre-trained elsewhere


def test_a_decoder_is_converted_with_its_tokenizer_unless_no_layer_is_late(tmp_path):
    model = save_decoder(tmp_path, "qwen2", VOCABULARY.words)
    pretrained = Pretrained(name="tiny", folder=str(model), known_rank=9)
    outputs = {"checkpoint": str(tmp_path / "out" / "model.safetensors")}
    outputs["tokenizer"] = [str(tmp_path / "out" / f"{name}.json") for name in ("tokenizer", "tokenizer_config")]
    with raises(InputError, "freezing.early", 2, "tiny", 1):
        convert_decoder(STUDY.data, Freezing(early=2), pretrained, **outputs)
    assert not (tmp_path / "out").exists()
    convert_decoder(STUDY.data, STUDY.freezing, pretrained, **outputs)
    written, expected = load_file(outputs["checkpoint"]), load_parameters(model)
    assert written.keys() == expected.keys()
    assert all(torch.equal(written[name], value) for name, value in expected.items())
    tokens, copied = (HubTokenizer(path).prompt("The people in Tokyo") for path in (model, tmp_path / "out"))
    assert tokens == copied
