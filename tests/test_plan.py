"""A plan's counts are those of the run, and its numbers say where they come from."""

import json
import re
from collections import Counter

import pytest
from conftest import ROOT, SHARED
from reduced import REDUCED, STUDY, counted, planned

from heuristic_core.common.errors import InputError
from heuristic_core.config import load_study
from heuristic_core.config.lesion import Lesion
from heuristic_core.config.models import PretrainedModel
from heuristic_core.config.tasks import EvaluationSplit, Split
from heuristic_core.plan.devices import device, hours
from heuristic_core.plan.jobs import jobs
from heuristic_core.plan.memory import memory
from heuristic_core.plan.needs import needs
from heuristic_core.plan.pairs import Pairs, StudyPairs, pairs_of
from heuristic_core.plan.report import plan
from heuristic_core.plan.shapes import Shape, shape_of
from heuristic_core.plan.space import PREDICTION, disk
from heuristic_core.plan.work import work_of

PAPER = load_study(ROOT / "config" / "paper-mnli-bert.yaml")
BERT = shape_of(PAPER.model)
HUNDRED = StudyPairs(Pairs(100, 4000), Pairs(50, 1000), subsets=5, largest=10, counted=True)


def by_name(study, shape, data):
    return {part.name: part for part in work_of(study, shape, data)}


# ---- shapes


def test_a_shape_has_the_parameters_of_the_model(bert, checkpoint):
    shape = shape_of(PretrainedModel(name="tiny", source="pretrained", folder=str(checkpoint)))
    classifier = sum(weight.numel() for weight in bert.classifier.parameters())
    assert shape.parameters == bert.num_parameters() - classifier


def test_the_papers_models_have_the_sizes_that_are_published():
    sizes = {"mnli-bert": 108.3, "mnli-roberta": 124.6, "mnli-gpt2": 124.4}
    for name, size in sizes.items():
        found = shape_of(load_study(ROOT / "config" / f"paper-{name}.yaml").model).parameters / 1e6
        assert found == pytest.approx(size, rel=0.01)


def test_a_model_of_unknown_shape_is_named():
    with pytest.raises(InputError, match=r"model.hub = 'someone/else'.*fetch"):
        shape_of(PretrainedModel(name="x", source="pretrained", hub="someone/else", revision="0" * 40))


def test_gpt2s_names_are_read_and_a_missing_number_is_named(tmp_path):
    model = PretrainedModel(name="tiny", source="pretrained", folder=str(tmp_path))
    text = '{"n_layer": 2, "n_head": 4, "n_embd": 8, "n_inner": null, "vocab_size": 9, "n_positions": 10%s}'
    (tmp_path / "config.json").write_text(text % "")
    assert shape_of(model) == Shape(layers=2, heads=4, hidden=8, feed_forward=32, vocabulary=9, positions=10)
    (tmp_path / "config.json").write_text((text % "").replace("n_layer", "n_laier"))
    with pytest.raises(InputError, match=r"config.json: no num_hidden_layers"):
        shape_of(model)


# ---- work


def test_work_of_the_papers_study_is_what_its_grid_says():
    found = by_name(PAPER, BERT, HUNDRED)
    assert found["fine-tuning"].pairs == 61_360 * 32
    assert found["evaluation in passing"].times == 1 + 123  # before the first step, every 500, and at the end
    surface = 33 * sum(6500 + 56 * percent for percent in range(5, 75, 5))
    assert found["pruning"].times == surface + (9 + 3) * (9300 + 10_420)
    assert found["subnetworks"].times == 486
    assert found["controls"].times == 24 + 2


def test_a_pruning_step_of_bert_takes_the_operations_that_its_products_have():
    """docs/performance.md: 128 pairs of 39 tokens, about 1,600 GFLOP in products with weights."""
    pruning = by_name(PAPER, BERT, HUNDRED._replace(train=Pairs(1, 39)))["pruning"]
    assert pruning.flops / pruning.times == pytest.approx(1.7e12, rel=0.05)


def test_every_fine_tuning_seed_does_the_same_work():
    more = PAPER.model_copy(update={"finetune": PAPER.finetune.model_copy(update={"seeds": [1, 2, 3]})})
    for one, three in zip(work_of(PAPER, BERT, HUNDRED), work_of(more, BERT, HUNDRED), strict=True):
        assert (three.times, three.pairs, three.flops) == (3 * one.times, 3 * one.pairs, pytest.approx(3 * one.flops))


def test_a_lesioned_run_does_the_work_of_fine_tuning():
    lesioned = PAPER.model_copy(update={"lesion": Lesion(control_draws=2)})
    before, after = (by_name(study, BERT, HUNDRED) for study in (PAPER, lesioned))
    assert not any("lesioned" in name for name in before)
    for name in ("fine-tuning", "evaluation in passing"):
        assert after[name] == before[name]
        assert after[f"lesioned {name}"].rules == ("lesion",)
        assert after[f"lesioned {name}"].flops == pytest.approx(3 * before[name].flops)
    assert needs(lesioned)["lesion"] == needs(PAPER)["finetune"] == needs(lesioned)["finetune"]
    disks = [disk(study, BERT, HUNDRED, work_of(study, BERT, HUNDRED)) for study in (PAPER, lesioned)]
    passing = after["lesioned evaluation in passing"].pairs
    assert disks[1]["predictions"] - disks[0]["predictions"] == pytest.approx(passing * PREDICTION)


# ---- hours


def test_a_timed_piece_of_work_takes_the_time_that_it_took():
    """The published one: 486 runs at 90 minutes are 729 hours; their steps are 8,662 on average, not 9,300."""
    pruning = by_name(PAPER, BERT, HUNDRED._replace(train=Pairs(1, 39)))["pruning"]
    took = hours(pruning, BERT, device("a5000"), "float32")
    assert took.kind == "published"
    assert took.hours == pytest.approx(486 * 1.5 * (pruning.times / 486 / 9300), rel=0.01)


def test_what_was_not_timed_is_an_estimate():
    found = by_name(PAPER, BERT, HUNDRED)
    assert hours(found["fine-tuning"], BERT, device("a5000"), "float32").kind == "estimate"
    assert hours(found["pruning"], BERT, device("h100"), "float32").kind == "estimate"
    assert hours(found["pruning"], BERT, device("cpu"), "float32").kind == "measured"
    wider = BERT.model_copy(update={"hidden": 1024})
    assert hours(found["pruning"], wider, device("cpu"), "float32").kind == "estimate"


def test_a_throughput_holds_for_its_precision():
    """MiniLM; devices.yaml has 4,300 and 7,900 evaluated tokens a second."""
    shape = Shape(layers=6, heads=12, hidden=384, feed_forward=1536, vocabulary=30522, positions=512)
    found = by_name(PAPER, shape, HUNDRED._replace(train=Pairs(1, 37.6), evaluation=Pairs(10, 376)))
    took = {p: hours(found["full models"], shape, device("cpu"), p) for p in ("float32", "bfloat16", "float16")}
    for precision, rate in (("float32", 4300), ("bfloat16", 7900)):
        assert took[precision].kind == "measured"
        assert took[precision].hours == pytest.approx(found["full models"].tokens / rate / 3600, rel=0.01)
    assert took["float16"].kind == "estimate"
    step = hours(found["fine-tuning"], shape, device("cpu"), "bfloat16").hours * 3600 / PAPER.finetune.steps
    assert step == pytest.approx(0.95)
    assert hours(found["pruning"], shape, device("cpu"), "bfloat16").kind == "estimate"


def test_a_device_without_throughputs_follows_its_peak():
    pruning = by_name(PAPER, BERT, HUNDRED)["pruning"]
    single, half = (hours(pruning, BERT, device("h100"), precision).hours for precision in ("float32", "bfloat16"))
    assert single / half == pytest.approx(989 / 67)
    assert single == pytest.approx(pruning.flops / (0.3 * 67e12) / 3600)


def test_an_unknown_device_is_named_with_those_there_are():
    with pytest.raises(InputError, match=r"DEVICE = 'abacus'.*cpu, a5000"):
        device("abacus")


# ---- pairs


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A working directory and a hub cache in which nothing is."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path


def of_task(**changes):
    return PAPER.model_copy(update={"task": PAPER.task.model_copy(update=changes)})


def own_task(folder, **evaluation):
    """A task named mnli, of three and four local pairs of its own, 10 words each."""
    words = {"premise": "a b c d e", "hypothesis": "f g h i j"}
    train = [words | {"label": label} for label in ("entailment", "neutral", "neutral")]
    lines = [words | {"label": "entailment", "kind": kind} for kind in "xxxy"]
    for name, rows in (("train", train), ("test", lines)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    split = {"sentences": ("premise", "hypothesis")}
    test = EvaluationSplit(file="test.jsonl", split_by="kind", group="id", **split, **evaluation)
    return {"folder": str(folder), "train": [Split(file="train.jsonl", **split)], "evaluation": {"test": test}}


def test_what_is_on_the_hub_is_assumed_by_repository_and_file_whatever_its_commit(elsewhere):
    here = [split.model_copy(update={"revision": "0" * 40}) for split in PAPER.task.train]
    data = pairs_of(of_task(name="mine", train=here))
    assert (data.train.pairs, data.evaluation.pairs, data.subsets, data.largest) == (392_702, 49_647, 32, 9832)
    assert (data.counted, len(data.assumed)) == (False, 4)
    assert data.assumed[0] == "nyu-mll/glue/mnli/train-*.parquet"


def test_pairs_of_one_label_are_assumed_by_label(elsewhere):
    data = pairs_of(load_study(ROOT / "config" / "paper-qqp-bert.yaml"))
    assert (data.evaluation.pairs, data.largest) == (40_430 + 8696 + 3967, 40_430)


def test_a_files_pairs_are_counted_whatever_the_tasks_name(elsewhere):
    data = pairs_of(of_task(**own_task(elsewhere)))
    assert (data.train.pairs, data.evaluation.pairs, data.subsets, data.largest) == (3, 4, 2, 3)
    assert data.train.mean == pytest.approx(3 + 1.2 * 10)
    assert (data.counted, data.assumed) == (False, ())
    limited = of_task(**own_task(elsewhere, pairs=2), train_pairs=2, max_length=7)
    data = pairs_of(limited)
    assert (data.train.pairs, data.evaluation.pairs, data.train.mean) == (2, 2 + 1, 7)


def test_a_file_that_is_neither_there_nor_known_is_named_but_where_a_sample_of_it_is_used(elsewhere):
    absent = [Split(file="absent.csv", sentences=("a", "b"))]
    with pytest.raises(InputError, match=r"task.train.0: absent.csv is not there"):
        pairs_of(of_task(train=absent))
    data = pairs_of(of_task(train=absent, train_pairs=70))
    assert (data.train, data.assumed[0]) == (Pairs(70, 70 * 40), "absent.csv")


def test_a_file_without_a_pair_is_named(elsewhere):
    with pytest.raises(InputError, match=r"test.jsonl: no row has the label 'neutral'"):
        pairs_of(of_task(**own_task(elsewhere, only_label="neutral")))


@pytest.mark.skipif(not SHARED.is_dir(), reason=f"{SHARED} is absent")
@pytest.mark.parametrize(("name", "train", "evaluation"), [("mnli", 35_092, 49_647), ("qqp", 21_724, 20_263)])
def test_minilms_files_are_counted(elsewhere, name, train, evaluation):
    study = load_study(ROOT / "config" / f"minilm-{name}.yaml")
    folder = {"folder": str(SHARED / "data")}
    data = pairs_of(study.model_copy(update={"task": study.task.model_copy(update=folder)}))
    assert (data.train.pairs, data.evaluation.pairs, data.assumed) == (train, evaluation, ())
    if name == "mnli":  # as encoded
        assert data.train.mean == pytest.approx(39.92, rel=0.05)
        assert data.evaluation.mean == pytest.approx(26.52, rel=0.1)


# ---- jobs


def test_jobs_are_read_from_a_dry_runs_table():
    text = "job  count\n----  ---\nprune_42_43   3\nprune_44  2\nprune_again  1\nx_all_figures 1\nall 1\ntotal  8\n"
    assert counted(text) == {"prune": 5, "prune_again": 1}


def test_a_refused_configuration_is_told_with_its_reason(changed):
    with pytest.raises(InputError, match=r"mid = 1\.2"):
        jobs(ROOT / "Snakefile", [str(changed(grid__mid=1.2))], everything=True)


# ---- against what a run made


def results_of(folder):
    return sum(path.stat().st_size for path in (folder / "results").rglob("*") if path.is_file())


@pytest.mark.slow
def test_the_plan_of_a_finished_study_is_what_it_made(finished, tmp_path, monkeypatch):
    """Jobs exactly; pairs exactly, tokens to a tenth; disk within a factor of two."""
    monkeypatch.chdir(finished)
    everything, missing = (jobs(ROOT / "Snakefile", [str(REDUCED)], all_of_them) for all_of_them in (True, False))
    assert everything == planned(tmp_path, REDUCED) | {"provenance": 1}
    assert missing == {}
    shape, found = shape_of(STUDY.model), pairs_of(STUDY)
    monkeypatch.chdir(tmp_path)
    assumed = pairs_of(STUDY)
    assert (found.counted, assumed.counted) == (True, False)
    for one, other in ((found.train, assumed.train), (found.evaluation, assumed.evaluation)):
        assert one.pairs == other.pairs
        assert one.tokens == pytest.approx(other.tokens, rel=0.1)
    *kept, _ = disk(STUDY, shape, found, work_of(STUDY, shape, found)).values()
    assert 0.5 < sum(kept) / results_of(finished) < 2


@pytest.mark.slow
def test_a_plan_on_the_terminal_counts_what_exists(finished, monkeypatch, changed):
    monkeypatch.chdir(finished)
    wider = str(changed(grid__seeds=[42, 43, 44, 45]))
    wanted, missing = (jobs(ROOT / "Snakefile", [wider], everything) for everything in (True, False))
    text = plan(load_study(wider), "cpu", device("cpu"), wanted, missing)
    rows = {line.split("  ")[0]: line.split()[-3:] for line in text.splitlines()}
    assert rows["prune"] == ["24", "20", "4"]  # one seed more, at two sparsities of two fine-tuning seeds
    assert rows["finetune"] == ["2", "2", "0"]


@pytest.mark.parametrize("name", ["h100", "a5000", "cpu"])  # a peak, a published time, assumed pairs
def test_every_number_that_was_not_measured_is_marked(name, elsewhere):
    text = plan(PAPER, name, device(name), Counter(finetune=1, prune=486), Counter(prune=400))
    table = re.search(r"^work.*?\n\n", text, re.MULTILINE | re.DOTALL)[0].splitlines()[2:-1]
    assert len(table) == 9
    for line in table:
        columns = re.split(r" {2,}", line)
        told = columns[2:] if columns[0] == "total" else columns[5:7]
        assert len(told) >= 2 and all(value.startswith("~") or value == "0" for value in told), line


def test_memory_grows_with_what_a_job_holds():
    def peak(study, name):
        return {m.name: m.host + m.device for m in memory(study, BERT, HUNDRED)}[name]

    larger = PAPER.model_copy(update={"finetune": PAPER.finetune.model_copy(update={"batch_size": 64})})
    assert peak(larger, "fine-tuning") > 1.3 * peak(PAPER, "fine-tuning")
    assert peak(larger, "pruning") == peak(PAPER, "pruning")


def test_memory_is_what_was_measured_of_minilm():
    """On MNLI and HANS, one core: fine-tuning in bfloat16, and jobs without a model."""
    study = load_study(ROOT / "config" / "minilm-mnli.yaml")
    data = StudyPairs(Pairs(35_092, 1.40e6), Pairs(49_647, 1.317e6), subsets=32, largest=9832, counted=True)
    shape = Shape(layers=6, heads=12, hidden=384, feed_forward=1536, vocabulary=30522, positions=512)

    def peaks(**finetune):
        changed = study.finetune.model_copy(update=finetune)
        return {m.name: m.host / 1e9 for m in memory(study.model_copy(update={"finetune": changed}), shape, data)}

    assert peaks()["fine-tuning"] == pytest.approx(3.17, rel=0.1)
    assert peaks(precision="float32", pass_tokens=512)["fine-tuning"] == pytest.approx(1.24, rel=0.1)
    assert peaks()["sentences"] == pytest.approx(0.284, rel=0.1)
    assert peaks()["encode"] == pytest.approx(0.808, rel=0.1)
    assert peaks(steps=2700)["finetune_accuracy"] == pytest.approx(0.521, rel=0.1)  # ten evaluations
    few = study.model_copy(update={"grid": study.grid.model_copy(update={"seeds": [42, 43, 44, 45]})})
    gathered = {m.name: m.host / 1e9 for m in memory(few, shape, data)}["gather"]
    assert gathered == pytest.approx(0.560, rel=0.1)  # eight subnetworks and the full model
