"""The paper's configurations: their grids add up as the paper says, and several studies make one run."""

import json
import re
from collections import Counter
from itertools import chain

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from conftest import ROOT
from mentions import raises
from pair_files import paws_of_the_paper
from reduced import REDUCED, planned, snakemake

from heuristic_core.config.reading import ConfigError, read_config, read_merged_configs
from heuristic_core.config.tasks import FilesTask
from heuristic_core.data.files import read_task
from heuristic_core.experiments.studies import parse_studies
from heuristic_core.experiments.subnetworks.config import load_study, parse_study
from heuristic_core.experiments.subnetworks.config.cells import list_cells, repeated_cells
from heuristic_core.plan.jobs import select_study

CONFIG = ROOT / "config"
OWN = CONFIG / "pruning" / "own-choices.yaml"
STUDIES = ("mnli-bert", "qqp-bert", "mnli-roberta", "mnli-gpt2")
# The paper's grid: sparsities of the curve, and checkpoints of effective size.
SPARSITIES = {name: range(5, 70 if name == "qqp-bert" else 75, 5) for name in STUDIES}
CHECKPOINTS = dict.fromkeys(STUDIES, range(500, 54501, 6000)) | {
    "qqp-bert": range(500, 14001, 1500),
    "mnli-gpt2": range(500, 108501, 12000),  # ours
}
SPREAD = {"mnli-bert": (50, 70), "qqp-bert": (30, 60), "mnli-roberta": (50, 70), "mnli-gpt2": (40, 60)}
LAST = {"mnli-bert": 61360, "qqp-bert": 40000, "mnli-roberta": 61360, "mnli-gpt2": 122720}
PAPER = {"mnli-bert": 486, "qqp-bert": 453, "mnli-roberta": 486, "mnli-gpt2": 486}

# HANS's subcases, with - for a slash.
HANS = {
    f"{prefix}_{name}"
    for prefix, names in {
        "ln": "subject-object_swap preposition relative_clause passive conjunction",
        "le": "relative_clause around_prepositional_phrase around_relative_clause conjunction passive",
        "sn": "NP-S PP_on_subject relative_clause_on_subject past_participle NP-Z",
        "se": "conjunction adjective understood_object relative_clause_on_obj PP_on_obj",
        "cn": "embedded_under_if after_if_clause embedded_under_verb disjunction adverb",
        "ce": "embedded_under_since after_since_clause embedded_under_verb conjunction adverb",
    }.items()
    for name in names.split()
}


def file(name):
    return CONFIG / f"paper-{name}.yaml"


def layers(name):
    return [file(name), CONFIG / "pruning" / "as-published.yaml", CONFIG / "as-published" / f"{name}.yaml"]


def dumped(study):
    """Its settings but the name, those of effective size also where they are the defaults."""
    values, analysis = study.model_dump(exclude={"study"}), study.analysis
    return values | {"analysis": values["analysis"] | {key: getattr(analysis, key) for key in ("size_order", "mixed")}}


def papers_runs(name):
    """(step, sparsity in percent, pruning seed) of every run, experiment by experiment: some twice."""
    last, seeds = LAST[name], (42, 43, 44)
    yield from ((last, sparsity, seed) for sparsity in SPREAD[name] for seed in range(42, 54))
    yield from ((last, sparsity, seed) for sparsity in SPARSITIES[name] for seed in seeds)
    for step in CHECKPOINTS[name]:
        yield from ((step, sparsity, seed) for sparsity in SPARSITIES[name] for seed in seeds)


@pytest.mark.parametrize("name", STUDIES)
def test_the_grid_is_the_papers_run_by_run(name):
    study = load_study(file(name))
    ours = Counter((c.step, round(100 * c.sparsity), c.seed) for c in list_cells(study) + repeated_cells(study))
    assert ours == Counter(papers_runs(name))
    assert ours.total() == PAPER[name]


@pytest.mark.parametrize("name", STUDIES)
def test_tests_by_random_sets_can_reach_the_level(name):
    """A two-sided p of n random sets is at least 2 / (1 + n)."""
    assert 2 / (1 + load_study(file(name)).analysis.control_draws) < 0.05


def test_the_papers_939_runs_are_those_of_the_two_bert_models():
    assert PAPER["mnli-bert"] + PAPER["qqp-bert"] == 939
    assert {load_study(file(name)).counterpart.model for name in ("mnli-bert", "qqp-bert")} == {"bert"}


@pytest.mark.parametrize("name", STUDIES)
def test_weights_are_kept_only_where_the_grid_prunes(name):
    study = load_study(file(name))
    assert study.finetune.checkpoints == study.grid.checkpoints == [*CHECKPOINTS[name], LAST[name]]
    assert study.finetune.steps == LAST[name]


@pytest.mark.parametrize("name", STUDIES)
def test_as_published_changes_what_the_code_did_otherwise_and_nothing_else(name):
    study, published = load_study(file(name)), parse_study(read_merged_configs(layers(name)))
    assert published.study == f"{study.study}-as-published"
    assert study.prune.examples is published.prune.examples is study.prune.mean_examples is None  # all there are
    assert (published.prune.pairs_held_out, published.prune.mean_examples) == (0, 100_000)
    before, after = (dumped(item) for item in (study, published))
    changed = {key for key in before if before[key] != after[key]}
    assert changed == {"prune", "analysis"} | ({"finetune"} if name == "qqp-bert" else set())
    assert before["analysis"] | {"size_order": "per-seed", "mixed": "subsets"} == after["analysis"]
    preset = read_config(CONFIG / "pruning" / "as-published.yaml")["prune"]
    assert {key: getattr(published.prune, key) for key in preset} == preset
    others = after["prune"].keys() - preset.keys()
    assert {key for key in others if before["prune"][key] != after["prune"][key]} == {"mean_examples"}


@pytest.mark.parametrize("name", STUDIES)
def test_the_papers_studies_follow_its_text_and_own_choices_are_an_overlay(name):
    study, with_overlay = load_study(file(name)), parse_study(read_merged_configs([file(name), OWN]))
    before, after = dumped(study), dumped(with_overlay)
    text = {"effective_size": "grid", "size_order": "mean-first", "mixed": "groups"}
    ours = {"effective_size": "interpolated", "size_order": "per-seed", "mixed": "groups"}
    assert before["analysis"] | text == before["analysis"] and before["analysis"] | ours == after["analysis"]
    rule = {"discretise": "threshold", "threshold_rule": "nearest"}
    exact = {"discretise": "exact", "threshold_rule": "faithful"}
    assert before["prune"] | rule == before["prune"]
    assert before["prune"] | exact == after["prune"]
    assert (study.prune.thresholds, study.prune.pairs_held_out, with_overlay.prune.pairs_held_out) == ({}, 0, 0)
    assert {key for key in before if before[key] != after[key]} == {"prune", "analysis"}


def test_qqp_has_the_batch_of_the_papers_text_and_of_its_script():
    assert load_study(file("qqp-bert")).finetune.batch_size == 256
    assert parse_study(read_merged_configs(layers("qqp-bert"))).finetune.batch_size == 128


def test_later_files_override_earlier_files_as_snakemake_does_it():
    from snakemake.utils import update_config

    for name in STUDIES:
        expected = {}
        for path in layers(name):
            update_config(expected, yaml.safe_load(path.read_text()))
        assert read_merged_configs(layers(name)) == expected


def test_the_subsets_that_are_named_are_those_of_hans():
    assert len(HANS) == 30
    for name in ("mnli-bert", "mnli-roberta", "mnli-gpt2"):
        study = load_study(file(name))
        figures = chain.from_iterable(figure.subsets or [] for _, figure in study.figures)
        named = {*study.analysis.subsets, *figures} - {"mnli_matched", "mnli_mismatched"}
        assert named <= HANS


def test_each_label_of_paws_is_a_subset_of_its_own(tmp_path):
    """It has no column that splits it, and its label decides whether word overlap is right."""
    values = read_config(file("qqp-bert"))["task"]
    pairs = pa.table({"sentence1": ["a", "c", "e"], "sentence2": ["b", "d", "f"], "label": [0, 1, 0]})
    pq.write_table(pairs, tmp_path / "pairs.parquet")
    local = {"file": "pairs.parquet", "sentences": ["sentence1", "sentence2"]}
    paws = {
        name: {key: value for key, value in split.items() if key != "format"} | local
        for name, split in values["evaluation"].items()
        if name.startswith("paws")
    }
    values |= {"folder": str(tmp_path), "train": [local], "evaluation": paws}
    read = read_task(FilesTask.model_validate(values))
    result = {(row["subset"], row["group"], row["sentence1"]) for row in read.evaluation}
    assert result == {
        ("paws_adversarial", "ood", "a"),
        ("paws_duplicates", "ood-entailment", "c"),
        ("paws_adversarial", "ood", "e"),
    }


# ---- dry runs, by the real command, before anything is downloaded


def expected(name, jobs):
    """The counts of `jobs` that the grid decides, beside what they should be."""
    again, checkpoints = 6, len(CHECKPOINTS[name]) + 1
    counts = {"finetune": 1, "full_model": checkpoints, "gather": checkpoints, "ablate": 1, "report": 1}
    counts |= {"prune": PAPER[name] - again, "evaluate": PAPER[name] - again}
    counts |= {"prune_again": again, "evaluate_again": again}
    return {rule: jobs.get(rule) for rule in counts}, counts


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_a_dry_run_has_a_job_for_every_run_of_the_grid(name, tmp_path):
    paws_of_the_paper(tmp_path)
    result, counts = expected(name, planned(tmp_path, file(name)))
    assert result == counts


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.parametrize("overlay", ["as-published", "own-choices"])
def test_a_dry_run_of_a_study_with_an_overlay(name, overlay, tmp_path):
    paws_of_the_paper(tmp_path)
    files = layers(name) if overlay == "as-published" else [file(name), OWN]
    result, counts = expected(name, planned(tmp_path, files))
    assert result == counts


@pytest.mark.slow
def test_one_dry_run_of_all_four_studies(tmp_path):
    paws_of_the_paper(tmp_path)
    jobs = Counter(planned(tmp_path, CONFIG / "paper.yaml"))
    prefixes = {f"paper_{name.replace('-', '_')}_": name for name in STUDIES}
    for prefix, name in prefixes.items():
        result, counts = expected(name, select_study(prefix, prefixes, jobs))
        assert result == counts, name


# ---- several studies in one run


@pytest.fixture
def two_studies(tmp_path):
    """A file that names the reduced study, and another with a smaller grid; and those two."""
    values = read_config(REDUCED)
    smaller = values | {"study": "b-2", "grid": values["grid"] | {"seeds": [42, 43], "early": None, "repeats": []}}
    paths = []
    for name, study in (("a", values), ("b", smaller)):
        paths.append(tmp_path / f"{name}.yaml")
        paths[-1].write_text(yaml.safe_dump(study))
    path = tmp_path / "both.yaml"
    path.write_text("studies: [a.yaml, b.yaml]\n")
    return path, paths


@pytest.mark.slow
def test_each_study_of_several_has_the_jobs_that_it_has_alone(two_studies, tmp_path):
    path, alone = two_studies
    jobs, prefixes = Counter(planned(tmp_path / "x", path)), ("reduced_", "b_2_")
    result = [select_study(prefix, prefixes, jobs) for prefix in prefixes]
    assert result == [planned(tmp_path / "x", item) for item in alone]
    assert result[0] != result[1]


@pytest.mark.slow
def test_each_study_of_several_runs_with_its_own_settings(two_studies, tmp_path):
    path, alone = two_studies
    snakemake(tmp_path / "x", "--", "reduced_describe", "b_2_describe", config=path)
    for name, config in zip(("reduced", "b-2"), alone, strict=True):
        description = json.loads((tmp_path / "x" / "results" / name / "study.json").read_text())
        assert description["settings"] == json.loads(load_study(config).model_dump_json())


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"studies": []}, ("both.yaml", "studies", "[]")),
        ({"studies": "a.yaml"}, ("both.yaml", "studies", "'a.yaml'")),
        ({"studies": ["a.yaml"], "device": "cpu"}, ("both.yaml", "device", "'cpu'")),
        ({"studies": ["a.yaml", "none.yaml"]}, ("none.yaml",)),
        ({"studies": ["a.yaml", "b.yaml", "a.yaml"]}, ("both.yaml", "studies", "a.yaml")),
    ],
)
def test_faulty_studies_are_named(two_studies, values, named):
    path, _ = two_studies
    with raises(ConfigError, *named):
        parse_studies(values, path)


@pytest.mark.slow
def test_a_job_that_runs_models_takes_a_gpu_and_no_other_does(tmp_path):
    folder = "results/paper-mnli-bert/bert-base-cased/mnli/ft1"
    text = snakemake(tmp_path, "--dry-run", "--", f"{folder}/accuracy.parquet", config=file("mnli-bert")).stdout
    jobs = {part.split(":")[0]: part for part in re.split(r"^ *(?:local)?rule ", text, flags=re.MULTILINE)[1:]}
    assert {name for name, part in jobs.items() if "gpu=1" in part} == {"finetune"}
    assert {"encode", "sentences", "finetune_accuracy"} <= jobs.keys()
