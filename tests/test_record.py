"""Provenance records: what they hold, what they never hold, and that jobs refuse inputs that are not as recorded."""

import json
import shlex
from pathlib import Path

import pytest
from mentions import raises

from heuristic_core.common.errors import InputError
from heuristic_core.provenance.record import (
    RECORD_FIELDS,
    Record,
    check_result,
    provenance_rows,
    read_record,
    record_digest,
    result_digests,
    run_with_record,
)
from heuristic_core.provenance.settings import collect_seeds, extract_settings, find_precision, redact
from heuristic_core.tables.schemas import SCHEMAS

BARE = json.dumps({"outputs": {}, "digest": record_digest({"outputs": {}})})  # a right digest, and nothing else


@pytest.fixture
def study(tmp_path):
    """The folder of a study in which one job has made a table from a source and from a folder of another job."""
    root = tmp_path / "study"
    (root / "checkpoint").mkdir(parents=True)
    (root / "checkpoint" / "model").write_bytes(b"weights")
    (root / "checkpoint" / ".hidden").write_bytes(b"time stamp")
    (tmp_path / "claims").write_text("claims")
    make(root, "finetune/ft1", [], [root / "checkpoint"])
    make(root, "tables/core", [root / "checkpoint", tmp_path / "claims"], [root / "core", root / "null"])
    return root


def make(root, job, inputs, outputs, *options):
    """Let a job of that name write its outputs."""
    inputs, outputs = ([str(path) for path in paths] for paths in (inputs, outputs))
    record = Record("c0de", inputs, outputs, f"{root}/logs/{job}.log", options, "native")
    for path in outputs:
        if not path.endswith("checkpoint"):
            Path(path).write_text(job)
    record.write()


def test_every_result_has_the_record_of_its_job(study):
    core, null = (read_record(study / f"provenance/{name}.json") for name in ("core", "null"))
    assert core == null
    assert core["job"] == "tables/core" and core["code"] == "c0de"
    assert core["inputs"] == {"checkpoint/model": result_digests(study / "checkpoint")[str(study / "checkpoint/model")]}
    assert list(core["sources"]) == ["claims"]
    assert list(core["outputs"]) == ["core", "null"]
    assert core["device"] == "cpu" and core["seconds"] >= 0 and core["started"].endswith("Z")
    assert {"python", "numpy"} <= set(core["packages"])


def test_the_table_has_one_row_for_each_job(study):
    result = provenance_rows(study)
    assert [row["job"] for row in result] == ["finetune/ft1", "tables/core"]
    assert json.loads(result[1]["inputs"]) == read_record(study / "provenance/core.json")["inputs"]


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lambda file: file.write_bytes(b"wEights"), "model"),
        (lambda file: file.write_bytes(b"weight"), "model"),
        (lambda file: file.unlink(), "model"),
        (lambda file: file.with_name("code.py").write_text(""), "code.py"),
    ],
)
def test_a_job_refuses_what_is_not_as_recorded(study, change, name):
    checkpoint = study / "checkpoint"
    check_result(str(checkpoint), result_digests(checkpoint), study)
    change(checkpoint / "model")
    with raises(InputError, name, f"rm -r {shlex.quote(str(checkpoint))}"):
        make(study, "tables/core", [checkpoint], [study / "core"])


def test_what_has_no_record_is_taken_as_it_is(study):
    (study / "provenance/checkpoint.json").unlink()
    (study / "checkpoint/model").write_bytes(b"mine")
    make(study, "tables/core", [study / "checkpoint"], [study / "core"])


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"digest": 3}', '{"digest": "0", "outputs": {}}', BARE])
def test_a_damaged_record_is_named(study, text):
    (study / "provenance/checkpoint.json").write_text(text)
    with raises(InputError, "provenance/checkpoint.json"):
        make(study, "tables/core", [study / "checkpoint"], [study / "core"])


def test_a_record_tells_when_it_was_changed(study):
    file = study / "provenance/core.json"
    text = json.loads(file.read_text())
    assert text["digest"] == record_digest(text)
    file.write_text(file.read_text().replace('"cpu"', '"cuda"'))
    with raises(InputError, file):
        read_record(file)


def test_settings_are_what_the_command_line_sets_but_for_files():
    command = ["--prune", '{"rise": 3, "seed": 5}', "--seeds", "42", "43", "--checkpoint", "results/a", "--cpu"]
    command += ["--log", "x.log", "--code", "c0de"]
    result = extract_settings(command, {"results/a"})
    assert result == {"prune": {"rise": 3, "seed": 5}, "seeds": [42, 43]}
    assert collect_seeds(result) == {"prune.seed": 5, "seeds": [42, 43]}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("/home/alice/data/mnli.tsv", "mnli.tsv"),
        ("~/data/mnli", "mnli"),
        ("file:///home/alice/mnli", "mnli"),
        ("../alice/mnli", "mnli"),
        ("data/mnli.tsv", "data/mnli.tsv"),
        ("https://alice:secret@host/a.tsv?token=s3", "https://host/a.tsv"),
        ({"folder": ["/home/alice/x"]}, {"folder": ["x"]}),
        (0.5, 0.5),
    ],
)
def test_private_paths_and_secrets_are_cut(value, expected):
    assert redact(value) == expected


def test_nothing_of_the_environment_enters_a_record(study, monkeypatch, tmp_path):
    for name in ("HF_TOKEN", "USER", "HOSTNAME", "HOME"):
        monkeypatch.setenv(name, f"very-private-{name}")
    make(study, "tables/core", [study / "checkpoint"], [study / "core"], "--task", '{"folder": "/home/alice/mnli"}')
    text = (study / "provenance/core.json").read_text()
    assert "very-private" not in text and "alice" not in text and str(tmp_path) not in text


def test_a_record_has_the_columns_of_its_table(study):
    assert (
        RECORD_FIELDS == SCHEMAS["provenance"].keys() - {"study"} == read_record(study / "provenance/core.json").keys()
    )


def test_files_of_one_name_from_elsewhere_are_told_apart(study, tmp_path):
    for folder in ("mnli", "hans"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "dev.tsv").write_text(folder)
    files = [tmp_path / "mnli/dev.tsv", tmp_path / "hans/dev.tsv"]
    make(study, "tables/core", files, [study / "core"])
    sources = read_record(study / "provenance/core.json")["sources"]
    assert list(sources) == ["dev.tsv", "dev.tsv (2)"] and len(set(sources.values())) == 2


def test_the_precision_is_that_of_the_model_that_is_trained_or_run():
    assert find_precision({"finetune": {"precision": "bfloat16"}, "precision": "float32"}) == "bfloat16"
    assert find_precision({"precision": "float16"}) == "float16"
    assert find_precision({"analysis": {"seed": 0}}) is None


def test_a_job_that_fails_leaves_no_record(study, monkeypatch):
    (study / "provenance/core.json").unlink()

    def main():
        raise InputError("no")

    with pytest.raises(InputError):
        run_with_record(main)
    assert not (study / "provenance/core.json").exists()
