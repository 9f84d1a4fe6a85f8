"""Configurations as bad as they come: a study or one message that names what is wrong, nothing else."""

import copy
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from amounts import amount
from conftest import ROOT, STUDY_FILES
from damaged_bytes import damaged
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from mentions import mentions, raises
from reduced import REDUCED, snakemake

from heuristic_core.common.errors import InputError
from heuristic_core.config.command_line import check_config_files
from heuristic_core.config.reading import ConfigError
from heuristic_core.data.download import list_downloads
from heuristic_core.data.hub import list_sources
from heuristic_core.data.split_files import find_local_paths
from heuristic_core.experiments.studies import parse_studies
from heuristic_core.experiments.subnetworks.config import load_study, parse_study
from heuristic_core.experiments.subnetworks.config.cells import (
    early_cells,
    list_cells,
    repeated_cells,
    run_blocks,
    spread_cells,
)
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.config.paths import Layout
from heuristic_core.experiments.subnetworks.figures.targets import TARGETS, missing_requirement
from heuristic_core.experiments.subnetworks.report.sides import parse_sides

BYTES = {file: (ROOT / file).read_bytes() for file in STUDY_FILES}
VALUES = {file: yaml.safe_load(content) for file, content in BYTES.items()}


def many(count):
    every = list(HealthCheck)
    return settings(max_examples=amount(count), deadline=None, derandomize=True, suppress_health_check=every)


def check_study(study) -> None:
    """What the workflow does with a study before any job: all of it works, and no path leaves the results folder."""
    assert list_cells(study) and spread_cells(study) and run_blocks(study)
    (
        early_cells(study),
        repeated_cells(study),
        list_sources(study.model, study.task),
        list_downloads(study.task),
        find_local_paths(study.task),
    )
    context, layout = Context.from_study(study), Layout.from_study(study)
    assert Context.model_validate_json(context.model_dump_json()) == context
    of_curve = len(study.grid.checkpoints) * len(study.grid.sparsities) * len(study.grid.curve_seeds)
    assert len(list_cells(study)) >= of_curve > 0
    assert layout.cell.startswith(f"{study.results}/{study.study}/{study.model.name}/{study.task.name}/")
    for name in TARGETS:
        missing_requirement(name, context)
    numbers = {"ft_seed": 1, "step": 2, "sparsity": 0.5, "seed": 3}
    root = Path(study.results).resolve()
    for path in (
        layout.root,
        layout.runs,
        layout.data,
        layout.repeated_cell,
        layout.table("accuracy"),
        layout.log("job"),
    ):
        assert Path(path.format(**numbers)).resolve().is_relative_to(root / study.study), path
    assert (root / study.study).parent == root
    assert re.fullmatch(r"[\w./-]+", layout.runs), "it is part of shell commands"


def check(path: Path) -> None:
    """A file is a good study, or is refused with a message that names it."""
    try:
        study = load_study(path)
    except ConfigError as error:
        assert str(path) in str(error)
        return
    check_study(study)


NUMBERS = [0, -1, 2**31, 10**400, 1e308, -1e-308, float("nan"), float("inf"), float("-inf"), True, "1e9", "0x10"]
NAMES = [
    "",
    ".",
    "..",
    "/",
    "/etc",
    "a/b",
    "../a",
    "a b",
    "a\nb",
    "a\0b",
    "-rf",
    "$(id)",
    "`id`",
    "a;b",
    "{w}",
    "~",
    "x" * 5000,
]
NESTED = [{}, [], [[]], {"a": {"b": [{}]}}, [None], [{"x": [1, [2, [3]]]}], {"": ""}, {None: 1}, {1: 2}, [[1, 2], "a"]]
WORDS = ["1e-3", "new", "generated", "pretrained", "files", "source", "steps", "nan"]
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
SCALARS |= st.sampled_from([*NUMBERS, *NAMES, *WORDS])
GARBAGE = SCALARS | st.sampled_from(NESTED)
GARBAGE |= st.lists(SCALARS, max_size=4) | st.dictionaries(SCALARS, SCALARS, max_size=3)


def places(values, path=()):
    """Every key and every position in nested mappings and lists."""
    for key, value in values.items() if isinstance(values, dict) else enumerate(values):
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from places(value, (*path, key))


@st.composite
def bad_values(draw):
    """A configuration of the repository with one to four of its values, keys or blocks replaced, removed or added."""
    values = copy.deepcopy(VALUES[draw(st.sampled_from(STUDY_FILES))])
    for _ in range(draw(st.integers(1, 4))):
        result = list(places(values))
        if not result:
            break
        *parents, last = draw(st.sampled_from(result))
        block = values
        for key in parents:
            block = block[key]
        change = draw(st.sampled_from(["replace", "replace", "remove", "add"]))
        if change == "remove":
            del block[last]
        elif change == "replace":
            block[last] = copy.deepcopy(draw(GARBAGE))
        elif isinstance(block, list):
            block.append(copy.deepcopy(draw(GARBAGE)))
        else:
            block[draw(SCALARS)] = copy.deepcopy(draw(GARBAGE))
    return values


@pytest.mark.sampled
@many(700)
@given(bad_values())
def test_any_changed_configuration_is_a_study_or_one_message(values):
    try:
        study = parse_study(values, "mine.yaml")
    except ConfigError as error:
        first, *lines = str(error).splitlines()
        assert mentions(first, "mine.yaml") and lines
        return
    check_study(study)


@pytest.mark.sampled
@many(300)
@given(content=damaged(list(BYTES.values())))
@example(content=b"a: &a [*a]")
@example(content=b"? [a, b]\n: c\n? {d: e}\n: f")
@example(content=b"study: !!python/object/apply:os.system ['touch /nothing']")
@example(content=b"[" * 400)
@example(content=b"a: " + b"9" * 5000)
@example(content=b"<<: 3")
def test_any_damaged_configuration_file_is_a_study_or_one_message(tmp_path, content):
    path = tmp_path / "mine.yaml"
    path.write_bytes(content)
    check(path)


@pytest.mark.parametrize(
    "files", [None, [], "a", [3], ["../" * 30], [""], ["\0"], ["x" * 5000], ["mine.yaml"], [["a"]]]
)
def test_bad_lists_of_studies_are_refused(tmp_path, files):
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump({"studies": files}))
    with pytest.raises(ConfigError):
        parse_studies({"studies": files}, tmp_path / "mine.yaml")


@pytest.mark.parametrize(
    "text", ["", "a", "a b c", "'a b", "a\0 b", "x\ny z", "results/a:99999999999999 b", "/ /", ".. .", 3, None, ["a"]]
)
def test_bad_comparisons_are_refused(text):
    with pytest.raises(InputError):
        parse_sides(text)


@pytest.mark.parametrize("name", ["a b", "$(touch x)", "a;b", "{w}", "a'b"])
def test_a_study_to_compare_has_a_plain_name(tmp_path, monkeypatch, name):
    """It is part of the path of the comparison and in a command."""
    monkeypatch.chdir(tmp_path)
    for folder in (name, "good"):
        (tmp_path / folder / "tables").mkdir(parents=True)
        (tmp_path / folder / "study.json").write_text("{}")
        (tmp_path / folder / "tables" / "claims.parquet").write_text("")
    assert [side.name for side in parse_sides("good:1 good")] == ["good-ft1", "good"]
    with raises(InputError, "compare", repr(name)):
        parse_sides(f'good "{name}"')


# ---- the same by Snakemake's own command

RIGHT = REDUCED.read_text()
BAD_FILES = {
    "empty": b"",
    "no mapping": b"- a\n- b\n",
    "broken": b"study: [a\n",
    "cut": RIGHT[: len(RIGHT) // 2].encode(),
    "names": RIGHT.replace("study: reduced", "study: ../../escaped").encode(),
    "infinite": RIGHT.replace("learning_rate: 0.2", "learning_rate: .inf").encode(),
    "code": b"study: !!python/object/apply:os.mkdir [ran]\n",
    "studies": b"studies: [none.yaml]\n",
    "experiment": b"experiment: [heuristic-core]\n",
    "file": RIGHT.replace("results: results", "results: ../mine.yaml").encode(),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_configurations_end_snakemake_with_a_message_and_nothing_done(tmp_path, name):
    folder = tmp_path / "work"
    folder.mkdir()
    (tmp_path / "mine.yaml").write_bytes(BAD_FILES[name])
    done = snakemake(folder, config=tmp_path / "mine.yaml", check=False, fork=True)
    assert done.returncode == 1
    assert "Traceback" not in done.stdout + done.stderr
    assert "mine.yaml" in done.stderr or "none.yaml" in done.stderr or "onfig file" in done.stderr
    assert [path.name for path in folder.iterdir() if path.name != ".snakemake"] == []
    assert not (tmp_path / "escaped").exists()


def test_an_unknown_key_is_told_once_and_without_the_place_in_the_workflow(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(RIGHT + "prun: 1\n")
    done = snakemake(tmp_path, config=path, check=False, fork=True)
    assert done.returncode == 1 and ".smk" not in done.stderr
    first, second = done.stderr[done.stderr.index("mine.yaml") :].strip().splitlines()
    assert mentions(first, "mine.yaml") and mentions(second, "prun = 1", "prune?")


@pytest.mark.parametrize(
    ("content", "kind"), [(None, ""), (b"", "NoneType"), (b"\xff\xfe", "utf-8"), (b"study: x", None)]
)
def test_files_on_the_command_line_are_looked_at_before_snakemake(tmp_path, monkeypatch, capsys, content, kind):
    if content is not None:
        (tmp_path / "mine.yaml").write_bytes(content)
    for words in (["--configfile", "config.yaml", f"{tmp_path}/mine.yaml"], [f"--configfile={tmp_path}/mine.yaml"]):
        monkeypatch.setattr("sys.argv", ["snakemake", "-n", *words, "--", "figure06"])
        if kind is None:
            check_config_files()
            continue
        with pytest.raises(SystemExit, match="1"):
            check_config_files()
        assert mentions(capsys.readouterr().err, tmp_path / "mine.yaml", kind)


@pytest.mark.slow
def test_snakemake_names_a_missing_configuration_in_one_line():
    command = [sys.executable, "-m", "snakemake", "-n", "--configfile", "nothere.yaml"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    _, line = done.stderr.splitlines()
    assert mentions(line, "nothere.yaml")


def test_a_target_after_a_configuration_is_told_where_it_belongs(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["snakemake", "--configfile", str(ROOT / "config.yaml"), "figure06"])
    with pytest.raises(SystemExit, match="1"):
        check_config_files()
    assert mentions(capsys.readouterr().err, "figure06", "--configfile", "-- figure06")
