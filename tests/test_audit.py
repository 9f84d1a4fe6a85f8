"""An audit finds what was tampered with, is stale, belongs to nothing, or does not come out again."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import ROOT
from mentions import mentions, raises
from reduced import REDUCED, RUNS
from safetensors.numpy import save_file

from heuristic_core.common.errors import InputError
from heuristic_core.common.hashing import file_digest
from heuristic_core.provenance.audit.check import check_study
from heuristic_core.provenance.audit.comparing import find_difference
from heuristic_core.provenance.audit.recompute import recompute, sample_jobs, select_recomputable
from heuristic_core.provenance.job import list_recorded_jobs
from heuristic_core.provenance.record import provenance_rows as collected
from heuristic_core.provenance.record import record_digest, record_path
from heuristic_core.tables.parquet import read_rows, write_table

STUDY = Path("results/reduced")
CELL = f"{RUNS}/ft1/step60/s0.4/seed42"


def list_jobs(config):
    return list_recorded_jobs(ROOT / "Snakefile", [str(config)])


@pytest.fixture(scope="module")
def jobs(finished):
    """The jobs of the reduced study."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(finished)
        return list_jobs(REDUCED)


@pytest.fixture
def study(finished, tmp_path_factory, monkeypatch):
    """The working directory: a finished reduced study that a test may spoil, as deep as that which it is a copy of."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(finished, folder, symlinks=True, dirs_exist_ok=True)
    monkeypatch.chdir(folder)


def audit(jobs):
    return {(item.kind, item.path) for item in check_study(STUDY, jobs)}


def record_file(path):
    return record_path(path, STUDY)


def change_record(path, change):
    """Change the record of a result, as one would who knows of its digest."""
    text = json.loads(record_file(path).read_text())
    change(text)
    text["digest"] = record_digest(text)
    record_file(path).write_text(json.dumps(text))


def flip(path, position=-1):
    data = bytearray(Path(path).read_bytes())
    data[position] ^= 1
    Path(path).write_bytes(data)


def edit_cell(path, column):
    table = pq.read_table(path)
    values = table[column].to_pylist()
    values[0] += 0.5
    index = table.schema.get_field_index(column)
    pq.write_table(table.set_column(index, table.schema.field(column), pa.array(values)), path)


def test_a_study_as_it_was_made_has_no_finding(study, jobs):
    assert audit(jobs) == set()


@pytest.mark.parametrize(
    ("path", "tamper"),
    [
        (f"{STUDY}/tables/accuracy.parquet", lambda path: edit_cell(path, "accuracy")),
        (f"{RUNS}/ft1/step60/checkpoint/model.safetensors", flip),
        (f"{STUDY}/figures/figure06.png", lambda path: flip(path, 500)),
    ],
)  # fmt: skip
def test_a_changed_result_is_found(study, jobs, path, tamper):
    tamper(Path(path))
    assert ("tampered", path) in audit(jobs)
    assert {file for kind, file in audit(jobs) if kind == "tampered"} == {path}  # what was made from it is stale


def test_a_mask_changed_in_one_component_is_found_and_named(study, jobs):
    path = Path(CELL, "subnetwork.json")
    mask = json.loads(path.read_text())
    mask["kept"].pop()
    path.write_text(json.dumps(mask, indent=1) + "\n")
    findings = check_study(STUDY, jobs)
    assert {finding.path for finding in findings if finding.kind == "tampered"} == {str(path)}
    assert file_digest(path) in next(finding.detail for finding in findings if finding.kind == "tampered")
    assert f"{CELL}/predictions.parquet" in {finding.path for finding in findings if finding.kind == "stale"}


def test_a_changed_record_is_found(study, jobs):
    path = f"{CELL}/subnetwork.json"
    record_file(path).write_text(record_file(path).read_text().replace('"rise": 14', '"rise": 15'))
    assert ("tampered", str(record_file(path))) in audit(jobs)


def test_a_record_changed_with_its_digest_is_found_by_what_else_tells_of_it(study, jobs):
    path = f"{CELL}/predictions.parquet"
    change_record(path, lambda text: text.update(seconds=0.01))  # nothing but the collected table knows
    assert audit(jobs) == {("tampered", str(record_file(path)))}
    change_record(path, lambda text: text["settings"].update(precision="float16"))
    assert ("stale", path) in audit(jobs)
    removed = []
    change_record(path, lambda text: removed.extend(text["inputs"].popitem()))
    assert any(mentions(item.detail, removed[0]) for item in check_study(STUDY, jobs) if item.path == path)


@pytest.mark.slow
def test_another_configuration_makes_results_stale_and_orphaned(study, changed):
    other = list_jobs(changed(prune__learning_rate=0.3, grid__seeds=[42, 43]))
    findings = check_study(STUDY, other)
    stale = next(finding for finding in findings if finding.path == f"{CELL}/subnetwork.json")
    assert stale.kind == "stale" and mentions(stale.detail, "prune.learning_rate", 0.2, 0.3)
    orphans = {finding.path for finding in findings if finding.kind == "orphaned"}
    lost = f"{RUNS}/ft1/step60/s0.4/seed44"
    assert f"{lost}/subnetwork.json" in orphans and str(record_file(f"{lost}/subnetwork.json")) in orphans


def test_what_is_lost_added_or_unrecorded_is_found(study, jobs):
    lost, added, bare = f"{CELL}/trace.parquet", f"{RUNS}/ft1/notes.txt", f"{STUDY}/figures/figure06.pdf"
    Path(lost).unlink()
    Path(added).write_text("mine")
    record_file(bare).unlink()
    extra = f"{RUNS}/ft2/step60/checkpoint/model.py"
    Path(extra).write_text("")
    assert {("missing", lost), ("orphaned", added), ("unrecorded", bare), ("tampered", extra)} <= audit(jobs)


def test_what_publish_writes_is_no_orphan_and_jobs_later_than_the_table_of_records_are_one_finding(study, jobs):
    hub = Path(STUDY, "hub", "ft1-s0.4-seed42")
    hub.mkdir(parents=True)
    (hub / "config.json").write_text("{}")
    changed = []
    for name in ("subnetwork.json", "predictions.parquet"):
        change_record(f"{CELL}/{name}", lambda text: text.update(started="2099-01-01T00:00:00Z"))
        changed.append(json.loads(record_file(f"{CELL}/{name}").read_text())["job"])
    later = [item.detail for item in check_study(STUDY, jobs) if item.path.endswith("provenance.parquet")]
    assert len(later) == 1 and mentions(later[0], min(changed)) and "orphaned" not in str(audit(jobs))


def test_code_of_another_version_makes_results_stale(study, jobs):
    path = f"{CELL}/predictions.parquet"
    change_record(path, lambda text: text.update(code="0123456789abcdef"))
    assert ("stale", path) in audit(jobs)


@pytest.mark.slow
def test_a_forged_result_with_a_forged_record_does_not_come_out_again(study, jobs):
    """Result, record and the collected table agree: only computing again can tell."""
    path = f"{STUDY}/tables/effective_size.parquet"
    edit_cell(path, "floor")
    change_record(path, lambda text: text["outputs"].update({"tables/effective_size.parquet": file_digest(path)}))
    write_table("provenance", collected(STUDY), STUDY / "tables/provenance.parquet")
    assert not [kind for kind, _ in audit(jobs) if kind == "tampered"]
    result = recompute(next(job for job in jobs if job.outputs == (path,)), ROOT / "workflow/scripts")
    assert list(result.faults) == [path]
    assert mentions(result.faults[path], "floor", 0)


def test_the_table_of_records_is_held_against_every_field(study, jobs):
    path = STUDY / "tables/provenance.parquet"
    table = read_rows(path)
    table[3]["commit"], table[4]["job"] = "f" * 40, "figures/figure99"
    write_table("provenance", table, path)
    details = [item.detail for item in check_study(STUDY, jobs)]
    assert any(mentions(detail, path, "commit") for detail in details)
    assert any(mentions(detail, "figures/figure99") for detail in details)


@pytest.mark.slow
def test_a_job_of_every_script_comes_out_again(study, jobs):
    """Each finds all that it reads among its inputs."""
    quick = {
        job.script: job for job in select_recomputable(jobs, []) if job.script not in ("finetune", "ablate", "figure")
    }
    assert {"sentences", "encode", "full_model", "prune", "evaluate", "gather", "core", "claims"} <= set(quick)
    for job in quick.values():
        result = recompute(job, ROOT / "workflow/scripts")
        assert result.exact and result.faults == {}, job.name


@pytest.mark.slow
def test_the_command_computes_a_sample_again_and_says_what_it_found(study):
    command = [sys.executable, ROOT / "workflow/scripts/audit.py", "--configfile", REDUCED, "--sample", "4"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads((STUDY / "audit.json").read_text())
    assert result["findings"] == [] and result["made"] == result["jobs"] and len(result["recomputations"]) == 4
    assert all(item["exact"] and not item["faults"] for item in result["recomputations"])
    flip(f"{RUNS}/ft1/step60/checkpoint/model.safetensors")
    done = subprocess.run([*command[:-1], "0"], capture_output=True, text=True)
    assert done.returncode == 1
    assert mentions(done.stdout, "tampered", f"{RUNS}/ft1/step60/checkpoint/model.safetensors")
    assert "Traceback" not in done.stderr
    page = (STUDY / "audit.html").read_text()
    assert "step60/checkpoint/model.safetensors" in page and "tampered" in page


@pytest.mark.parametrize(
    ("name", "a", "b", "exact", "near"),
    [
        ("x.json", '{"a": [1.0, 2]}', '{"a": [1.0, 3]}', False, False),
        ("x.json", '{"a": [1.0, 2]}', '{"a": [1.0000001, 2]}', False, True),
        ("x.csv", "a,b\n0.5,x\n", "a,b\n0.50001,x\n", False, True),
        ("x.csv", "a,b\n0.5,x\n", "a,b\n0.6,x\n", False, False),
        ("x.csv", "a,b\n0.5,x\n", "a,b\n0.5,y\n", False, False),
        ("x.md", "one\n", "one\ntwo\n", False, False),
        ("x.png", "one", "two", False, True),
        ("x.json", '{"a": 1}', '{"a":1}', False, True),
    ],
)
def test_text_is_the_same_by_bytes_or_within_tolerances(tmp_path, name, a, b, exact, near):
    first, second = tmp_path / f"a{name}", tmp_path / f"b{name}"
    first.write_text(a)
    second.write_text(b)
    assert (find_difference(first, second, exact=True) is None) == exact
    assert (find_difference(first, second, exact=False) is None) == near
    assert find_difference(first, first, exact=True) is None
    assert find_difference(first, tmp_path / "none", exact=False)


def test_tables_and_tensors_name_what_differs(tmp_path):
    for name, value in (("a", 1.0), ("b", 1.0001), ("c", 1.5), ("nan", float("nan"))):
        columns = {"x": pa.array([0.0, value]), "n": pa.array([1, 2]), "v": pa.array([[1.0], [value]])}
        pq.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
        save_file({"w": np.array([1.0, value], "f4"), "n": np.array([3])}, tmp_path / f"{name}.safetensors")
    pq.write_table(pa.table({"x": [0.0, 1.0], "n": [1, 3], "v": [[1.0], [1.0]]}), tmp_path / "d.parquet")
    save_file({"w": np.array([1.0, 1.0], "f4"), "n": np.array([4])}, tmp_path / "d.safetensors")

    def compare_files(other, kind, exact):
        return find_difference(tmp_path / f"a.{kind}", tmp_path / f"{other}.{kind}", exact)

    for kind in ("parquet", "safetensors"):
        assert compare_files("b", kind, exact=True) and compare_files("b", kind, exact=False) is None
        assert (
            compare_files("c", kind, exact=False)
            and compare_files("d", kind, exact=False)
            and compare_files("nan", kind, exact=False)
        )
    assert mentions(compare_files("c", "parquet", exact=False), "x", 1, 1.0, 1.5)
    assert mentions(compare_files("d", "parquet", exact=False), "n", 1, 2, 3)
    assert mentions(compare_files("c", "safetensors", exact=False), "w", 1, 2)


def test_the_sample_is_drawn_by_its_seed(jobs):
    assert sample_jobs(jobs, 5, 0.0, 1) == sample_jobs(jobs[::-1], 5, 0.0, 1) != sample_jobs(jobs, 5, 0.0, 2)
    assert len(sample_jobs(jobs, None, 0.1, 0)) == -(-len(jobs) // 10)
    assert len(sample_jobs(jobs, 10_000, 0.0, 0)) == len(jobs)


@pytest.mark.slow
def test_a_configuration_that_cannot_be_run_is_refused_in_its_own_words(changed):
    with raises(InputError, "prune.learning_rat", "learning_rate"):
        list_jobs(changed(prune__learning_rat=1))
