"""Run a workflow script that ends when the Snakemake that started it is gone: watch.py SCRIPT [ARGUMENT ...]

A Snakemake that is killed (SIGKILL, out of memory) cannot end its jobs. They would go on beside those of the next one.
The environment variable HEURISTIC_CORE_STARTER names its process; without it nothing is watched.
This file imports little, since it starts once per job.
"""

import os
import select
import sys
import threading
import time

SECONDS_BETWEEN_LOOKS = 0.5


def end_with_starter() -> None:
    """End this process, at once and wherever it is, when its starter ends."""
    if starter := os.environ.get("HEURISTIC_CORE_STARTER"):
        threading.Thread(target=_end_after, args=(int(starter),), daemon=True).start()


def _end_after(pid: int) -> None:
    wait_for_end(pid)
    os._exit(1)


def wait_for_end(pid: int) -> None:
    """Return when there is no process `pid` any more."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    except (AttributeError, OSError):  # not Linux, or one that does not let us: look again and again
        while _is_there(pid):
            time.sleep(SECONDS_BETWEEN_LOOKS)
        return
    ended = select.poll()
    ended.register(handle, select.POLLIN)
    ended.poll()


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


if __name__ == "__main__":
    import runpy

    end_with_starter()
    del sys.argv[0]
    sys.path[0] = os.path.dirname(sys.argv[0])
    runpy.run_path(sys.argv[0], run_name="__main__")
