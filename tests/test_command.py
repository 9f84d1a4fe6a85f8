"""A job's command line follows from the names of its rule's inputs, outputs and settings."""

import json
import shlex

from mentions import raises
from reduced import STUDY

from heuristic_core.jobs.command import MAX_WIDTH, format_block, format_command
from heuristic_core.plan.jobs import PlannedJob


def words(text):
    return PlannedJob("x", [], [], text, "").argv


def test_names_are_options_and_lists_several_words():
    inputs = {"train": "a b/train", "trace_parts": ["1", "2"], "components": [], "fetched": None}
    text = format_command("gather", inputs, {"table": "t"}, {"step": 60, "name": "it's"})
    wanted = ["gather", "--train", "a b/train", "--trace-parts", "1", "2", "--table", "t", "--step", "60"]
    assert words(text) == [*wanted, "--name", "it's"]
    options = ["--train", "--trace-parts", "--table", "--step", "--name"]
    assert [line.split()[0] for line in text.splitlines()] == ["gather", *options]


def test_long_lists_and_settings_have_many_lines():
    paths = [f"results/{number}" for number in range(40)]
    text = format_command("gather", {"parts": paths}, {"task": format_block(STUDY)})
    assert words(text)[2:42] == paths
    assert json.loads(words(text)[-1]) == json.loads(STUDY.model_dump_json())
    assert max(len(line) for line in format_command("gather", {"parts": paths}).splitlines()) < MAX_WIDTH


def test_two_names_that_are_the_same_are_refused():
    with raises(ValueError, "encode", "train"):
        format_command("encode", {"train": "a"}, {"train": "b"})


def test_a_block_has_the_named_settings():
    assert json.loads(format_block(STUDY.analysis, {"seed"})) == {"seed": STUDY.analysis.seed}
    assert shlex.split(shlex.quote(format_block(STUDY.prune))) == [format_block(STUDY.prune)]
