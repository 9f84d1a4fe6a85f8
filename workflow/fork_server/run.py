"""Run a workflow script in a fork of a process that has done its imports: run.py KEY SCRIPT [ARGUMENT ...].

Importing torch and transformers takes as long as the work of a small job. The first job starts a server that imports
once (see server.py); every job is a fork of it, with its own memory, arguments, log and exit status, and the same
results as `python SCRIPT ...`. KEY identifies code and environment: another version of either gets its own server, and
so does another arithmetic, which is fixed when a process imports torch.
If no server can be started, this process becomes the script, and its log says why.
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

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # python -I leaves out this folder

from watch import end_with_starters

HERE = sys.path[0]
KILLED, INTERRUPTED = 128 + 9, 128 + 2
TIMEOUT = 60  # seconds for a server to accept a job, and before a server that failed to start is started again
REASON_VARIABLE = "HEURISTIC_CORE_NO_SERVER"  # why a job is not a fork, for its log: see heuristic_core.common.progress
# Prefixes of environment variables that libraries read at import: Hugging Face's caches, numbers of threads.
IMPORT_VARIABLES = ("HF_", "HUGGINGFACE_", "TRANSFORMERS_", "XDG_CACHE_HOME", "HOME", "OMP_", "MKL_", "OPENBLAS_")


class Unavailable(Exception):
    """The server cannot take the job, which has not started; the message says why."""


def main(key: str, script: str, *arguments: str) -> int:
    """Hand the job to the server, wait, and return its exit status (137, as in a shell, if it was killed)."""
    end_with_starters()
    try:
        connection = hand_over(key, script, arguments)
    except (OSError, Unavailable) as error:
        os.environ[REASON_VARIABLE] = " ".join(str(error).split())
        os.execv(sys.executable, [sys.executable, os.path.join(HERE, "watch.py"), script, *arguments])
    with connection:
        try:
            status = connection.recv(1)  # the job holds the other end, which closes however the job ends
        except ConnectionError:
            status = b""
    return status[0] if status else KILLED


def hand_over(key: str, script: str, arguments: tuple[str, ...]) -> socket.socket:
    """Return a connection to the started job.

    Raises:
        OSError: If the server cannot be reached.
        Unavailable: If it did not start the job.
    """
    option, folder = "--arithmetic", os.getcwd()  # needed before imports, and so before the script's parser exists
    arithmetic = arguments[arguments.index(option) + 1] if option in arguments else "native"
    os.chdir(make_private_folder(os.path.join(tempfile.gettempdir(), f"heuristic-core-{os.getuid()}")))
    try:  # relative: the path of a socket must be short, and TMPDIR may be long
        connection = connect(f"{key}-{environment_digest(arithmetic)}", arithmetic, folder)
    finally:
        os.chdir(folder)
    try:
        request = {"script": script, "arguments": arguments, "folder": folder, "environment": dict(os.environ)}
        message = json.dumps(request).encode()
        connection.settimeout(TIMEOUT)
        socket.send_fds(connection, [len(message).to_bytes(8, "big")], [1, 2])
        connection.sendall(message)
        started = connection.recv(1)
        connection.settimeout(None)
    except TimeoutError:
        connection.close()  # a job forked later ends before it starts
        raise Unavailable(f"the fork server did not answer within {TIMEOUT} s") from None
    except ConnectionError:
        started = b""
    if not started:
        connection.close()
        raise Unavailable("the fork server ended before the job started")
    return connection


def environment_digest(arithmetic: str) -> str:
    """Return a digest of the arithmetic and of the environment variables that libraries read at import."""
    variables = sorted((name, value) for name, value in os.environ.items() if name.startswith(IMPORT_VARIABLES))
    return f"{zlib.crc32(repr((arithmetic, variables)).encode()):08x}"


def make_private_folder(folder: str) -> str:
    """Return `folder`; make it if necessary.

    Raises:
        PermissionError: If others own it or have access.
    """
    os.makedirs(folder, mode=0o700, exist_ok=True)
    state = os.stat(folder)
    if state.st_uid != os.getuid() or state.st_mode & 0o077:
        raise PermissionError(
            f"{folder} must be owned by this user, with mode 0700; remove it, or set TMPDIR to another folder"
        )
    return folder


def connect(base: str, arithmetic: str, folder: str) -> socket.socket:
    """Return a connection to the server at socket `<base>.socket`; if there is none, start one in `folder`."""
    path = f"{base}.socket"
    with open(f"{base}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # concurrent jobs start one server, and it cannot stop meanwhile
        try:
            return _connect_socket(path)
        except (FileNotFoundError, ConnectionRefusedError):
            _start_server(base, arithmetic, folder)
            return _connect_socket(path)


def _connect_socket(path: str) -> socket.socket:
    """Return a connection to the socket at `path`."""
    connection = socket.socket(socket.AF_UNIX)
    # A stopped server accepts no connection. With Python's own timeout, a busy server would refuse at once.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", TIMEOUT, 0))
    try:
        connection.connect(path)
    except OSError:
        connection.close()
        raise
    return connection


def _start_server(base: str, arithmetic: str, folder: str) -> None:
    """Start a server, and return once it listens.

    Raises:
        Unavailable: If it fails to start.
    """
    import subprocess

    failure_marker = f"{base}.failed"
    if os.path.exists(failure_marker) and time.time() - os.stat(failure_marker).st_mtime < TIMEOUT:
        raise Unavailable(_failure_reason(base))
    with open(f"{base}.log", "w") as log:
        process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "server.py"), os.path.abspath(base), arithmetic],
            cwd=folder,  # PYTHONPATH may be relative to it
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )
    if process.stdout.readline() != b"listening\n":
        open(failure_marker, "w").close()
        raise Unavailable(_failure_reason(base))


def _failure_reason(base: str) -> str:
    """Return why the server `base` failed to start, from its log."""
    with open(f"{base}.log", errors="replace") as log:
        last_line = log.read().strip().rpartition("\n")[2] or "it was killed"
    return f"the fork server did not start: {last_line} ({os.path.abspath(base)}.log has the full log)"


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except KeyboardInterrupt:  # Snakemake prints that it ends
        sys.exit(INTERRUPTED)
