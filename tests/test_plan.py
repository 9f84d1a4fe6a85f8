"""A plan's counts are those of the run, and its numbers say where they come from."""

import json
import re
from collections import Counter

import pytest
from conftest import ROOT, SHARED
from mentions import raises
from planning import PAPER
from reduced import REDUCED, STUDY, parse_job_counts, planned

from heuristic_core.common.errors import InputError
from heuristic_core.config.reading import ConfigError
from heuristic_core.config.splits import EvaluationSplit, TrainingSplit
from heuristic_core.experiments.subnetworks.config import load_study
from heuristic_core.experiments.subnetworks.plan.pairs import Pairs, count_pairs
from heuristic_core.experiments.subnetworks.plan.report import plan
from heuristic_core.experiments.subnetworks.plan.sources import check_sources
from heuristic_core.experiments.subnetworks.plan.space import estimate_disk
from heuristic_core.experiments.subnetworks.plan.work import estimate_work
from heuristic_core.plan.devices import get_device
from heuristic_core.plan.jobs import OWN_ERROR, PLAN_VARIABLE, count_jobs, select_study
from heuristic_core.plan.shapes import read_shape

# ---- pairs


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A working directory and a hub cache in which nothing is."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path


def replace_task(**changes):
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
    return {"folder": str(folder), "train": [TrainingSplit(file="train.jsonl", **split)], "evaluation": {"test": test}}


def test_what_is_on_the_hub_is_assumed_by_repository_and_file_whatever_its_commit(elsewhere):
    here = [split.model_copy(update={"revision": "0" * 40}) for split in PAPER.task.train]
    data = count_pairs(replace_task(name="mine", train=here))
    assert (data.train.pairs, data.evaluation.pairs, data.subsets, data.largest_subset) == (392_702, 49_647, 32, 9832)
    assert (data.counted, len(data.assumed_files)) == (False, 4)
    assert data.assumed_files[0] == "nyu-mll/glue/mnli/train-*.parquet"


def test_pairs_of_one_label_are_assumed_by_label(elsewhere):
    data = count_pairs(load_study(ROOT / "config" / "paper-qqp-bert.yaml"))
    assert (data.evaluation.pairs, data.largest_subset) == (40_430 + 8696 + 3967, 40_430)


def test_a_files_pairs_are_counted_whatever_the_tasks_name(elsewhere):
    data = count_pairs(replace_task(**own_task(elsewhere)))
    assert (data.train.pairs, data.evaluation.pairs, data.subsets, data.largest_subset) == (3, 4, 2, 3)
    assert data.train.mean == pytest.approx(3 + 1.2 * 10)
    assert (data.counted, data.assumed_files) == (False, ())
    limited = replace_task(**own_task(elsewhere, pairs=2), train_pairs=2, max_length=7)
    data = count_pairs(limited)
    assert (data.train.pairs, data.evaluation.pairs, data.train.mean) == (2, 2 + 1, 7)


def test_a_file_that_is_neither_there_nor_known_is_named_but_where_a_sample_of_it_is_used(elsewhere):
    absent = [TrainingSplit(file="absent.csv", sentences=("a", "b"))]
    with raises(InputError, "task.train.0", "absent.csv"):
        count_pairs(replace_task(train=absent))
    data = count_pairs(replace_task(train=absent, train_pairs=70))
    assert (data.train, data.assumed_files[0]) == (Pairs(70, 70 * 40), "absent.csv")


def test_a_file_without_a_pair_is_named(elsewhere):
    with raises(InputError, "test.jsonl", 4, "'neutral'"):
        count_pairs(replace_task(**own_task(elsewhere, only_label="neutral")))


def test_a_run_stops_without_the_users_files_and_a_plan_assumes_them(elsewhere, monkeypatch):
    study = load_study(ROOT / "config" / "paper-qqp-bert.yaml")
    with raises(ConfigError, "task.evaluation.paws_adversarial", "heuristic-core/data/datasets/paws-qqp"):
        check_sources(study, "here")
    monkeypatch.setenv(PLAN_VARIABLE, "1")
    check_sources(study, "here")
    (assumed,) = set(count_pairs(study).assumed_files) - {
        split.source for split in study.task.splits.values() if split.hub
    }
    assert assumed == "heuristic-core/data/datasets/paws-qqp"


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason=f"{SHARED} is absent")
@pytest.mark.parametrize(("name", "train", "evaluation"), [("mnli", 35_092, 49_647), ("qqp", 21_724, 20_263)])
def test_minilms_files_are_counted(elsewhere, name, train, evaluation):
    study = load_study(ROOT / "config" / f"minilm-{name}.yaml")
    folder = {"folder": str(SHARED / "data")}
    data = count_pairs(study.model_copy(update={"task": study.task.model_copy(update=folder)}))
    assert (data.train.pairs, data.evaluation.pairs, data.assumed_files) == (train, evaluation, ())
    if name == "mnli":  # as encoded
        assert data.train.mean == pytest.approx(39.92, rel=0.05)
        assert data.evaluation.mean == pytest.approx(26.52, rel=0.1)


# ---- jobs


def test_jobs_are_read_from_a_dry_runs_table():
    text = "job  count\n----  ---\nprune_42_43   3\nprune_44  2\nprune_again  1\nx_all_figures 1\nall 1\ntotal  8\n"
    assert parse_job_counts(text) == {"prune": 5, "prune_again": 1}


@pytest.mark.slow
def test_a_refused_configuration_is_told_with_its_reason(changed):
    with raises(InputError, "mid", 1.2):
        count_jobs(ROOT / "Snakefile", [str(changed(grid__mid=1.2))], everything=True)


def test_of_snakemakes_output_the_studys_own_error_is_told():
    """The file is named first; what Snakemake prints around it is not shown."""
    message = "a.yaml: study x cannot be run:\n  task.train.0: train.csv: no column 'text'; it has:\n  label"
    output = f'Using workflow profile.\nWorkflowError in file "b.smk", line 39:\n{message}\n  File "b.smk", line 39'
    assert OWN_ERROR.search(output)[1] == message
    assert not OWN_ERROR.search("KeyError in file b.smk, line 3:\n'x'")


@pytest.mark.slow
def test_jobs_are_counted_without_the_users_files(elsewhere):
    jobs = count_jobs(ROOT / "Snakefile", [str(ROOT / "config" / "paper-qqp-bert.yaml")], everything=True)
    assert (jobs["prune"], jobs["prune_again"], jobs["sentences"]) == (447, 6, 1)


# ---- against what a run made


def count_result_bytes(folder):
    return sum(path.stat().st_size for path in (folder / "results").rglob("*") if path.is_file())


@pytest.mark.slow
def test_the_plan_of_a_finished_study_is_what_it_made(finished, tmp_path, monkeypatch):
    """Jobs exactly; pairs exactly, tokens to a tenth; disk within a factor of two."""
    monkeypatch.chdir(finished)
    everything, missing = (count_jobs(ROOT / "Snakefile", [str(REDUCED)], all_of_them) for all_of_them in (True, False))
    assert everything == planned(tmp_path, REDUCED) | {"provenance": 1}
    assert missing == {}
    shape, result = read_shape(STUDY.model), count_pairs(STUDY)
    monkeypatch.chdir(tmp_path)
    assumed = count_pairs(STUDY)
    assert (result.counted, assumed.counted) == (True, False)
    for count, assumed_count in ((result.train, assumed.train), (result.evaluation, assumed.evaluation)):
        assert count.pairs == assumed_count.pairs
        assert count.tokens == pytest.approx(assumed_count.tokens, rel=0.1)
    *kept, _ = estimate_disk(STUDY, shape, result, estimate_work(STUDY, shape, result)).values()
    assert 0.5 < sum(kept) / count_result_bytes(finished) < 2


@pytest.mark.slow
def test_a_plan_on_the_terminal_counts_what_exists(finished, monkeypatch, changed):
    monkeypatch.chdir(finished)
    wider = str(changed(grid__seeds=[42, 43, 44, 45]))
    wanted, missing = (count_jobs(ROOT / "Snakefile", [wider], everything) for everything in (True, False))
    text = plan(load_study(wider), "cpu", get_device("cpu"), wanted, missing)
    rows = {line.split("  ")[0]: line.split()[-3:] for line in text.splitlines()}
    assert rows["prune"] == ["24", "20", "4"]  # one seed more, at two sparsities of two fine-tuning seeds
    assert rows["finetune"] == ["2", "2", "0"]


@pytest.mark.parametrize("name", ["h100", "a5000", "cpu"])  # a peak, a published time, assumed pairs
def test_every_number_that_was_not_measured_is_marked(name, elsewhere):
    text = plan(PAPER, name, get_device(name), Counter(finetune=1, prune=486), Counter(prune=400))
    table = re.search(r"^work.*?\n\n", text, re.MULTILINE | re.DOTALL)[0].splitlines()[2:-1]
    assert len(table) == 11
    for line in table:
        columns = re.split(r" {2,}", line)
        cells = columns[2:] if columns[0] == "total" else columns[5:7]
        assert len(cells) >= 2 and all(value.startswith("~") or value == "0" for value in cells), line


def test_a_rule_of_no_study_is_counted_for_none():
    counts = Counter({"a_prune_1_2": 1, "a_b_prune": 2, "table_replicates": 1})
    prefixes = ["a_", "a_b_"]
    assert [select_study(prefix, prefixes, counts) for prefix in prefixes] == [{"prune_1_2": 1}, {"prune": 2}]
