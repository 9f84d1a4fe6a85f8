"""Settings that need more training pairs than there are, told before anything runs, or by the first job."""

import gzip
import json
import re

import pytest
from conftest import ROOT
from mentions import mentions, raises
from pair_files import FORMATS, NLI, make_task

from heuristic_core.common.errors import format_count
from heuristic_core.config.reading import ConfigError, read_config
from heuristic_core.config.requirements import DataRequirements
from heuristic_core.data import preview
from heuristic_core.data.counts import format_shortage, list_unmet_requirements
from heuristic_core.data.preview import count_max_rows, find_task_errors
from heuristic_core.data.sentences import load_sentences
from heuristic_core.experiments.subnetworks.config import parse_study
from heuristic_core.experiments.subnetworks.plan.sources import check_sources

NEEDS = {"prune.examples = 9": 9, "finetune.batch_size = 8": 8}


def numbered(count, label=lambda index: index % 3):
    return [{"premise": f"p{i}", "hypothesis": f"h{i}", "label": label(i)} for i in range(count)]


@pytest.mark.parametrize(
    ("rows", "fields", "counts"),
    [
        (numbered(9), {}, None),
        ([*numbered(9), {"premise": "p", "hypothesis": "h", "label": -1}], {}, None),
        (numbered(8), {}, (8,)),
        (numbered(12, lambda i: i % 3 if i < 8 else -1), {}, (8, 12, 4)),
        (numbered(10), {"drop_overlap": True}, (8, 10, 2)),
        (numbered(10), {"drop_overlap": True, "train_pairs": 8}, (8,)),
    ],
)
def test_settings_that_need_more_training_pairs_than_files_hold_are_told(task, rows, fields, counts):
    made = task(rows, {"dev": (numbered(20)[8:], {"group": "id"})}, **fields)
    result = find_task_errors(made, DataRequirements(NEEDS))
    if counts is None:
        assert result == []
        assert list_unmet_requirements(load_sentences(made), DataRequirements(NEEDS)) == []
        return
    (message,) = result
    assert mentions(message, "prune.examples", 9, "train.parquet", *counts)
    assert list_unmet_requirements(load_sentences(made), DataRequirements(NEEDS)) == [message]


@pytest.mark.parametrize(
    ("setting", "need"), [("prune.examples = 9", 9), ("prune.held_out = 20", 21), ("prune.examples = 2000", 2000)]
)
def test_what_a_setting_needs_is_said_once(task, setting, need):
    (message,) = find_task_errors(
        task(numbered(2), {"dev": (numbered(2), {"group": "id"})}), DataRequirements({setting: need})
    )
    assert message.startswith(setting) and mentions(message, need, 2, "train.parquet")
    assert len(re.findall(rf"\b({need:,}|{need})\b", message)) == 1


@pytest.mark.parametrize("count", [0, 1, 2, 1000])
def test_a_number_of_things_has_its_noun_in_the_right_number(count):
    assert format_count(count, "token") == {1: "1 token", 1000: "1,000 tokens"}.get(count, f"{count} tokens")
    assert mentions(format_shortage("a = 2", 2, count, "b"), "a", 2, format_count(count, "training pair"), "b")


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "csv.gz"])
@pytest.mark.parametrize("count", [6, 50])
def test_of_long_files_their_length_bounds_what_they_hold(tmp_path, monkeypatch, ending, count):
    monkeypatch.setattr(preview, "PREVIEW_ROWS", 4)
    rows = [("a", "b", 0), ("c", "d", 1)] * (count // 2)
    if ending == "parquet":
        FORMATS["parquet"][0](tmp_path / "a.parquet", rows, NLI)
    elif ending == "jsonl":
        columns = ("sentence1", "sentence2", "label")
        text = "".join(json.dumps(dict(zip(columns, row, strict=True))) + "\n" for row in rows)
        (tmp_path / "a.jsonl").write_text(text)
    else:
        between = "," if "csv" in ending else "\t"
        text = "\n".join(between.join(map(str, row)) for row in [("sentence1", "sentence2", "label"), *rows])
        (tmp_path / f"a.{ending}").write_bytes(gzip.compress(text.encode()) if "gz" in ending else text.encode())
    made = make_task(tmp_path, f"a.{ending}")
    assert len(load_sentences(made).train) == count
    assert find_task_errors(made, DataRequirements({"prune.examples": count})) == []
    result = find_task_errors(made, DataRequirements({"prune.examples": count + 3, "finetune.batch_size": 2}))
    assert len(result) == (0 if "gz" in ending else 1)  # of a compressed file nothing is known so soon
    assert all(mentions(message, "prune.examples", count + 3) for message in result)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\n"])
def test_a_text_file_has_as_many_rows_as_lines_at_most(tmp_path, monkeypatch, end):
    monkeypatch.setattr(preview, "CHUNK_BYTES", 3)
    (tmp_path / "a.csv").write_bytes(end.join(["x,y", "a,b", "c,d"]).encode())
    assert count_max_rows(tmp_path / "a.csv") == (5 if end == "\n\n" else 3)


def check_needs(study, *needs: tuple[tuple, int]) -> None:
    """The study needs pairs for these settings, each of which mentions its keys and values, and for no others."""
    for (setting, count), (tokens, expected) in zip(study.pairs_needed.items(), needs, strict=True):
        assert mentions(setting, *tokens) and count == expected


def test_the_needs_of_a_study_are_those_of_its_settings():
    values = read_config(ROOT / "config.yaml")
    prune = values["prune"] | {"examples": None, "mean_examples": None, "discretise": "threshold", "held_out": 20}
    study = parse_study(values | {"prune": prune})
    batch = ("finetune.batch_size", study.finetune.batch_size), study.finetune.batch_size
    check_needs(study, (("prune.held_out", 20), 21), batch)
    study = parse_study(values | {"prune": prune | {"examples": 30, "mean_examples": 40}})
    examples = ("prune.examples", 30, "prune.held_out", 20), 50
    check_needs(study, examples, (("prune.mean_examples", 40), 40), batch)
    with raises(ConfigError, "prune.held_out", 200000, "task.train_pairs"):
        parse_study(values | {"prune": prune | {"held_out": 200000}})


def test_a_study_without_room_for_two_sentences_cannot_begin():
    values = read_config(ROOT / "config.yaml")
    short = parse_study(values | {"task": values["task"] | {"max_length": 4}})
    with raises(ConfigError, "task.max_length", 4, 5):
        check_sources(short, "mine.yaml")
