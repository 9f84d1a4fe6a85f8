"""The process whose forks are jobs: it imports what they need, then waits for run.py to ask. It never computes itself.

A fork is safe because no other thread of this process computes and it has not touched a GPU; it stops when no job came
for a while.
"""

import atexit
import contextlib
import fcntl
import gc
import importlib.util
import json
import os
import signal
import socket
import sys
import threading
from pathlib import Path

from heuristic_core.common.arithmetic import asked
from heuristic_core.jobs.environment import prepare_job

SCRIPTS = Path(__file__).resolve().parent.parent / "scripts"
IDLE_SECONDS = 30
BEGINS = b"\0"


def main(base: str, arithmetic: str) -> None:
    """Listen at `<base>.socket` until idle. arithmetic: of all jobs."""
    os.chdir(os.path.dirname(base))  # from within it: the path of a socket must be short
    base = os.path.basename(base)
    path, unseen = f"{base}.socket", f"{base}.{os.getpid()}"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(unseen)  # before what takes time: there are file systems without sockets
    own = os.stat(unseen)
    try:
        prepare_job(arithmetic)
        preload()
        listener.listen(64)
        listener.settimeout(IDLE_SECONDS)
        os.replace(unseen, path)  # from its first moment at `path` on, the socket is listened to
    finally:
        remove(unseen, own)
    with contextlib.suppress(BrokenPipeError):  # the starter was killed: other jobs are served all the same
        os.write(sys.stdout.fileno(), b"listening\n")
    with open(os.devnull, "w") as nothing:
        os.dup2(nothing.fileno(), sys.stdout.fileno())  # lets the starter's pipe go
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended jobs leave no zombies
    while True:
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            with open(f"{base}.lock", "w") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    listener.setblocking(False)
                    connection, _ = listener.accept()  # somebody came between the waiting and the lock
                    listener.settimeout(IDLE_SECONDS)
                except BlockingIOError:
                    if listener.gettimeout() == 0:  # we hold the lock and nobody is there
                        remove(path, own)
                        return
                    continue  # somebody else holds it, to connect
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            run_job(connection)
        connection.close()


def remove(path: str, own: os.stat_result) -> None:
    """Remove this server's socket, unless another server, whose starter came meanwhile, has put its own there."""
    with contextlib.suppress(FileNotFoundError):
        if os.path.samestat(os.stat(path), own):
            os.unlink(path)


def preload() -> None:
    """Import what the jobs import, also what torch and transformers themselves only import when first used."""
    import torch

    for name in ("prune", "evaluate", "full_model", "gather", "figure", "finetune", "encode"):
        load(SCRIPTS / f"{name}.py")
    import matplotlib.backends.backend_agg
    import matplotlib.backends.backend_pdf
    import matplotlib.backends.backend_svg  # noqa: F401 (what figures are written with; `figure` brings seaborn)
    import transformers.models.bert.modeling_bert  # noqa: F401 (what the miniatures fine-tune)

    torch.optim.AdamW([torch.zeros(1, requires_grad=True)], fused=True)
    gc.collect()
    gc.freeze()  # else the collector of every fork looks at all of this, and so copies the memory it is in


def load(script: Path):
    """The module of a script."""
    spec = importlib.util.spec_from_file_location(script.stem, script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_job(connection: socket.socket) -> None:
    """Become the job that `connection` asks for; say that it begins, and with which status it ends.

    Where it cannot begin, or nobody waits for it, nothing of it has run: its client runs it in another way.
    """
    status = 1
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
        prepare_job(asked(request["arguments"]))
        sys.argv = [request["script"], *request["arguments"]]
        connection.sendall(BEGINS)
        threading.Thread(target=end_with_client, args=(connection,), daemon=True).start()
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(status)
    try:
        status = run_script(Path(request["script"]), request["arguments"])
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        atexit._run_exitfuncs()  # os._exit, which spares the server's own, would leave out the job's
        sys.stdout.flush()
        sys.stderr.flush()
        with contextlib.suppress(OSError):
            connection.sendall(bytes([status]))
        os._exit(status)


def run_script(script: Path, arguments: list[str]) -> int:
    """Run the script; its exit status, as the interpreter would give it."""
    from heuristic_core.provenance.record import recorded

    try:
        recorded(load(script).main, arguments)
        return 0
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)


def end_with_client(connection: socket.socket) -> None:
    """End this job when the process that asked for it is gone."""
    with contextlib.suppress(OSError):
        connection.recv(1)  # nothing is ever sent: this returns when the other end closes
    os._exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
