"""Faults that the configuration and the first rows of files tell, found before anything is read in full."""

import logging

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import ROOT
from mentions import mentions, raises
from pair_files import FORMATS, MADE_UP, NLI, make_task
from task_rows import HANS, HANS_ROWS, pairs

from heuristic_core.config.models import PretrainedModel
from heuristic_core.config.reading import ConfigError, read_config
from heuristic_core.config.requirements import DataRequirements
from heuristic_core.config.splits import EvaluationSplit
from heuristic_core.data import preview
from heuristic_core.data.preview import find_task_errors
from heuristic_core.data.readers import read_columns
from heuristic_core.experiments.subnetworks.config import load_study, parse_study
from heuristic_core.experiments.subnetworks.plan.sources import check_sources
from heuristic_core.models.folder import find_problem

MODEL = {"name": "m", "source": "pretrained"}


@pytest.mark.parametrize("kind", FORMATS)
def test_sound_files_of_every_format_have_no_fault_and_say_nothing(tmp_path, kind, caplog):
    write, name, sentences, label = FORMATS[kind]
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    write(path, MADE_UP, NLI)
    caplog.set_level(logging.WARNING)
    assert find_task_errors(make_task(tmp_path, name, sentences, label)) == [] and not caplog.messages


@pytest.mark.parametrize("kind", FORMATS)
def test_of_every_format_the_first_rows_can_be_read(tmp_path, kind):
    write, name, sentences, label = FORMATS[kind]
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    write(path, MADE_UP, NLI)
    whole, first = (read_columns(path, None, [*sentences, label], max_rows=most) for most in (None, 2))
    assert {column: values[:2] for column, values in whole.values.items()} == first.values
    assert whole.classes == first.classes


def test_every_split_with_a_fault_has_a_line(task, tmp_path):
    spec = {"group": "id"}
    made = task(
        pairs("neutral", "entailed"),
        {"a": (pairs(0), spec | {"label": "gold"}), "b": (pairs("neutral"), spec), "c": (pairs(2), spec)},
    )
    (tmp_path / "c.parquet").unlink()
    first, second, third = find_task_errors(made)
    assert mentions(first, "task.train.0", "label", "'entailed'", "`merge`")
    assert mentions(second, "task.evaluation.a", tmp_path / "a.parquet", "'gold'", "premise")
    assert mentions(third, "task.evaluation.c", tmp_path / "c.parquet")


@pytest.mark.parametrize(
    ("evaluation", "named"),
    [
        ({"hans": (HANS_ROWS, HANS | {"merge": None})}, ("task.evaluation.hans", "merge")),
        ({"dev": (pairs(0), {"group": "id", "only_label": "x"})}, ("task.evaluation.dev.only_label", "'x'")),
        (
            {"hans": (HANS_ROWS, HANS), "cn_x": (pairs(0), {"group": "id"})},
            ("task.evaluation.cn_x", "'cn_x'"),
        ),
        ({"hans": (HANS_ROWS, HANS), "more": (HANS_ROWS, HANS)}, ("task.evaluation.more",)),
        ({"hans": (HANS_ROWS, HANS)}, None),
        ({"hans": (HANS_ROWS, HANS | {"split_by": None})}, ("task.evaluation.hans", "hans.parquet", "`split_by`")),
        (
            {"hans": (HANS_ROWS, HANS | {"group_by_label": {"entailment": "ood"}})},
            ("task.evaluation.hans", "'non-entailment'"),
        ),
    ],
)
def test_what_sets_and_subsets_are_called_and_count_as_is_checked(task, evaluation, named):
    result = find_task_errors(task(evaluation=evaluation))
    assert (result == []) if named is None else (len(result) == 1 and mentions(result[0], *named)), result


def test_a_subset_that_is_asked_for_and_is_not_there_is_named_if_all_rows_were_read(task, monkeypatch):
    made = task(evaluation={"hans": (HANS_ROWS, HANS), "dev": (pairs(0), {"group": "id"})})
    requested = {"analysis.subsets": ["dev", "ln_b-a"], "figures.table3.subsets": ["dev", "cn_y"]}
    (message,) = find_task_errors(made, DataRequirements(subsets=requested))
    assert mentions(message, "figures.table3.subsets", "'cn_y'", "ce_x", "cn_x", "ln_b-a", "dev")
    monkeypatch.setattr(preview, "PREVIEW_ROWS", 4)  # further rows may have it
    assert find_task_errors(made, DataRequirements(subsets=requested)) == []


def test_a_subset_that_is_still_to_be_downloaded_is_known(task, tmp_path):
    later = {"file": "later.tsv", "url": "https://a.b/c", "sha256": "0" * 64, "sentences": ["a", "b"], "group": "id"}
    made = task(evaluation={"hans": (HANS_ROWS, HANS)})
    made = made.model_copy(update={"evaluation": made.evaluation | {"dev": EvaluationSplit.model_validate(later)}})
    assert find_task_errors(made, DataRequirements(subsets={"analysis.subsets": ["dev", "cn_x"]})) == []
    (message,) = find_task_errors(made, DataRequirements(subsets={"analysis.subsets": ["x"]}))
    assert mentions(message, "analysis.subsets", "'x'")


def test_a_subset_of_files_that_no_column_names_is_checked_with_the_configuration():
    values = read_config(ROOT / "config" / "minilm-mnli.yaml")
    for split in values["task"]["evaluation"].values():
        split.pop("split_by", None)
    names = list(values["task"]["evaluation"])
    values["figures"] = {}
    parse_study(values | {"analysis": {"subsets": names}}, "mine.yaml")
    with raises(ConfigError, "analysis.subsets", "'x'", *names):
        parse_study(values | {"analysis": {"subsets": ["x"]}}, "mine.yaml")


def test_only_the_first_rows_are_read_and_torn_lines_among_them_are_none_yet(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(preview, "PREVIEW_ROWS", 3)
    header, torn, bad = "sentence1\tsentence2\tlabel\n", "half a question\n", "a\tb\tunknown\n"
    (tmp_path / "a.tsv").write_text(header + torn + 3 * "a\tb\t0\n" + bad)
    assert find_task_errors(make_task(tmp_path, "a.tsv")) == [] and not caplog.messages
    (tmp_path / "a.tsv").write_text(header + bad + 3 * "a\tb\t0\n")
    assert len(find_task_errors(make_task(tmp_path, "a.tsv"))) == 2


def test_json_lines_are_read_on_until_every_column_was_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(preview, "PREVIEW_ROWS", 1)
    row, unlabelled = '{"sentence1": "a", "sentence2": "b", "label": %d}\n', '{"sentence1": "a", "sentence2": "b"}\n'
    (tmp_path / "a.jsonl").write_text(unlabelled + row % 0 + row % 9)
    assert find_task_errors(make_task(tmp_path, "a.jsonl")) == []
    (tmp_path / "a.jsonl").write_text('{"sentence1": "a"}\n{"label": 0}\n')
    assert mentions(find_task_errors(make_task(tmp_path, "a.jsonl"))[0], "a.jsonl", "'sentence2'")


def test_a_parquet_file_without_rows_is_read_by_its_schema(tmp_path):
    columns = {name: pa.array([], pa.string()) for name in ("sentence1", "sentence2", "label")}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    (message,) = find_task_errors(make_task(tmp_path, "a.parquet"))
    assert mentions(message, "task.evaluation.dev", 0, "a.parquet")
    assert mentions(find_task_errors(make_task(tmp_path, "a.parquet", label="gold"))[0], "a.parquet", "'gold'")


def test_what_is_still_to_be_downloaded_has_no_fault_but_its_configuration_has(tmp_path):
    study = load_study(ROOT / "config" / "paper-mnli-bert.yaml")
    hans = study.task.model_copy(update={"folder": str(tmp_path)})
    assert find_task_errors(hans) == []
    (name,) = [name for name, split in hans.evaluation.items() if split.url]
    without = hans.evaluation | {name: hans.evaluation[name].model_copy(update={"merge": None})}
    message = find_task_errors(hans.model_copy(update={"evaluation": without}))[0]
    assert mentions(message, f"task.evaluation.{name}", "merge")


@pytest.mark.parametrize(
    ("place", "named"),
    [
        ({"folder": "nowhere"}, ("model.folder", "'nowhere'")),
        ({"folder": "empty"}, ("model.folder", "'empty'", "config.json")),
        ({"folder": "high"}, ("'high/a/b'",)),
        ({"package": "no_such_package", "folder": "m"}, ("model.package", "'no_such_package'")),
        ({"package": "no_such.package", "folder": "m"}, ("model.package", "'no_such.package'")),
        ({"package": "heuristic_core", "folder": "checkpoints"}, ("'checkpoints/mini-bert'",)),
        ({"folder": "torn"}, ("torn/config.json",)),
        ({"folder": "list"}, ("list/config.json", "JSON")),
        ({"folder": "other"}, ("['x', 'y']", "task.labels")),
        ({"folder": "high/a/b"}, ("high/a/b/config.json", "model_type", None)),
    ],
)
def test_a_model_that_is_not_there_or_of_other_classes_is_named(tmp_path, monkeypatch, place, named):
    monkeypatch.chdir(tmp_path)
    configs = {"high/a/b": "{}", "torn": "{", "list": "[]", "other": '{"id2label": {"0": "x", "1": "y"}}'}
    for folder in ("empty", *configs):
        (tmp_path / folder).mkdir(parents=True)
    for folder, text in configs.items():
        (tmp_path / folder / "config.json").write_text(text)
    result = find_problem(PretrainedModel.model_validate(MODEL | place), NLI)
    assert mentions(result, *named), result


def test_the_default_study_can_begin():
    check_sources(load_study(ROOT / "config.yaml"), "config.yaml")


SET = {"file": "a.parquet", "sentences": ["a", "b"]}


@pytest.mark.parametrize("group", ["id", "ood"])
def test_a_study_without_in_domain_or_without_out_of_domain_pairs_is_refused(group):
    values = read_config(ROOT / "config" / "minilm-mnli.yaml") | {"figures": {}}
    other = {"id": "ood", "ood": "id"}[group]
    by_label = {"group_by_label": {"neutral": other, "entailment": group}, "only_label": "neutral"}
    for without in (SET | {"group": other}, SET | by_label):
        sets = {"a": without}
        with raises(ConfigError, f"'{group}'", f"`group: {group}`"):
            parse_study(values | {"task": values["task"] | {"evaluation": sets}})
        sets["b"] = SET | {"group": group}
        assert parse_study(values | {"task": values["task"] | {"evaluation": sets}})
