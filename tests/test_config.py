"""A configuration either becomes a study or one error that names the file, the key, the value and the remedy."""

import copy
import json
import re

import pytest
import yaml
from conftest import ROOT, STUDY_FILES
from mentions import mentions, raises

from heuristic_core.config.reading import ConfigError
from heuristic_core.experiments.subnetworks.config import Study, load_study, parse_study

FILES = STUDY_FILES
VALUES = {file: yaml.safe_load((ROOT / file).read_text()) for file in FILES}
GENERATED, REAL = "config/miniature-tied.yaml", "config/minilm-mnli.yaml"
SET = {"file": "a.parquet", "sentences": ["a", "b"], "group": "id"}
REMOVED = object()


def replaced(values, path, value):
    """A copy of `values` with `value` at the dotted `path`, or with nothing there."""
    values = copy.deepcopy(values)
    *parents, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    block = values
    for part in parents:
        block = block[part]
    if value is REMOVED:
        del block[last]
    else:
        block[last] = value
    return values


def faults(values):
    """The lines of the error that `values` end in, without its first, which names the file."""
    with pytest.raises(ConfigError) as caught:
        parse_study(values, "x.yaml")
    first, *lines = str(caught.value).splitlines()
    assert mentions(first, "x.yaml")
    return lines


@pytest.mark.parametrize("file", FILES)
def test_every_configuration_of_the_repository_is_a_study(file):
    study = load_study(ROOT / file)
    assert isinstance(study, Study)
    assert study.study == VALUES[file]["study"]
    assert study.grid.sparsities == VALUES[file]["grid"]["sparsities"]


@pytest.mark.parametrize("file", FILES)
def test_studies_have_different_names_and_survive_json(file):
    study = load_study(ROOT / file)
    assert [values["study"] for values in VALUES.values()].count(study.study) == 1
    assert parse_study(json.loads(study.model_dump_json())) == study


UNKNOWN = [
    (GENERATED, "analyses", ("analysis",)),
    (GENERATED, "prune.batchsize", ("batch_size",)),
    (GENERATED, "grid.early.seed", ("seeds",)),
    (GENERATED, "model.architecture.layer", ("layers",)),
    (GENERATED, "model.initialization", ("initialisation",)),
    (GENERATED, "task.train_pair", ("train_pairs",)),
    (GENERATED, "task.artefact", ("artefacts",)),
    (GENERATED, "figures.figure03.subset", ("subsets",)),
    (REAL, "model.folders", ("folder",)),
    (REAL, "task.folders", ("folder",)),
    (REAL, "task.train.0.sentence", ("sentences",)),
    (REAL, "task.evaluation.hans.merged", ("merge",)),
    (GENERATED, "grid.zzz", ("sparsities", "mid", "high", "seeds", "curve_seeds", "checkpoints", "early")),
    # Keys that are called as the variants of a model and of a task are.
    (GENERATED, "task.files", ("name", "source", "heuristic", "seed")),
    (GENERATED, "model.new", ("name", "source", "architecture")),
    (REAL, "model.pretrained", ("name", "source", "hub")),
]


@pytest.mark.parametrize(("file", "path", "known"), UNKNOWN)
def test_an_unknown_key_is_named_with_the_key_that_may_be_meant(file, path, known):
    (line,) = faults(replaced(VALUES[file], path, 37))
    assert line.startswith(f"  {path} = 37: ") and mentions(line, *known)


def test_a_misspelt_key_comes_before_the_key_that_is_therefore_missing():
    misspelt, missing = faults(replaced(replaced(VALUES[REAL], "task.labels", REMOVED), "task.lables", []))
    assert mentions(misspelt, "task.lables", "labels") and missing.startswith("  task.labels:")


def test_a_word_that_yaml_reads_as_a_boolean_is_to_be_quoted():
    (line,) = faults(replaced(VALUES[REAL], "task.labels", yaml.safe_load("[yes, maybe, other]")))
    assert mentions(line, "task.labels.0", "True", "yes")


@pytest.mark.parametrize("name", ["files", "new", "pairs", "group"])
def test_an_evaluation_set_may_be_called_as_anything_else_and_its_faults_still_name_it(name):
    assert name in parse_study(replaced(VALUES[REAL], f"task.evaluation.{name}", SET)).task.evaluation
    (line,) = faults(replaced(VALUES[REAL], f"task.evaluation.{name}", SET | {"mergs": {}}))
    assert mentions(line, f"task.evaluation.{name}.mergs", {}, "merge")


WRONG_TYPES = [
    (GENERATED, "results", 3),
    (GENERATED, "prune.rise", "300"),
    (GENERATED, "prune.rise", 300.5),
    (GENERATED, "prune.rise", True),
    (GENERATED, "prune.learning_rate", "fast"),
    (GENERATED, "prune.learning_rate", False),
    (GENERATED, "grid.seeds", 42),
    (GENERATED, "grid.seeds", "42, 43"),
    (GENERATED, "figures", None),
    (GENERATED, "model", 3),
    (GENERATED, "task", []),
    (GENERATED, "model.architecture", 4),
    (GENERATED, "model.initialisation.tie_query_key", 1),
    (GENERATED, "task.artefacts", 0.65),
    (GENERATED, "finetune.adam_betas", 0.9),
    (REAL, "task.labels", "entailment"),
    (REAL, "task.evaluation.hans", 3),
    (REAL, "task.evaluation.hans.merge", "entailment"),
]


@pytest.mark.parametrize(("file", "path", "value"), WRONG_TYPES)
def test_a_value_of_a_wrong_type_is_refused_not_converted(file, path, value):
    (line,) = faults(replaced(VALUES[file], path, value))
    assert line.startswith(f"  {path} = {value!r}: ")


def test_numbers_of_items_are_named_with_their_place_in_the_list():
    (line,) = faults(replaced(VALUES[GENERATED], "task.counter_example_weights.3", "x"))
    assert mentions(line, "task.counter_example_weights.3", "'x'")
    (line,) = faults(replaced(VALUES[REAL], "task.train.0.file", 5))
    assert mentions(line, "task.train.0.file", 5)


LAST = VALUES[GENERATED]["finetune"]["steps"]
PAIRS = VALUES[GENERATED]["task"]["train_pairs"]
POSITIONS = VALUES[GENERATED]["model"]["architecture"]["positions"]
AT = SET | {"url": "https://a.org/x.csv", "sha256": "0" * 64, "file": "x.csv"}
HANS_FILE = VALUES[REAL]["task"]["evaluation"]["hans"]["file"]
# Where, what, and what the message must say: the key, the value, what would be right.
IMPOSSIBLE = [
    (GENERATED, "task.heuristic", "", ["task.heuristic", "''"]),
    (REAL, "task.heuristic", "{{ a }}", ["task.heuristic", "'{{ a }}'"]),
    (GENERATED, "grid.sparsities", [0.35, 0.5, 1.2], ["grid.sparsities.2 = 1.2", 1]),
    (GENERATED, "grid.sparsities", [0, 0.35, 0.5], ["grid.sparsities.0 = 0"]),
    (GENERATED, "grid.sparsities", [0.5, 0.35], ["sparsities", "[0.35, 0.5]"]),
    (GENERATED, "grid.sparsities", [0.35, 0.35, 0.5], ["sparsities", "0.35"]),
    (GENERATED, "grid.sparsities", [], ["grid.sparsities = []", 1]),
    (GENERATED, "grid.mid", 0.36, ["grid", "mid = 0.36", "sparsities"]),
    (GENERATED, "grid.high", 0.77, ["grid", "high = 0.77", "sparsities"]),
    (GENERATED, "grid.mid", 0.5, ["grid", "mid = 0.5", "high = 0.5"]),
    (GENERATED, "grid.mid", 0.6, ["grid", "mid = 0.6", "high = 0.5"]),
    (GENERATED, "grid.seeds", [42, 43, 42], ["grid", "seeds", "42"]),
    (GENERATED, "grid.seeds", [42], ["grid.seeds = [42]", 2]),
    (GENERATED, "grid.seeds", [42, -1], ["grid.seeds.1 = -1", 0]),
    (GENERATED, "grid.curve_seeds", [7, 7], ["grid", "curve_seeds", "7"]),
    (GENERATED, "grid.early.seeds", [8, 8], ["grid", "early.seeds", "8"]),
    (GENERATED, "grid.checkpoints", [LAST, 400], ["grid", "checkpoints", f"[400, {LAST}]"]),
    (GENERATED, "grid.checkpoints", [399, LAST], ["grid.checkpoints", "399", "finetune.checkpoints"]),
    (GENERATED, "grid.checkpoints", [400], ["grid.checkpoints", LAST]),
    (GENERATED, "grid.early.checkpoint", 7, ["grid.early.checkpoint", "7", "finetune.checkpoints"]),
    (
        GENERATED,
        "mechanism",
        {"entry": {"checkpoints": [399, LAST], "seeds": [91, 92]}},
        ["mechanism.entry.checkpoints", "399"],
    ),
    (
        GENERATED,
        "mechanism",
        {"entry": {"checkpoints": [400, LAST], "seeds": [91, 42]}},
        ["entry.seeds", "42", "grid.seeds"],
    ),
    (GENERATED, "finetune.seeds", [3, 3], ["finetune", "seeds", "3"]),
    (GENERATED, "finetune.checkpoints", [400, LAST + 1], ["finetune", "checkpoints", f"{LAST + 1}", "steps"]),
    (GENERATED, "finetune.checkpoints", [LAST, 400], ["finetune", "checkpoints", f"[400, {LAST}]"]),
    (GENERATED, "finetune.checkpoints", [], ["finetune.checkpoints = []", 1]),
    (GENERATED, "finetune.warmup_steps", LAST + 1, ["finetune", f"warmup_steps = {LAST + 1}", f"steps = {LAST}"]),
    (GENERATED, "finetune.adam_betas", [0.9, 2], ["finetune.adam_betas.1 = 2"]),
    (GENERATED, "finetune.dropout", 1.0, ["finetune.dropout = 1.0"]),
    (GENERATED, "prune.batch_size", 0, ["prune.batch_size = 0"]),
    (GENERATED, "prune.gate_draws", 3, ["prune", "batch_size", "gate_draws = 3"]),
    (
        GENERATED,
        "prune.warmup_steps",
        301,
        ["prune", "rise", "hold", 300, "sparsity 0.2", "warmup_steps = 301"],
    ),
    (GENERATED, "prune.dropout", True, ["prune", "together = 9", "dropout"]),
    (GENERATED, "prune.thresholds", {0.5: 0.4}, ["prune", "thresholds", "discretise", "'threshold'"]),
    (GENERATED, "prune.threshold_rule", "nearest", ["prune", "threshold_rule = 'nearest'", "discretise"]),
    (GENERATED, "prune.threshold_rule", "near", ["prune.threshold_rule = 'near'", "'faithful'", "'nearest'"]),
    (GENERATED, "prune.thresholds", {1.5: 0.4}, ["prune.thresholds", 1]),
    (GENERATED, "prune.discretise", "round", ["prune.discretise = 'round'", "'exact'", "'threshold'"]),
    (GENERATED, "device", "gpu", ["device = 'gpu'", "'cpu'", "'cuda'"]),
    (GENERATED, "prune.examples", PAIRS + 1, [f"prune.examples = {PAIRS + 1}", PAIRS]),
    (GENERATED, "prune.mean_examples", PAIRS + 1, [f"prune.mean_examples = {PAIRS + 1}", PAIRS]),
    (GENERATED, "task.max_length", POSITIONS + 1, [f"task.max_length = {POSITIONS + 1}", POSITIONS]),
    (GENERATED, "task.counter_example_weights", [1] * 10, ["task.counter_example_weights", 11, 10]),
    (GENERATED, "task.counter_example_weights", [1] * 12, ["task.counter_example_weights", 11, 12]),
    (GENERATED, "task.counter_example_weights", [0] * 11, ["task", "counter_example_weights", "0"]),
    (GENERATED, "task.counter_examples", 1.5, ["task.counter_examples = 1.5", 1]),
    (GENERATED, "task.artefacts", {"added_modifiers": 1.5}, ["task.artefacts.added_modifiers = 1.5", 1]),
    (GENERATED, "task.artefacts", {"foreign_premises": -1}, ["task.artefacts.foreign_premises = -1", 0]),
    (
        GENERATED,
        "task.artefacts",
        {"planted_words": 0.5},
        ["task.artefacts", "planted_words = 0.5", "foreign_premises"],
    ),
    (GENERATED, "model.architecture.heads", 7, ["model.architecture", "hidden", "heads = 7"]),
    (GENERATED, "model.source", "old", ["model", "source", "'old'", "'new'", "'pretrained'"]),
    (GENERATED, "results", "", ["results = ''"]),
    (GENERATED, "results", "my results", ["results = 'my results'"]),
    (
        "config/minilm-qqp.yaml",
        "analysis.ablation_kinds",
        ["counterfactual"],
        ["analysis.ablation_kinds = ['counterfactual']", "'mean'", "'zero'", "'resample'"],
    ),
    (REAL, "task.train", [], ["task.train = []", 1]),
    (REAL, "task.train_pairs", 1, ["prune.examples", "task.train_pairs = 1"]),
    (REAL, "task.labels", ["yes", "yes"], ["task", "labels", "yes"]),
    (REAL, "task.evaluation", {}, ["task.evaluation = {}", 1]),
    (REAL, "task.evaluation.hans.group", "id", ["task.evaluation.hans", "group", "group_by_label"]),
    (REAL, "task.evaluation.mnli_matched.group", REMOVED, ["task.evaluation.mnli_matched", "group", "group_by_label"]),
    (REAL, "task.evaluation.mnli_matched.group", "odd", ["mnli_matched.group = 'odd'", "'id'", "'ood'"]),
    (REAL, "task.train.0.sentences", ["premise", "premise"], ["task.train.0.sentences"]),
    (REAL, "task.evaluation.x", AT | {"sha256": None}, ["task.evaluation.x", "url", "sha256"]),
    (REAL, "task.evaluation.x", AT | {"url": None}, ["task.evaluation.x", "url", "sha256"]),
    (REAL, "task.evaluation.x", AT | {"url": "ftp://a.org/x"}, ["x.url = 'ftp://a.org/x'"]),
    (REAL, "task.evaluation.x", AT | {"sha256": "ab"}, ["x.sha256 = 'ab'"]),
    (REAL, "task.evaluation.x", AT | {"hub": "a/b", "revision": "0" * 40}, ["task.evaluation.x", "url", "hub"]),
    (REAL, "task.evaluation.x", AT | {"file": "part-*.csv"}, ["task.evaluation.x", "url", "file"]),
    (REAL, "task.evaluation.x", AT | {"file": "../x.csv"}, ["task.evaluation.x", "url", "file", "folder"]),
    (REAL, "task.evaluation.x", AT | {"format": "saved"}, ["task.evaluation.x", "url", "file"]),
    (
        REAL,
        "task.evaluation.x",
        AT | {"file": HANS_FILE},
        ["task", "task.evaluation.x", "task.evaluation.hans", HANS_FILE],
    ),
]


@pytest.mark.parametrize(("file", "path", "value", "parts"), IMPOSSIBLE)
def test_an_impossible_value_is_named_with_what_would_be_right(file, path, value, parts):
    (line,) = faults(replaced(VALUES[file], path, value))
    assert mentions(line, *parts), line


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), "inf", "nan"])
@pytest.mark.parametrize("path", ["prune.learning_rate", "prune.log_alpha_mean", "analysis.margin"])
def test_numbers_are_finite(path, value):
    (line,) = faults(replaced(VALUES[GENERATED], path, value))
    assert re.match(rf"  {path} = '?-?(inf|nan)'?: ", line)


@pytest.mark.parametrize(
    ("file", "path"),
    [
        (GENERATED, "study"),
        (GENERATED, "grid"),
        (GENERATED, "prune.rise"),
        (GENERATED, "model.architecture.layers"),
        (GENERATED, "task.seed"),
        (REAL, "task.train.0.file"),
        (REAL, "task.evaluation.hans.sentences"),
    ],
)
def test_a_missing_key_is_named(file, path):
    (line,) = faults(replaced(VALUES[file], path, REMOVED))
    assert line.startswith(f"  {path}: ")


@pytest.mark.parametrize("block", ["model", "task"])
def test_a_missing_source_is_named(block):
    (line,) = faults(replaced(VALUES[GENERATED], f"{block}.source", REMOVED))
    assert line.startswith(f"  {block}") and "source" in line


def test_all_faults_stand_in_one_error_one_on_a_line():
    values = replaced(VALUES[GENERATED], "prune.batch_size", 0)
    values = replaced(replaced(values, "grid.mids", 1), "study", REMOVED)
    assert sorted(line.split(":")[0].strip() for line in faults(values)) == [
        "grid.mids = 1",
        "prune.batch_size = 0",
        "study",
    ]


def test_held_out_pairs_must_exist_too():
    values = replaced(replaced(VALUES[GENERATED], "prune.discretise", "threshold"), "prune.examples", PAIRS)
    with raises(ConfigError, "prune.examples", PAIRS, "prune.held_out", 500, PAIRS + 500):
        parse_study(values)
