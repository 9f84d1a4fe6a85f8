"""The fork server when the job that started it is killed before the server listens."""

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
SCRIPT = """
import os


def main(arguments):
    print("the server is", os.getppid())
"""


def server_without_starter(base: str) -> subprocess.Popen:
    """A server that listens at `<base>.socket`, and could not say so."""
    read, write = os.pipe()
    command = [sys.executable, Path(run.__file__).with_name("server.py"), base, "native"]
    server = subprocess.Popen(command, stdout=write)
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
def servers(monkeypatch):
    """Two servers at one place, the older without a way to it: the folder, their base, and both."""
    with tempfile.TemporaryDirectory(prefix="hc") as folder:  # a socket's path must be short
        monkeypatch.setenv("TMPDIR", folder)
        place = run.make_private_folder(f"{folder}/heuristic-core-{os.getuid()}")
        base = f"{place}/key-{run.environment_digest('native')}"
        both = [server_without_starter(base), server_without_starter(base)]
        yield base, both
        for server in both:
            server.kill()
            server.wait()


def test_a_server_whose_starter_was_killed_serves_and_ends_without_taking_anothers_socket(servers, tmp_path):
    base, (older, newer) = servers
    script = tmp_path / "who.py"
    script.write_text(SCRIPT)
    ask = [sys.executable, "-IS", run.__file__, "key", str(script)]
    done = subprocess.run(ask, capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()) == (0, ["the", "server", "is", str(newer.pid)]), done.stderr
    socket = listening(base)
    newer.send_signal(signal.SIGSTOP)  # it cannot become idle first
    assert older.wait(60) == 0
    assert listening(base) == socket
    newer.send_signal(signal.SIGCONT)
    assert newer.wait(60) == 0
    assert listening(base) is None
