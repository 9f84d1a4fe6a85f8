"""How long the fork server lives, also when the job that started it is killed before the server listens."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "workflow/fork_server"))
import run

pytestmark = pytest.mark.slow  # a server imports all that jobs import
SERVER = "import server, sys; server.IDLE_SECONDS = {}; server.main(*sys.argv[1:])"
SCRIPT = """
import os
import time


def main(arguments):
    time.sleep(float(arguments[0]))
    print(os.getppid())
"""


def server_without_starter(base: str, idle_seconds: float) -> subprocess.Popen:
    """A server that listens at `<base>.socket`, and could not say so."""
    read, write = os.pipe()
    command, folder = [sys.executable, "-c", SERVER.format(idle_seconds), base, "native"], Path(run.__file__).parent
    server = subprocess.Popen(command, stdout=write, env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{folder}"})
    os.close(write)
    os.close(read)
    before = listening(base)
    until = time.monotonic() + 120
    while listening(base) == before and server.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    return server


def listening(base: str) -> int | None:
    """The inode of the socket there, None without one."""
    path = Path(f"{base}.socket")
    return path.stat().st_ino if path.exists() else None


@pytest.fixture
def base(monkeypatch):
    """Where servers listen, without the suffix."""
    with tempfile.TemporaryDirectory(prefix="hc") as folder:  # a socket's path must be short
        monkeypatch.setenv("TMPDIR", folder)
        private = run.make_private_folder(f"{folder}/heuristic-core-{os.getuid()}")
        yield f"{private}/key-{run.environment_digest('native')}"


@pytest.fixture
def start(base):
    """Starts a server at `base`; the servers end with the test."""
    servers = []

    def start_server(idle_seconds: float = 30) -> subprocess.Popen:
        servers.append(server_without_starter(base, idle_seconds))
        return servers[-1]

    yield start_server
    for server in servers:
        server.kill()
        server.wait()


@pytest.fixture
def parent(tmp_path):
    """Returns the process that a job is a fork of, after the job has taken some seconds."""
    script = tmp_path / "parent.py"
    script.write_text(SCRIPT)

    def run_job(seconds: float = 0) -> int:
        command = [sys.executable, "-IS", run.__file__, "key", str(script), str(seconds)]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return int(done.stdout)

    return run_job


def test_a_server_whose_starter_was_killed_serves_and_ends_without_taking_anothers_socket(base, start, parent):
    older, newer = start(), start()
    assert parent() == newer.pid
    socket = listening(base)
    newer.send_signal(signal.SIGSTOP)  # it cannot become idle first
    assert older.wait(60) == 0
    assert listening(base) == socket
    newer.send_signal(signal.SIGCONT)
    assert newer.wait(60) == 0
    assert listening(base) is None


def test_a_server_outlives_its_longest_job(start, parent):
    server = start(idle_seconds=5)
    assert parent(8) == server.pid
    assert parent() == server.pid
    assert server.wait(60) == 0
