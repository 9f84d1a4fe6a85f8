"""Jobs when the fork server cannot start, has ended, or does not answer: each runs once, and its log has the reason."""

import os
import subprocess
import sys

import pytest
from conftest import ROOT
from mentions import mentions

JOB = """
from heuristic_core.jobs.arguments import JobParser


def main(arguments=None):
    JobParser("a job").parse(arguments)
    with open("ran", "a") as file:
        file.write("x")
    raise SystemExit(3)


if __name__ == "__main__":
    main()
"""
# In the place of the real server, which imports for seconds: it listens, and does `{then}` with a job.
SERVER = """
import os, socket, sys
base = sys.argv[1]
os.chdir(os.path.dirname(base))
listener = socket.socket(socket.AF_UNIX)
listener.bind(os.path.basename(base) + ".socket")
listener.listen(1)
print("listening", flush=True)
sys.stdout.close()
os.close(1)
os.close(2)
connection, _ = listener.accept()
{then}
"""
READ = "stream = connection.makefile('rb'); stream.read(int.from_bytes(stream.read(8), 'big')); "  # all of the request
WELL = READ + "connection.sendall(b'\\0\\7')"


@pytest.fixture
def start(tmp_path, monkeypatch):
    """A function that runs the job by a server of some code; returns its exit status and log, and how often it ran."""
    monkeypatch.chdir(tmp_path)
    for name in ("run.py", "watch.py"):
        text = (ROOT / "workflow" / "fork_server" / name).read_text()
        (tmp_path / name).write_text(text.replace("TIMEOUT = 60", "TIMEOUT = 5"))
    (tmp_path / "job.py").write_text(JOB)
    (tmp_path / "tmp").mkdir()

    def run(server, **variables):
        (tmp_path / "server.py").write_text(server)
        command = [sys.executable, "-IS", "run.py", "key", "job.py", "--log", "logs/job.log"]
        environment = os.environ | {"TMPDIR": str(tmp_path / "tmp")} | variables
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100)
        assert "Traceback" not in done.stderr, done.stderr
        log, ran = tmp_path / "logs" / "job.log", tmp_path / "ran"
        return done.returncode, log.read_text() if log.exists() else "", len(ran.read_text()) if ran.exists() else 0

    return run


@pytest.mark.slow
@pytest.mark.parametrize(
    ("server", "named"),
    [
        ("import sys; sys.exit('no such library')", ["no such library"]),
        ("import os; os.kill(os.getpid(), 9)", []),
        ("import nothing_of_this_name", ["'nothing_of_this_name'"]),
        (SERVER.format(then="sys.exit()"), []),
        (SERVER.format(then="connection.recv(9); os.kill(os.getpid(), 9)"), []),
        (SERVER.format(then="import time; time.sleep(7)"), ["5 s"]),
    ],
)
def test_a_job_that_no_server_takes_runs_by_itself_and_its_log_says_why(start, server, named):
    status, log, ran = start(server)
    assert (status, ran) == (3, 1)
    assert log.strip() and mentions(log, *named)


def test_a_job_that_a_server_has_begun_is_never_run_again(start):
    assert start(SERVER.format(then=READ + "connection.sendall(b'\\0'); connection.close()")) == (
        137,
        "",
        0,
    )


def test_a_server_that_could_not_start_is_not_started_by_every_job(start, tmp_path):
    failing = f"open({str(tmp_path / 'starts')!r}, 'a').write('x'); raise SystemExit('no')"
    assert [start(failing)[0] for _ in range(2)] == [3, 3]  # within a minute
    assert (tmp_path / "starts").read_text() == "x"


@pytest.mark.parametrize("length", [60, 150, 230])
def test_the_way_to_the_server_may_be_long(start, tmp_path, length):
    folder = tmp_path / "tmp" / ("d" * length)
    folder.mkdir()
    assert start(SERVER.format(then=WELL), TMPDIR=str(folder)) == (7, "", 0)


def block_by_file(folder):
    folder.write_text("")


def make_public(folder):
    folder.mkdir()
    folder.chmod(0o755)


def change_owner(folder):
    folder.mkdir(0o700)
    os.chown(folder, 12345, -1)


def a_loop(folder):
    folder.symlink_to(folder)


@pytest.mark.parametrize("spoil", [block_by_file, make_public, change_owner, a_loop])
def test_a_folder_that_cannot_be_used_fails_no_job(start, tmp_path, spoil):
    if spoil is change_owner and os.getuid():
        pytest.skip("only root can give a folder away")
    spoil(tmp_path / "tmp" / f"heuristic-core-{os.getuid()}")
    status, log, ran = start("raise SystemExit('not asked')")
    assert (status, ran) == (3, 1) and log and "not asked" not in log


@pytest.mark.parametrize("folder", ["/nosuch/folder", "/proc", "/dev/null"])
def test_a_temporary_folder_that_is_none_fails_no_job(start, folder):
    assert start(SERVER.format(then=WELL), TMPDIR=folder)[0] in (3, 7)
