"""Snakemake's own command line in a fork of a process with its imports done: the same words at a third of the cost.

A start of Snakemake spends its time on imports, and on reading this project's sources for their digests. Both are
the same for every run of one checkout. As a script this is the process that forks: it takes
requests from its standard input until that ends. For another checkout it imports nothing of this project.
"""

import atexit
import contextlib
import gc
import json
import os
import subprocess
import sys
import tempfile
import traceback
from functools import cache
from pathlib import Path


def run(arguments: list[str], folder: Path, environment: dict[str, str], current: bool) -> subprocess.CompletedProcess:
    """`python -m snakemake ARGUMENTS` in `folder`. current: with the code of this checkout."""
    with tempfile.TemporaryDirectory(prefix="hc") as place:
        paths = [os.path.join(place, name) for name in ("stdout", "stderr")]
        request = {"arguments": arguments, "folder": str(folder), "environment": dict(environment), "said": paths}
        server = _server(current)
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        status = int(server.stdout.readline())
        return subprocess.CompletedProcess(arguments, status, *(Path(path).read_text() for path in paths))


@cache
def _server(current: bool) -> subprocess.Popen:
    """The process that forks, one for each of pytest's."""
    root = str(Path(__file__).parent.parent) if current else ""
    command = [sys.executable, __file__, root]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(server.stdin.close)
    return server


def _preload(root: str) -> None:
    from snakemake.cli import get_argument_parser

    get_argument_parser()  # imports Snakemake's plugins
    if root:
        from heuristic_core.provenance.digests import code_digest

        for script in Path(root, "workflow", "scripts").glob("*.py"):
            code_digest(str(script), lock=f"{root}/envs/requirements.txt")
    gc.collect()
    gc.freeze()  # what forks share stays shared


def _become(request: dict) -> None:
    """Be the Snakemake that `request` asks for; end with its exit status."""
    status = 1
    try:
        for target, path in zip((1, 2), request["said"], strict=True):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), target)
        os.chdir(request["folder"])
        os.environ.clear()
        os.environ.update(request["environment"])
        tempfile.tempdir = None  # it is asked for again, of that environment
        sys.path[:0] = [
            path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path not in ("", *sys.path)
        ]
        sys.argv = ["snakemake", *request["arguments"]]
        from snakemake.cli import main

        main()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            atexit._run_exitfuncs()
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _serve(root: str) -> None:
    answers = os.fdopen(os.dup(1), "w")
    requests = os.fdopen(os.dup(0), "r")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    _preload(root)
    for line in requests:
        child = os.fork()
        if child == 0:
            requests.close()
            answers.close()
            _become(json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), file=answers, flush=True)


if __name__ == "__main__":
    _serve(sys.argv[1])
