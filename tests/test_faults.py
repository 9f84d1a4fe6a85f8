"""Faults of the machine, one function at a time: damaged saved states, two jobs in one place, what a kill leaves, and
the messages. Faults of whole runs: test_faults_runs.py; of disks: test_faults_disks.py; of configurations and data:
test_faults_configurations.py and test_faults_data.py."""

import errno
import fcntl
import logging
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from conftest import ROOT
from mentions import mentions, raises

from heuristic_core.common import atomic, faults, progress
from heuristic_core.common.errors import InputError
from heuristic_core.jobs import scratch
from heuristic_core.training.saved_state import digests, load_state, save_state

WATCH = str(ROOT / "workflow" / "fork_server" / "watch.py")


@pytest.fixture
def state(tmp_path):
    """A saved state with a finished file beside it."""
    (tmp_path / "step1").mkdir()
    (tmp_path / "step1" / "weights").write_bytes(bytes(range(200)))
    torch.manual_seed(0)
    tensors = {
        "a": torch.randn(5, 7),
        "scalar": torch.tensor(3.0),
        "half": torch.randn(4).bfloat16(),
        "empty": torch.zeros(0, 2),
        "generator": torch.get_rng_state()[:40],
    }
    records = {"step": 7, "losses": [0.1, 1e-30], "files": digests(tmp_path, [tmp_path / "step1" / "weights"])}
    save_state(tmp_path / "state", tensors, records)
    return tmp_path / "state", tensors, records


def same(result, tensors, records):
    return (
        result[1] == records
        and result[0].keys() == tensors.keys()
        and all(result[0][k].dtype == v.dtype and torch.equal(result[0][k], v) for k, v in tensors.items())
    )


def test_a_saved_state_comes_back_as_it_was(state):
    path, tensors, records = state
    assert same(load_state(path), tensors, records)
    assert load_state(path.with_name("none")) is None


@pytest.mark.slow
def test_no_flipped_bit_of_a_saved_state_changes_it(state, caplog):
    """Every byte of the file, with one bit of it flipped: the state is the same (white space), or it is not used."""
    path, tensors, records = state
    whole, rng, refused = path.read_bytes(), random.Random(0), 0
    for position in range(len(whole)):
        flipped = bytearray(whole)
        flipped[position] ^= 1 << rng.randrange(8)
        path.write_bytes(flipped)
        caplog.clear()
        result = load_state(path)
        if result is None:
            refused += 1
            assert mentions(caplog.text, path)
        else:
            assert same(result, tensors, records)
    assert refused > 0.9 * len(whole)


def test_a_truncated_state_and_one_of_another_format_are_not_used(state):
    path, *_ = state
    whole = path.read_bytes()
    for size in (0, 7, 8, 100, len(whole) - 1):
        path.write_bytes(whole[:size])
        assert load_state(path) is None
    path.write_bytes(b"PK\3\4 something else" * 9)
    assert load_state(path) is None


@pytest.mark.parametrize("damage", ["flip", "truncate", "delete"])
def test_a_state_whose_finished_files_are_damaged_is_not_used(state, damage, caplog):
    path, *_ = state
    weights = path.with_name("step1") / "weights"
    content = weights.read_bytes()
    weights.write_bytes(content[:-1] if damage == "truncate" else b"\1" + content[1:])
    if damage == "delete":
        weights.unlink()
    assert load_state(path) is None
    assert "step1/weights" in caplog.text


# ---- one job in one place

HOLD = """
import shutil, sys, time
from heuristic_core.jobs.scratch import open_scratch
open_scratch(sys.argv[1], "the same")
print("mine", flush=True)
time.sleep(float(sys.argv[2]))
if sys.argv[3:]:
    shutil.rmtree(sys.argv[1])
"""


def hold(folder: Path, seconds: float, *then: str) -> subprocess.Popen:
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(folder), str(seconds), *then], stdout=subprocess.PIPE)
    assert holder.stdout.readline() == b"mine\n"
    return holder


@pytest.fixture
def released():
    """Locks that a test took in this process are given back."""
    yield
    for lock in scratch._locks.values():
        lock.release(force=True)
    scratch._locks.clear()


@pytest.mark.usefixtures("released")
def test_a_second_job_in_one_place_is_told_who_is_there(tmp_path, monkeypatch):
    monkeypatch.setattr(scratch, "LOCK_TIMEOUT", 0.3)
    holder = hold(tmp_path / "work", 60)
    (tmp_path / "work" / "state").write_text("of the first")
    try:
        with raises(InputError, tmp_path / "work", holder.pid):
            scratch.open_scratch(tmp_path / "work", "another")
        assert (tmp_path / "work" / "state").read_text() == "of the first"
    finally:
        holder.kill()
        holder.wait()
    assert scratch.open_scratch(tmp_path / "work", "the same") == tmp_path / "work"  # a killed job holds nothing
    assert (tmp_path / "work" / "state").read_text() == "of the first"


@pytest.mark.usefixtures("released")
@pytest.mark.parametrize("then", [(), ("delete",)], ids=["left", "deleted"])
def test_a_job_waits_for_one_that_is_about_to_end(tmp_path, then):
    holder = hold(tmp_path / "work", 0.5, *then)
    assert scratch.open_scratch(tmp_path / "work", "the same").is_dir()
    assert holder.wait() == 0
    assert str(os.getpid()) in (tmp_path / "work" / "lock").read_text()


@pytest.mark.usefixtures("released")
def test_work_of_another_kind_is_emptied_and_a_file_system_without_locks_is_used(tmp_path, monkeypatch):
    folder = scratch.open_scratch(tmp_path / "work", "one")
    (folder / "state").write_text("x")
    (folder / "step1").mkdir()

    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    scratch.open_scratch(folder, "one")
    assert (folder / "state").exists()
    scratch.open_scratch(folder, "two")
    assert sorted(path.name for path in folder.iterdir()) == ["fingerprint", "lock"]


# ---- what a kill leaves

CUT = """
import os, signal, sys
from heuristic_core.common.atomic import replace_atomically
with replace_atomically(sys.argv[1]) as partial:
    partial.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_temporary_files_of_killed_writers_do_not_pile_up(tmp_path):
    path = tmp_path / "table-1.parquet"
    for _ in range(3):
        assert subprocess.run([sys.executable, "-c", CUT, str(path)], check=False).returncode == -signal.SIGKILL
        (left,) = tmp_path.iterdir()  # the next writer removed that of the one before
        assert left.name.endswith(".partial.parquet") and left.name.startswith(".table-1.parquet.")
    atomic.write_text(path, "whole")
    assert list(tmp_path.iterdir()) == [path] and path.read_text() == "whole"


def test_temporary_files_of_living_writers_and_other_machines_stay(tmp_path):
    path = tmp_path / "a.json"
    with atomic.replace_atomically(path) as partial:
        partial.write_text("half")
        with atomic.replace_atomically(path.with_name("b.json")) as other:
            other.write_text("b")
        assert partial.exists()
    far = tmp_path / ".a.json.node-7-1.partial.json"
    far.write_text("theirs")
    atomic.write_text(path, "mine")
    assert far.exists()
    os.utime(far, (0, time.time() - 2 * atomic.STALE_SECONDS))
    atomic.write_text(path, "mine")
    assert not far.exists()


SCRIPT = """
import pathlib, sys, time
pathlib.Path(sys.argv[1]).write_text(sys.argv[0] + " " + __name__)
time.sleep(float(sys.argv[2]))
"""


@pytest.mark.parametrize("by", ["pidfd", "polling"])
def test_a_job_ends_with_the_process_that_started_it(tmp_path, by):
    (tmp_path / "job.py").write_text(SCRIPT)
    starter = subprocess.Popen(["sleep", "60"])
    watch = WATCH
    if by == "polling":  # as on a machine that has no such call
        watch = tmp_path / "watch.py"
        watch.write_text(Path(WATCH).read_text().replace("os.pidfd_open(", "os.no_such_call("))
    environment = os.environ | {"HEURISTIC_CORE_STARTERS": f"{os.getpid()} {starter.pid}"}
    command = [sys.executable, str(watch), str(tmp_path / "job.py"), str(tmp_path / "began"), "60"]
    job = subprocess.Popen(command, env=environment)
    while not (tmp_path / "began").exists():
        time.sleep(0.01)
    time.sleep(0.2)
    assert job.poll() is None
    starter.kill()
    starter.wait()
    assert job.wait(timeout=600) == 1
    assert subprocess.run(command, env=environment, timeout=600, check=False).returncode == 1  # its starter is gone


def test_a_job_without_a_starter_is_what_the_script_is(tmp_path):
    (tmp_path / "job.py").write_text(SCRIPT)
    command = [sys.executable, WATCH, str(tmp_path / "job.py"), str(tmp_path / "began"), "0"]
    assert subprocess.run(command, check=False).returncode == 0
    assert (tmp_path / "began").read_text() == f"{tmp_path / 'job.py'} __main__"


# ---- messages


def no_memory():
    return torch.empty(1 << 50)


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "a.parquet"), faults.SPACE_ADVICE),
        (OSError(errno.EDQUOT, "Disk quota exceeded"), faults.SPACE_ADVICE),
        (OSError(errno.EROFS, "Read-only file system", "a.parquet"), faults.PERMISSION_ADVICE),
        (PermissionError(errno.EACCES, "Permission denied", "a"), faults.PERMISSION_ADVICE),
        (
            RuntimeError('IoError(Os { code: 28, kind: StorageFull, message: "No space left on device" })'),
            faults.SPACE_ADVICE,
        ),
        (MemoryError(), faults.MEMORY_ADVICE),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), faults.MEMORY_ADVICE),
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB.\nMore lines"), faults.MEMORY_ADVICE),
    ],
)
def test_faults_of_the_machine_are_one_line_with_a_remedy(error, advice, caplog, capsys, tmp_path):
    with caplog.at_level(logging.ERROR):
        progress.log_failure(type(error), error, None)
    (record,) = caplog.records
    assert record.getMessage().endswith(advice) and record.exc_info is None
    assert "\n" not in record.getMessage()
    assert "Traceback" not in capsys.readouterr().err


def test_memory_that_torch_cannot_have_is_told(caplog):
    with pytest.raises(RuntimeError) as caught:
        no_memory()
    assert faults.find_remedy(caught.value) == faults.MEMORY_ADVICE


def test_other_errors_keep_their_traceback_and_users_errors_their_words():
    assert faults.find_remedy(KeyError("space")) is None
    assert progress.format_error(InputError("x.csv: No space left on device")) == "x.csv: No space left on device"
    assert not progress.is_user_error(ValueError("a bug"))


FULL = """
import sys
from heuristic_core.common.progress import start_log
start_log(sys.argv[1])
raise OSError(28, "No space left on device")
"""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_log_that_cannot_be_written_does_not_hide_why():
    done = subprocess.run([sys.executable, "-c", FULL, "/dev/full"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr.endswith(f"{faults.SPACE_ADVICE}\n")
    assert len(done.stderr.splitlines()) == 1, done.stderr  # a traceback has more
