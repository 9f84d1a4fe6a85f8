"""Run a workflow script in a fork of a process that has its imports done: run.py KEY SCRIPT [ARGUMENT ...]

Importing torch and transformers takes a small job as long as its work. The first job starts a server that
imports once (see server.py); every job is then a fork of it, with its own memory, arguments, log and exit status, and
the same results as `python SCRIPT ...`. KEY names code and environment: another version of either gets its own server,
and so does another arithmetic, which is chosen for good when a process imports what computes.
This file imports little, since it starts once per job.
"""

import fcntl  # not filelock, whose import takes 40 ms, as long as the rest of this file
import json
import os
import socket
import sys
import tempfile
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # this runs isolated, without its folder

from watch import end_with_starters

KILLED, INTERRUPTED = 128 + 9, 128 + 2
# Beginnings of their names: Hugging Face's caches, and how many threads a library may start.
READ_AT_IMPORT = ("HF_", "HUGGINGFACE_", "TRANSFORMERS_", "XDG_CACHE_HOME", "HOME", "OMP_", "MKL_", "OPENBLAS_")
FOLDER = os.path.join(tempfile.gettempdir(), f"heuristic-core-{os.getuid()}")


def main(key: str, script: str, *arguments: str) -> int:
    """Hand the job to the server, wait, and return the job's exit status, a shell's if the job was killed."""
    end_with_starters()
    option = "--arithmetic"
    arithmetic = arguments[arguments.index(option) + 1] if option in arguments else "native"
    with connect(os.path.join(private(FOLDER), f"{key}-{kind(arithmetic)}"), arithmetic) as connection:
        request = {"script": script, "arguments": arguments, "folder": os.getcwd(), "environment": dict(os.environ)}
        message = json.dumps(request).encode()
        socket.send_fds(connection, [len(message).to_bytes(8, "big")], [1, 2])
        connection.sendall(message)
        status = connection.recv(1)  # the job holds the other end: it closes when the job ends, however it ends
    return status[0] if status else KILLED


def kind(arithmetic: str) -> str:
    """What tells servers of one KEY apart: arithmetic, and the environment that is read when libraries are imported."""
    read = sorted((name, value) for name, value in os.environ.items() if name.startswith(READ_AT_IMPORT))
    return f"{zlib.crc32(repr((arithmetic, read)).encode()):08x}"


def private(folder: str) -> str:
    """`folder`, made if need be. Raises PermissionError unless it belongs to this user alone."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    state = os.stat(folder)
    if state.st_uid != os.getuid() or state.st_mode & 0o077:
        raise PermissionError(f"{folder} must belong to this user alone; remove it, or set TMPDIR to another folder")
    return folder


def connect(base: str, arithmetic: str) -> socket.socket:
    """A connection to the server of `base`, which is started if there is none, to compute in `arithmetic`."""
    path = f"{base}.socket"
    with open(f"{base}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # jobs that begin together start one server; it cannot stop in between
        try:
            return _reach(path)
        except (FileNotFoundError, ConnectionRefusedError):
            _start(base, arithmetic)
            return _reach(path)


def _reach(path: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(path)
    except OSError:
        connection.close()
        raise
    return connection


def _start(base: str, arithmetic: str) -> None:
    """Start a server, and return once it listens."""
    import subprocess

    server = os.path.join(os.path.dirname(os.path.abspath(__file__)), "server.py")
    with open(f"{base}.log", "w") as log:
        process = subprocess.Popen(
            [sys.executable, server, base, arithmetic],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )
    if process.stdout.readline() != b"listening\n":
        raise RuntimeError(f"the fork server did not start; {base}.log says why")


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except KeyboardInterrupt:  # Snakemake says that it ends
        sys.exit(INTERRUPTED)
