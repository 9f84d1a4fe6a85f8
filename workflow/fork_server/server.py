"""The server whose forks are jobs: it imports what they need, waits for requests of run.py, and never computes itself.

It listens once it has imported what the first jobs need, and imports the rest while they run. Forking is safe because
this process has no other computing threads and never uses a GPU. It stops when no job runs and none is requested for a
while.
"""

import atexit
import contextlib
import fcntl
import gc
import importlib.util
import json
import os
import select
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

from heuristic_core.jobs.environment import prepare_job

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"
IDLE_SECONDS = 30
STARTED = b"\0"


def main(base: str, arithmetic: str) -> None:
    """Listen at `<base>.socket` until idle; all jobs compute in `arithmetic`."""
    os.chdir(os.path.dirname(base))  # relative: the path of a socket must be short
    base = os.path.basename(base)
    path, hidden_path = f"{base}.socket", f"{base}.{os.getpid()}"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(hidden_path)  # before the slow imports: some file systems have no sockets
    state = os.stat(hidden_path)
    try:
        prepare_job(arithmetic)
        imports = preload()
        next(imports)
        listener.listen(64)
        listener.settimeout(IDLE_SECONDS)
        os.replace(hidden_path, path)  # atomic: the socket at `path` always has a listener
    finally:
        remove_socket(hidden_path, state)
    with contextlib.suppress(BrokenPipeError):  # the starter was killed: serve other jobs all the same
        os.write(sys.stdout.fileno(), b"listening\n")
    with open(os.devnull, "w") as devnull:
        os.dup2(devnull.fileno(), sys.stdout.fileno())  # release the starter's pipe
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended jobs leave no zombies
    while True:
        while not select.select([listener], [], [], 0)[0] and next(imports, False):
            pass  # no request waits: import more
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            if has_jobs():
                continue
            with open(f"{base}.lock", "w") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    listener.setblocking(False)
                    connection, _ = listener.accept()  # a request between timeout and lock
                    listener.settimeout(IDLE_SECONDS)
                except BlockingIOError:
                    if listener.gettimeout() == 0:  # the lock is held and no client waits
                        remove_socket(path, state)
                        return
                    continue  # a client holds it to connect
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            run_job(connection, arithmetic)
        connection.close()


def has_jobs() -> bool:
    """Return whether a job, which is a child of this process, still runs."""
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True


def remove_socket(path: str, state: os.stat_result) -> None:
    """Remove the socket at `path` unless another server has replaced it; `state` identifies this server's."""
    with contextlib.suppress(FileNotFoundError):
        if os.path.samestat(os.stat(path), state):
            os.unlink(path)


def preload() -> Iterator[bool]:
    """Import what jobs import, including lazy imports of torch and transformers; yield True after each part."""
    import torch

    load_script(SCRIPTS / "encode.py")
    yield True
    import torch._dynamo  # noqa: F401 (optimizers)

    yield True
    import transformers.modeling_utils  # noqa: F401

    yield True
    for name in ("finetune", "prune", "evaluate", "full_model", "gather", "figure"):
        load_script(SCRIPTS / f"{name}.py")
        yield True
    import transformers.models.bert.modeling_bert  # noqa: F401 (the miniatures' model)

    torch.optim.AdamW([torch.zeros(1, requires_grad=True)], fused=True)
    yield True
    import matplotlib.backends.backend_agg  # noqa: F401 (backends of figures)
    import matplotlib.backends.backend_pdf  # noqa: F401
    import matplotlib.backends.backend_svg  # noqa: F401

    yield True
    import pyarrow.dataset  # noqa: F401 (reads tables)
    import pyarrow.pandas_compat  # noqa: F401
    import seaborn  # noqa: F401 (and scipy.stats, which most tables need)

    from heuristic_core.provenance.digests import package_versions

    package_versions()  # cached, for the records of jobs
    gc.collect()
    gc.freeze()  # else the garbage collector of every fork would visit, and so copy, this memory


def load_script(script: Path):
    """Import a script and return its module."""
    spec = importlib.util.spec_from_file_location(script.stem, script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_job(connection: socket.socket, arithmetic: str) -> None:
    """Become the job that `connection` requests; send a byte when it starts, and its exit status at the end.

    If it cannot start or its client is gone, nothing of it has run, and the client runs it without a fork.
    """
    status = 1
    # Without the exit handlers of libraries that the server imported, which take longer than a small job. A job's own
    # handlers run, but no weakref.finalize, such as of a temporary folder that was not closed.
    atexit._clear()
    try:
        head, descriptors, _, _ = socket.recv_fds(connection, 8, 2)
        with connection.makefile("rb") as stream:
            request = json.loads(stream.read(int.from_bytes(head, "big")))
        for target, source in zip((1, 2), descriptors, strict=True):
            os.dup2(source, target)
            os.close(source)
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["environment"])
        prepare_job(arithmetic)
        sys.argv = [request["script"], *request["arguments"]]
        connection.sendall(STARTED)
        threading.Thread(target=end_with_client, args=(connection,), daemon=True).start()
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(status)
    try:
        status = run_script(Path(request["script"]), request["arguments"])
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        atexit._run_exitfuncs()  # os._exit would skip the job's exit handlers, too
        sys.stdout.flush()
        sys.stderr.flush()
        with contextlib.suppress(OSError):
            connection.sendall(bytes([status]))
        os._exit(status)


def run_script(script: Path, arguments: list[str]) -> int:
    """Run the script and return its exit status, like the interpreter's."""
    from heuristic_core.provenance.record import run_with_record

    try:
        run_with_record(load_script(script).main, arguments)
        return 0
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)


def end_with_client(connection: socket.socket) -> None:
    """End this job when its client ends."""
    with contextlib.suppress(OSError):
        connection.recv(1)  # nothing is ever sent: returns when the other end closes
    os._exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
