"""Run a workflow script in a fork of a process that has its imports done: run.py KEY SCRIPT [ARGUMENT ...]

Importing torch and transformers takes a small job as long as its work. The first job starts a server that
imports once (see server.py); every job is then a fork of it, with its own memory, arguments, log and exit status, and
the same results as `python SCRIPT ...`. KEY names code and environment: another version of either gets its own server,
and so does another arithmetic, which is chosen for good when a process imports what computes.
Where there is no server and none can be started, this process becomes the script, whose log then says why.
This file imports little, since it starts once per job.
"""

import fcntl  # not filelock, whose import takes 40 ms, as long as the rest of this file
import json
import os
import socket
import struct
import sys
import tempfile
import time
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # this runs isolated, without its folder

from watch import end_with_starters

HERE = sys.path[0]
KILLED, INTERRUPTED = 128 + 9, 128 + 2
PATIENCE = 60  # seconds in which a server takes a job, and in which none is started again where one could not start
REASON = "HEURISTIC_CORE_NO_SERVER"  # why a job is no fork, for its log: see heuristic_core.common.progress
# Beginnings of their names: Hugging Face's caches, and how many threads a library may start.
READ_AT_IMPORT = ("HF_", "HUGGINGFACE_", "TRANSFORMERS_", "XDG_CACHE_HOME", "HOME", "OMP_", "MKL_", "OPENBLAS_")


class Unavailable(Exception):
    """The server cannot take the job, which has not begun; the message says why."""


def main(key: str, script: str, *arguments: str) -> int:
    """Hand the job to the server, wait, and return the job's exit status, a shell's if the job was killed."""
    end_with_starters()
    try:
        connection = handed_over(key, script, arguments)
    except (OSError, Unavailable) as error:
        os.environ[REASON] = " ".join(str(error).split())
        os.execv(sys.executable, [sys.executable, os.path.join(HERE, "watch.py"), script, *arguments])
    with connection:
        try:
            status = connection.recv(1)  # the job holds the other end: it closes when the job ends, however it ends
        except ConnectionError:
            status = b""
    return status[0] if status else KILLED


def handed_over(key: str, script: str, arguments: tuple[str, ...]) -> socket.socket:
    """A connection to the job, which has begun. Raises OSError or Unavailable where it has not, and will not."""
    option, folder = "--arithmetic", os.getcwd()
    arithmetic = arguments[arguments.index(option) + 1] if option in arguments else "native"
    os.chdir(private(os.path.join(tempfile.gettempdir(), f"heuristic-core-{os.getuid()}")))
    try:  # from within it: the path of a socket must be short, and TMPDIR may be long
        connection = connect(f"{key}-{kind(arithmetic)}", arithmetic, folder)
    finally:
        os.chdir(folder)
    try:
        request = {"script": script, "arguments": arguments, "folder": folder, "environment": dict(os.environ)}
        message = json.dumps(request).encode()
        connection.settimeout(PATIENCE)
        socket.send_fds(connection, [len(message).to_bytes(8, "big")], [1, 2])
        connection.sendall(message)
        begun = connection.recv(1)
        connection.settimeout(None)
    except TimeoutError:
        connection.close()  # the job, should it be forked yet, ends before it begins
        raise Unavailable(f"the server of forks did not answer within {PATIENCE} s") from None
    except ConnectionError:
        begun = b""
    if not begun:
        connection.close()
        raise Unavailable("the server of forks ended before the job began")
    return connection


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


def connect(base: str, arithmetic: str, folder: str) -> socket.socket:
    """A connection to the server `base` of the working folder, to compute in `arithmetic`.

    If there is none, it is started in `folder`.
    """
    path = f"{base}.socket"
    with open(f"{base}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # jobs that begin together start one server; it cannot stop in between
        try:
            return _reach(path)
        except (FileNotFoundError, ConnectionRefusedError):
            _start(base, arithmetic, folder)
            return _reach(path)


def _reach(path: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    # A server that is stopped takes no connection; with a timeout of Python's, a busy one would refuse them at once.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", PATIENCE, 0))
    try:
        connection.connect(path)
    except OSError:
        connection.close()
        raise
    return connection


def _start(base: str, arithmetic: str, folder: str) -> None:
    """Start a server, and return once it listens. Raises Unavailable where it does not."""
    import subprocess

    failed = f"{base}.failed"
    if os.path.exists(failed) and time.time() - os.stat(failed).st_mtime < PATIENCE:
        raise Unavailable(_reason(base))
    with open(f"{base}.log", "w") as log:
        process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "server.py"), os.path.abspath(base), arithmetic],
            cwd=folder,  # PYTHONPATH may be seen from there
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )
    if process.stdout.readline() != b"listening\n":
        open(failed, "w").close()
        raise Unavailable(_reason(base))


def _reason(base: str) -> str:
    """Why the server `base` did not start, from its log."""
    with open(f"{base}.log", errors="replace") as log:
        last = log.read().strip().rpartition("\n")[2] or "it was killed"
    return f"the server of forks did not start: {last} ({os.path.abspath(base)}.log has all of it)"


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except KeyboardInterrupt:  # Snakemake says that it ends
        sys.exit(INTERRUPTED)
