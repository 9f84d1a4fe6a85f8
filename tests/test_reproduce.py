"""Whether results are the published ones: each reason is told apart, and the first difference in the order of work."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from mentions import mentions, raises

from heuristic_core.common.errors import InputError
from heuristic_core.common.hashing import file_digest
from heuristic_core.config.reading import read_config
from heuristic_core.experiments.registry import EXPERIMENT_FOLDERS, load_experiment, resolve_folder
from heuristic_core.provenance.job import list_recorded_jobs
from heuristic_core.provenance.record import RECORD_FIELDS, record_digest, record_path
from heuristic_core.provenance.reproduction import compare_results, format_comparison, write_digests

SCRIPT = ROOT / "workflow/scripts/reproduce.py"
# Configurations after which `make figures` compares results with the published ones.
EXPECTED = re.search(r"^EXPECTED := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[1].split()

# Job -> script, the result it reads, the result it writes. Names are in another order than the work.
JOBS = {
    "z/data": ("sentences", None, "data.json"),
    "m/model": ("finetune", "data.json", "model/weights"),
    "a/table": ("gather", "model/weights", "table.csv"),
    "report": ("sorting_report", "table.csv", "report.html"),
}


def make(root, **changes):
    """A study of four jobs; `changes` are fields of all records but those of the first job."""
    for job, (script, read, written) in JOBS.items():
        path = root / written
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"what {script} made")
        fields = {"code": "c0de", "settings": {"steps": 3}, "arithmetic": "portable", "packages": {"torch": "2"}}
        fields |= {"sources": {"pairs.csv": "a"}}
        fields |= changes if read else {}
        made = dict.fromkeys(RECORD_FIELDS) | fields | {"job": job, "script": script}
        made["settings"] = made["settings"] | ({"depends-on": "run"} if job == "report" else {})
        made["inputs"] = {read: file_digest(root / read)} if read else {}
        made["outputs"] = {written: file_digest(path)}
        write(root, written, made)
    return root


def write(root, result, made):
    folder = result.rpartition("/")[0] or result  # of a folder there is one record
    file = record_path(root / folder, root)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(made | {"digest": record_digest(made)}))


@pytest.fixture
def published(tmp_path):
    file = tmp_path / "expected" / "study.json"
    assert write_digests(make(tmp_path / "there" / "study"), file) == 3  # not the report, which depends on its run
    return file


def test_results_are_listed_in_the_order_of_the_work(published):
    record = json.loads(published.read_text())
    assert [job["rule"] for job in record["jobs"]] == ["sentences", "finetune", "gather"]
    assert record["arithmetic"] == "portable" and record["packages"] == {"torch": "2"}


def test_the_same_results_are_the_published_ones(published, tmp_path):
    root = make(tmp_path / "study")
    result = compare_results(root, published)
    assert (result.differing, result.missing) == (0, 0)
    assert mentions(format_comparison(root, published, result), root, 3, published)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"arithmetic": "native"}, ("arithmetic", "native")),
        ({"settings": {"steps": 4}}, ("configuration",)),
        ({"sources": {"pairs.csv": "b"}}, ("pairs.csv",)),
        ({"packages": {"torch": "3"}}, ("torch", 2, 3)),
        ({"code": "other"}, ("code", "finetune")),
        ({"packages": {}, "code": "other"}, ("torch", 2, None, "code", "finetune")),
        ({}, ("processor",)),
    ],
)
def test_the_first_difference_is_named_with_its_likely_reason(changes, named, published, tmp_path):
    root = make(tmp_path / "study", **changes)
    for result in ("model/weights", "table.csv"):  # both jobs gave something else, which their records say
        (root / result).write_text("something else")
        job = next(name for name, (_, _, written) in JOBS.items() if written == result)
        made = json.loads(record_path(root / (result.rpartition("/")[0] or result), root).read_text())
        write(root, result, made | {"outputs": {result: file_digest(root / result)}, "job": job, "digest": None})
    actual = compare_results(root, published)
    assert (actual.results, actual.differing, actual.missing) == (3, 2, 0)
    assert (actual.first.rule, actual.first.result) == ("finetune", "model/weights")
    assert mentions(actual.first.reason, *named)


def test_a_result_that_changed_after_it_was_made_is_told_from_one_that_was_made_otherwise(published, tmp_path):
    root = make(tmp_path / "study")
    (root / "table.csv").write_text("edited")
    assert mentions(compare_results(root, published).first.reason, "gather")


def test_a_result_that_is_not_there_is_missing(published, tmp_path):
    root = make(tmp_path / "study")
    (root / "model/weights").unlink()
    result = compare_results(root, published)
    assert (result.differing, result.missing) == (0, 1)
    assert mentions(format_comparison(root, published, result), 3, 0, 1)


def test_another_configuration_is_told_first(tmp_path, monkeypatch):
    """The job that writes the checked configuration reads no result, so it is among the first."""
    monkeypatch.setitem(JOBS, "describe", ("describe", None, "study.json"))
    file = tmp_path / "study.json"
    write_digests(make(tmp_path / "there" / "study"), file)
    root = make(tmp_path / "study")
    (root / "model/weights").unlink()  # that of a seed which is no longer asked for
    (root / "study.json").write_text("fewer seeds")
    assert compare_results(root, file).first.result == "study.json"


def test_what_is_not_as_it_was_made_is_not_published(tmp_path):
    root = make(tmp_path / "study")
    (root / "table.csv").write_text("edited")
    with raises(InputError, "table.csv"):
        write_digests(root, tmp_path / "file.json")


def test_a_damaged_file_of_digests_is_named(published, tmp_path):
    published.write_text('{"jobs": []}')
    with raises(InputError, "arithmetic", "packages", "study"):
        compare_results(tmp_path, published)


def test_results_of_two_arithmetics_are_not_published(tmp_path):
    with raises(InputError, "m/model", "arithmetic"):
        write_digests(make(tmp_path / "study", arithmetic="native"), tmp_path / "file.json")


def test_a_study_of_which_nothing_was_published_says_how_to_begin(tmp_path):
    with raises(InputError, "make expected"):
        compare_results(make(tmp_path / "study"), tmp_path / "none.json")


def load_published(config):
    """The default study of an experiment and its published digests."""
    values = read_config(ROOT / config)
    study = load_experiment(values).parse(values)
    return study, json.loads((ROOT / f"docs/expected/{study.study}.json").read_text())


def test_every_experiment_has_a_study_with_published_digests():
    assert [resolve_folder(read_config(ROOT / config)) for config in EXPECTED] == list(EXPERIMENT_FOLDERS.values())
    studies = [load_published(config) for config in EXPECTED]
    assert all(study.arithmetic == published["arithmetic"] == "portable" for study, published in studies)
    files = {path.stem for path in (ROOT / "docs/expected").iterdir()}
    assert files == {study.study for study, _ in studies} == {published["study"] for _, published in studies}


@pytest.mark.slow
@pytest.mark.parametrize("config", EXPECTED)
def test_published_results_are_those_that_present_jobs_make(config, tmp_path, monkeypatch):
    study, published = load_published(config)
    monkeypatch.chdir(tmp_path)
    jobs = {
        job.name: {str(Path(path).relative_to(study.root)) for path in job.outputs}
        for job in list_recorded_jobs(ROOT / "Snakefile", [str(ROOT / config)])
    }
    del jobs["report"]
    assert jobs.keys() == {job["job"] for job in published["jobs"]}
    for job in published["jobs"]:
        outputs = jobs[job["job"]]  # files and folders
        paths = {str(path) for result in job["results"] for path in (Path(result), *Path(result).parents)}
        assert outputs <= paths and all(
            outputs & {result, *map(str, Path(result).parents)} for result in job["results"]
        )


@pytest.mark.parametrize(
    ("files", "study"),
    [(["config/minilm.yaml"], "minilm-mnli"), (["config/extractive.yaml", "other.yaml"], "other")],
    ids=["several-studies", "overriding"],
)
def test_configurations_are_read_as_snakemake_reads_them(files, study, tmp_path):
    (tmp_path / "other.yaml").write_text("study: other")
    (tmp_path / "config").symlink_to(ROOT / "config")
    command = [sys.executable, str(SCRIPT), "--configfile", *files]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and mentions(done.stderr, f"docs/expected/{study}.json")


def test_one_damaged_table_of_a_finished_study_is_named(finished, tmp_path):
    """The whole command, on the study that the workflow made. The figure is made from the table, which comes first."""
    import shutil

    from reduced import REDUCED

    shutil.copytree(finished / "results", tmp_path / "results", symlinks=True)

    def reproduce(*more):
        command = [sys.executable, str(SCRIPT), "--configfile", str(REDUCED), *more]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    assert reproduce("--write").returncode == 0
    whole = reproduce()
    assert whole.returncode == 0 and mentions(whole.stdout, "docs/expected/reduced.json")
    for name in ("tables/core.parquet", "figures/figure05.png"):
        with open(tmp_path / "results/reduced" / name, "r+b") as file:
            file.seek(60)
            file.write(b"?!")
    damaged = reproduce()
    assert damaged.returncode == 1 and damaged.stderr == ""
    assert mentions(damaged.stdout, 2, "concatenate", "tables/core", "tables/core.parquet")
