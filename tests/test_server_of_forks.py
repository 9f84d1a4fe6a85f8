"""The server of forks when the job that started it is killed before the server listens."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from conftest import ROOT

pytestmark = pytest.mark.slow  # it imports all that jobs import
FOLDER = ROOT / "workflow/fork_server"


def test_a_server_whose_starter_was_killed_serves_the_next_job():
    with tempfile.TemporaryDirectory(prefix="hc") as folder:  # a socket's path must be short
        base = f"{folder}/key"
        read, write = os.pipe()
        command = [sys.executable, FOLDER / "server.py", base, "portable"]
        server = subprocess.Popen(command, stdout=write, stderr=subprocess.PIPE, text=True)
        os.close(write)
        os.close(read)  # nobody reads any more that it listens
        until = time.monotonic() + 120
        while not Path(f"{base}.socket").exists() and server.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        time.sleep(2)  # a server that ends with its starter has ended by now
        try:
            assert server.poll() is None, server.stderr.read()
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(f"{base}.socket")
        finally:
            server.kill()
            server.wait()
