"""A second run in one folder, and results that were copied there."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime

import pytest
from mentions import mentions
from reduced import REDUCED, planned, snakemake

from heuristic_core.jobs import working_folder
from heuristic_core.jobs.working_folder import describe_other_run, equalise_copied_times
from heuristic_core.provenance.record import RECORD_FIELDS, record_digest, record_path

BEGIN = """
import sys
from heuristic_core.jobs.working_folder import begin_run
begin_run()
print("begun", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def other(tmp_path, monkeypatch):
    """A process that has begun a run in the working folder, and holds Snakemake's locks."""
    monkeypatch.chdir(tmp_path)
    working_folder.LOCK_DIR.mkdir(parents=True)
    (working_folder.LOCK_DIR / "0.output.lock").write_text("x")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", BEGIN], text=True, **pipes) as process:
        assert process.stdout.readline() == "begun\n"
        yield process
        process.kill()


def test_a_run_that_goes_on_is_told_from_one_that_was_killed(other):
    message = describe_other_run()
    assert mentions(message, other.pid, "--unlock") and not mentions(message, "snakemake --unlock")
    working_folder.begin_run()  # of a second run, which may make other results
    assert describe_other_run() == message
    other.send_signal(signal.SIGKILL)
    other.wait()
    assert mentions(describe_other_run(), other.pid, "snakemake --unlock")
    shutil.rmtree(working_folder.LOCK_DIR)
    assert describe_other_run() is None


def test_locks_of_which_nothing_is_known_are_left_to_snakemake(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert describe_other_run() is None
    working_folder.LOCK_DIR.mkdir(parents=True)
    (working_folder.LOCK_DIR / "0.output.lock").write_text("x")
    assert describe_other_run() is None


STARTED = 1_700_000_000


@pytest.fixture
def study(tmp_path):
    """A study with a record, and files of any times."""
    root = tmp_path / "study"
    file = record_path(root / "study.json", root)
    for path in (root / "study.json", root / "a" / ".hidden", root / "a" / "b", file):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    started = datetime.fromtimestamp(STARTED, UTC).isoformat().replace("+00:00", "Z")
    made = dict.fromkeys(RECORD_FIELDS) | {"started": started, "seconds": 2.0}
    file.write_text(json.dumps(made | {"digest": record_digest(made)}))
    (root / "link").symlink_to(tmp_path)
    return root


def disorder(root, first):
    for number, path in enumerate(sorted(root.rglob("*"), reverse=True)):
        os.utime(path, (first + number,) * 2, follow_symlinks=False)


def times(root):
    return {path.lstat().st_mtime for path in root.rglob("*") if path.name != ".copied"}


def test_files_that_were_copied_without_their_times_get_one_time_once(study):
    disorder(study, STARTED + 1000)
    outside = study.parent.stat().st_mtime
    equalise_copied_times(study)
    assert len(times(study)) == 1 and study.parent.stat().st_mtime == outside, "links are not followed"
    (study / "a" / "b").write_text("new")  # what is made since then is newer
    equalise_copied_times(study)
    assert len(times(study)) == 2
    shutil.copytree(study, study.parent / "again", copy_function=shutil.copyfile, symlinks=True)
    disorder(study.parent / "again", STARTED + 5000)
    equalise_copied_times(study.parent / "again")
    assert len(times(study.parent / "again")) == 1


def test_results_where_they_were_made_or_without_a_sound_record_keep_their_times(study):
    disorder(study, STARTED)
    equalise_copied_times(study)
    assert len(times(study)) > 4
    disorder(study, STARTED + 1000)
    record_path(study / "study.json", study).write_text("{}")
    equalise_copied_times(study)
    assert len(times(study)) > 4
    equalise_copied_times(study.parent / "none")


@pytest.mark.slow
def test_copied_results_count_as_finished_in_whatever_order_they_were_copied(finished, tmp_path):
    shutil.copytree(finished / "results", tmp_path / "results", copy_function=shutil.copyfile)
    disorder(tmp_path / "results", int(time.time()) + 1000)
    done = snakemake(tmp_path, "--dry-run", "--quiet", "rules")
    assert any(mentions(line, "results/reduced", "`make audit`") for line in (done.stdout + done.stderr).splitlines())
    assert planned(tmp_path) == {}
    shutil.rmtree(tmp_path / "results" / "reduced" / "figures")  # what is deleted is made again, and nothing else
    jobs = planned(tmp_path)
    assert jobs and all(name.startswith(("figure", "report")) for name in jobs)


@pytest.mark.slow
def test_two_snakemakes_in_one_folder(tmp_path):
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--snakefile", str(REDUCED.parents[2] / "Snakefile")]
    command += ["--directory", str(tmp_path), "--configfile", str(REDUCED)]
    running = tmp_path / working_folder.RUN_FILE
    with subprocess.Popen(
        command, cwd=REDUCED.parents[2], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as first:
        while not running.exists() and first.poll() is None:
            signal.sigtimedwait([], 0.1)
        second = snakemake(tmp_path, check=False)
        output = second.stdout + second.stderr
        assert second.returncode == 1 and mentions(output, first.pid)
        assert output.index(str(first.pid)) < output.index("with the --unlock argument")  # Snakemake's own message
        first.kill()
        first.wait()
    after = snakemake(tmp_path, check=False)
    assert mentions(after.stderr, first.pid, "snakemake --unlock")
    snakemake(tmp_path, "--unlock")
    assert not list((tmp_path / working_folder.LOCK_DIR).glob("*"))
