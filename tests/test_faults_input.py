"""Configurations and data as bad as they come: a result or one message that names what is wrong, nothing else."""

import copy
import gzip
import json
import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from amounts import amount
from conftest import ROOT, STUDY_FILES
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from reduced import REDUCED, snakemake
from test_readers import task_of

from heuristic_core.common.errors import InputError
from heuristic_core.config import ConfigError, load_study, parse_study
from heuristic_core.config.context import Context
from heuristic_core.config.grid import cells, early, repeats, seed_blocks, spread
from heuristic_core.config.paths import Layout
from heuristic_core.config.studies import parse_studies
from heuristic_core.figures.targets import TARGETS, unmet
from heuristic_core.report.sides import parse_sides
from heuristic_core.sources.download import downloads
from heuristic_core.sources.hub import sources
from heuristic_core.tables.parquet import as_table
from heuristic_core.tasks.counts import split_counts
from heuristic_core.tasks.rows import local_paths
from heuristic_core.tasks.sentences import sentences

BYTES = {file: (ROOT / file).read_bytes() for file in STUDY_FILES}
VALUES = {file: yaml.safe_load(content) for file, content in BYTES.items()}
MANY = settings(max_examples=amount(300), deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))

# ---- configurations


def check_study(study) -> None:
    """What the workflow does with a study before any job: all of it works, and no path leaves the results folder."""
    assert cells(study) and spread(study) and seed_blocks(study)
    early(study), repeats(study), sources(study.model, study.task), downloads(study.task), local_paths(study.task)
    context, layout = Context.of(study), Layout.of(study)
    for name in TARGETS:
        unmet(name, context)
    numbers = {"ft_seed": 1, "step": 2, "sparsity": 0.5, "seed": 3}
    root = Path(study.results).resolve()
    for path in (layout.root, layout.runs, layout.data, layout.again, layout.table("accuracy"), layout.log("job")):
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
GARBAGE = st.sampled_from([*NUMBERS, *NAMES, *NESTED, None]) | st.text(max_size=5) | st.integers() | st.floats()


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
        found = list(places(values))
        if not found:
            break
        *parents, last = draw(st.sampled_from(found))
        block = values
        for key in parents:
            block = block[key]
        change = draw(st.sampled_from(["replace", "replace", "remove", "add"]))
        if change == "remove":
            del block[last]
        elif change == "replace" or isinstance(block, list):
            block[last] = copy.deepcopy(draw(GARBAGE))
        else:
            block[draw(st.sampled_from([*NAMES, None, 1, "source", "steps"]))] = copy.deepcopy(draw(GARBAGE))
    return values


@pytest.mark.sampled
@MANY
@given(bad_values())
def test_any_changed_configuration_is_a_study_or_one_message(values):
    try:
        study = parse_study(values, "mine.yaml")
    except ConfigError as error:
        first, *lines = str(error).splitlines()
        assert first == "mine.yaml cannot be run:" and lines
        return
    check_study(study)


@st.composite
def damaged(draw, contents):
    """The bytes of a file: cut, with bytes replaced, removed, inserted or doubled, in another encoding."""
    content = bytearray(draw(st.sampled_from(contents)))
    for _ in range(draw(st.integers(1, 5))):
        at = draw(st.integers(0, len(content)))
        kind = draw(st.sampled_from(["cut", "replace", "remove", "insert", "double", "recode"]))
        if kind == "cut":
            del content[at:]
        elif kind == "remove":
            del content[at : at + draw(st.integers(1, 40))]
        elif kind == "double":
            content[at:at] = content[at : at + draw(st.integers(1, 200))]
        elif kind == "recode" and content:
            text = bytes(content).decode("utf-8", "replace")
            content = bytearray(text.encode(draw(st.sampled_from(["utf-16", "utf-32", "cp037"])), "replace"))
        else:
            bytes_ = draw(
                st.binary(min_size=1, max_size=6)
                | st.sampled_from([b"\0", b"\xff\xfe", b"\t", b"\n", b'"', b": ", b"- "])
            )
            content[at : at + (len(bytes_) if kind == "replace" else 0)] = bytes_
    return bytes(content)


@pytest.mark.sampled
@MANY
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
    with pytest.raises(InputError, match="letters"):
        parse_sides(f'good "{name}"')


# ---- data

ROWS = [{"sentence1": f"a {i}", "sentence2": f"b, {i}", "label": i % 3, "group": "x/y"} for i in range(9)]


def content_of(kind: str) -> bytes:
    lines = [[*ROWS[0]], *(list(map(str, row.values())) for row in ROWS)]
    if kind == "tsv":
        return "\n".join("\t".join(line) for line in lines).encode()
    if kind == "csv":
        return "\n".join(",".join(f'"{field}"' for field in line) for line in lines).encode()
    if kind == "jsonl":
        return "\n".join(json.dumps(row) for row in ROWS).encode()
    sink = pa.BufferOutputStream()
    features = {"label": {"names": ["entailment", "neutral", "contradiction"], "_type": "ClassLabel"}}
    about = {"huggingface": json.dumps({"info": {"features": features}})}
    pq.write_table(pa.Table.from_pylist(ROWS).replace_schema_metadata(about), sink)
    return sink.getvalue().to_pybytes()


KINDS = ("tsv", "csv", "jsonl", "parquet")
CONTENTS = {kind: content_of(kind) for kind in KINDS} | {"csv.gz": gzip.compress(content_of("csv"))}


def check_data(folder: Path, name: str) -> bool:
    """Data become the tables of the study (True), or one message that names the file or the task's key (False)."""
    task = task_of(folder, name)
    try:
        pairs = sentences(task)
        for part in (pairs.train, pairs.evaluation):
            as_table("sentences", part)
        as_table("splits", split_counts(pairs))
    except InputError as error:
        assert name in str(error) or "task." in str(error)
        return False
    return True


@pytest.mark.parametrize("kind", CONTENTS)
def test_whole_files_are_read(tmp_path, kind):
    (tmp_path / f"data.{kind}").write_bytes(CONTENTS[kind])
    assert check_data(tmp_path, f"data.{kind}")


@pytest.mark.sampled
@pytest.mark.parametrize("kind", CONTENTS)
def test_any_damaged_data_file_is_read_or_refused(tmp_path, kind):
    @settings(max_examples=amount(100), deadline=None, derandomize=True)
    @given(content=damaged([CONTENTS[kind]]))
    def run(content):
        (tmp_path / f"data.{kind}").write_bytes(content)
        check_data(tmp_path, f"data.{kind}")

    run()


VALUE = st.sampled_from(
    [
        "a",
        "",
        " ",
        "\0",
        "\ud800",
        "\u2028",
        -1,
        2,
        0.5,
        1e400,
        10**300,
        None,
        True,
        [],
        [["a"]],
        {"a": []},
        "nan",
        "-",
        "0",
    ]
)


@pytest.mark.sampled
@settings(max_examples=amount(150), deadline=None, derandomize=True)
@given(st.lists(st.dictionaries(st.sampled_from(["sentence1", "sentence2", "label", "template"]), VALUE), max_size=6))
@example([{"sentence1": "\ud800", "sentence2": "b", "label": 0}])
@example([{"sentence1": "a", "sentence2": "b", "label": 0, "template": "\ud800"}])
@example([{"sentence1": "a", "sentence2": "b", "label": "\ud800"}])
def test_any_values_in_json_lines_are_read_or_refused(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("rows")
    (folder / "data.jsonl").write_text("\n".join(json.dumps(row) for row in [*ROWS, *rows]))
    check_data(folder, "data.jsonl")


def test_json_without_end_is_refused(tmp_path):
    (tmp_path / "data.jsonl").write_text("[" * 100_000)
    assert not check_data(tmp_path, "data.jsonl")


COLUMN = {
    "text": pa.array(["a", "b"]),
    "binary": pa.array([b"a", b"\xff"]),
    "number": pa.array([0.0, float("inf")]),
    "wide": pa.array([2**63 - 1, None]),
    "late": pa.array([2**60, 0], pa.timestamp("ms")),
    "nested": pa.array([{"a": [1]}, None]),
    "map": pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int64())),
    "null": pa.nulls(2),
    "dictionary": pa.array(["a", "b"]).dictionary_encode(),
    "label": pa.array([0, 1]),
}
FEATURES = [{}, [], None, 3, {"info": []}, {"info": {"features": []}}, {"info": {"features": {"label": 3}}}]
FEATURES += [{"info": {"features": {"label": {"_type": "ClassLabel"}}}}, {"info": {"features": None}}]


@pytest.mark.sampled
@settings(max_examples=amount(150), deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.sampled_from(["sentence1", "sentence2", "label", "template"]), st.sampled_from([*COLUMN]))),
    st.sampled_from([None, b"\xff", b"{", *(json.dumps(value).encode() for value in FEATURES)]),
)
@example([("sentence1", "text"), ("sentence2", "text"), ("label", "label"), ("label", "label")], None)
@example([("sentence1", "late"), ("sentence2", "text"), ("label", "label")], None)
@example([("sentence1", "text"), ("sentence2", "text"), ("label", "label")], json.dumps(FEATURES[-1]).encode())
def test_any_columns_of_a_parquet_file_are_read_or_refused(tmp_path_factory, columns, about):
    folder = tmp_path_factory.mktemp("columns")
    table = pa.table([COLUMN[kind] for _, kind in columns], names=[name for name, _ in columns])
    table = table.replace_schema_metadata({b"huggingface": about} if about else None)
    pq.write_table(table, folder / "data.parquet")
    check_data(folder, "data.parquet")


@pytest.mark.sampled
def test_a_saved_data_set_that_is_damaged_is_read_or_refused(tmp_path):
    from datasets import Dataset

    Dataset.from_list(ROWS).save_to_disk(tmp_path / "data")
    assert check_data(tmp_path, "data")
    whole = {path: path.read_bytes() for path in (tmp_path / "data").iterdir()}

    @settings(max_examples=amount(60), deadline=None, derandomize=True)
    @given(st.sampled_from(sorted(whole)), st.data())
    def run(path, data):
        for each, content in whole.items():
            each.write_bytes(content)
        path.write_bytes(data.draw(damaged([whole[path]])))
        check_data(tmp_path, "data")

    run()


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
