"""Tests of jobs: what the command line, the log, the record and resumption take from the signature of a function."""

import json
import sys
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import pytest
from pydantic import BaseModel

from heuristic_core.common.errors import DivergenceError
from heuristic_core.common.roles import Fields, Folder, Input, Output, ParameterRole, Read, Unfinished
from heuristic_core.jobs.job import job
from heuristic_core.jobs.signature import inspect_parameters, read_summary
from heuristic_core.tables.identity import Identity

CALLS = []


class Block(BaseModel):
    top: int
    precision: str = "float32"


def count(
    words: Input,
    block: Block,
    run: Annotated[Identity, Fields("ft_seed", "step")],
    seeds: list[int],
    root: Folder,
    kind: Literal["upper", "lower"],
    table: Output,
    unfinished: Unfinished,
    upper: Annotated[str, Read(str.upper)] = "A",
    more: list[Input] = (),
    fetched: Input | None = None,
    factor: float = 1.5,
) -> None:
    """Count words.

    It does little.

    Args:
        words, more: Text files
            with words.
        block: Settings.
        run: Which run.
        seeds: Of draws.
        root: Folder of the words.
        kind: Of letters.
        table: Where to write counts.
        unfinished: State.
        upper: Some text.
        fetched: List of downloads.
        factor: Of counts.

    Returns:
        Nothing.
    """
    CALLS.append(dict(locals()))
    (unfinished / "state").write_text("half")
    if factor > 2:
        raise DivergenceError("it diverged")
    if factor > 1.6:
        raise RuntimeError("it was killed")
    Path(table).write_text(Path(words).read_text())


@pytest.fixture
def line(tmp_path):
    CALLS.clear()
    (tmp_path / "words").write_text("a b")

    def run(*more):
        words = ["--words", str(tmp_path / "words"), "--block", '{"top": 3}', "--study", "s", "--model-name", "m"]
        words += ["--task-name", "t", "--ft-seed", "4", "--step", "10", "--seeds", "1", "2", "--root", "r"]
        job(count)([*words, "--kind", "lower", "--table", str(tmp_path / "table"), *more])
        return CALLS[-1]

    return run


def test_parameters_are_those_of_the_signature():
    parameters = {p.name: p for p in inspect_parameters(count)}
    assert list(parameters) == [
        *("words", "block", "run", "seeds", "root", "kind", "table", "unfinished"),
        *("upper", "more", "fetched", "factor"),
    ]
    assert [name for name, p in parameters.items() if not p.required] == ["upper", "more", "fetched", "factor"]
    assert [name for name, p in parameters.items() if p.several] == ["seeds", "more"]
    roles = {
        "words": ParameterRole.INPUT,
        "block": ParameterRole.BLOCK,
        "seeds": ParameterRole.VALUE,
        "kind": ParameterRole.VALUE,
        "fetched": ParameterRole.INPUT,
    }
    assert {name: parameters[name].role for name in roles} == roles
    assert parameters["more"].help == "Text files with words" and parameters["factor"].default == 1.5
    assert read_summary(count) == "Count words.\n\nIt does little."


class Text(NamedTuple):
    """A text.

    Attributes:
        words: Text file.
        least: Least length of a word.
    """

    words: Input
    least: int = 1


def test_fields_of_a_group_are_options_of_their_own(tmp_path):
    def count_text(text: Text, table: Output, unfinished: Unfinished) -> None:
        """Count words.

        Args:
            text: What is counted.
            table: Where to write the count.
            unfinished: State.
        """
        words = [word for word in Path(text.words).read_text().split() if len(word) >= text.least]
        Path(table).write_text(str(len(words)))

    parameters = {p.name: p for p in inspect_parameters(count_text)}
    assert list(parameters) == ["words", "least", "table", "unfinished"]
    assert (parameters["words"].role, parameters["words"].required) == (ParameterRole.INPUT, True)
    assert (parameters["least"].default, parameters["least"].help) == (1, "Least length of a word")
    (tmp_path / "words").write_text("a bb ccc")
    for more, expected in (([], "3"), (["--least", "2"], "2")):
        job(count_text)(["--words", str(tmp_path / "words"), "--table", str(tmp_path / "table"), *more])
        assert (tmp_path / "table").read_text() == expected


def test_values_have_the_types_of_the_signature(line, tmp_path):
    call = line("--more", "x", "y", "--factor", "0.5", "--upper", "b")
    assert call["block"] == Block(top=3) and call["run"] == Identity("s", "m", "t", 4, 10)
    assert call["seeds"] == [1, 2] and call["kind"] == "lower" and call["factor"] == 0.5
    assert call["upper"] == "B" and call["more"] == ["x", "y"] and call["fetched"] is None
    assert (tmp_path / "table").read_text() == "a b"
    assert list(line()["more"]) == []


@pytest.mark.parametrize(
    ("more", "named"),
    [(["--kind", "x"], "--kind"), (["--seeds", "x"], "--seeds"), (["--block", '{"top": "x"}'], "top")],
)
def test_a_wrong_value_is_refused_by_name(line, capsys, more, named):
    with pytest.raises(SystemExit):
        line(*more)
    assert named in capsys.readouterr().err and not CALLS


def test_a_parameter_without_documentation_is_refused():
    def undocumented(words: Input) -> None:
        """Do nothing."""

    with pytest.raises(TypeError, match="words"):
        inspect_parameters(undocumented)


def test_the_same_job_finds_its_unfinished_work_and_another_one_does_not(line, tmp_path):
    with pytest.raises(RuntimeError):
        line("--factor", "1.7")
    folder = tmp_path / ".unfinished-count"
    assert CALLS[-1]["unfinished"] == folder and (folder / "state").is_file()
    with pytest.raises(RuntimeError):
        line("--factor", "1.7")
    marks = json.loads((folder / "fingerprint").read_text())
    assert marks["factor"] == 1.7 and "table" not in marks and len(marks["words"][0][0]) == 64
    (folder / "kept").write_text("")
    with pytest.raises(RuntimeError):
        line("--factor", "1.7")
    assert (folder / "kept").is_file()
    line()
    assert not folder.exists()


def test_what_a_diverged_job_left_is_set_aside(line, tmp_path):
    with pytest.raises(DivergenceError, match="diverged"):
        line("--factor", "3")
    assert (tmp_path / "diverged" / "state").is_file()


def test_inputs_are_part_of_the_fingerprint(line, tmp_path):
    with pytest.raises(RuntimeError):
        line("--factor", "1.7")
    (tmp_path / ".unfinished-count" / "kept").write_text("")
    (tmp_path / "words").write_text("other")
    with pytest.raises(RuntimeError):
        line("--factor", "1.7")
    assert not (tmp_path / ".unfinished-count" / "kept").exists()


def test_a_job_without_a_folder_for_its_state_has_none(tmp_path, monkeypatch):
    def write(table: Output) -> None:
        """Write.

        Args:
            table: Where to write.
        """
        open(table, "w").close()

    monkeypatch.setattr(sys, "argv", ["write"])
    job(write)(["--table", str(tmp_path / "table")])
    assert [path.name for path in tmp_path.iterdir()] == ["table"]
