"""Run a workflow script in its arithmetic; end it when its starters end: watch.py SCRIPT [ARGUMENT ...].

A Snakemake or shell that is killed (SIGKILL, out of memory) cannot end its jobs, which would continue beside those of
the next run. The environment variable HEURISTIC_CORE_STARTERS lists the process ids to watch; without it none are.
This file imports little, since it starts once per job.
"""

import os
import select
import sys
import threading
import time

POLL_SECONDS = 0.5


def end_with_starters() -> None:
    """End this process immediately when one of its starters ends."""
    if starters := os.environ.get("HEURISTIC_CORE_STARTERS"):
        threading.Thread(target=_end_after, args=([int(pid) for pid in starters.split()],), daemon=True).start()


def _end_after(starters: list[int]) -> None:
    """Wait for a starter to end, then end this process."""
    wait_for_end(starters)
    os._exit(1)


def wait_for_end(processes: list[int]) -> None:
    """Return when one of `processes` has ended."""
    try:
        handles = [os.pidfd_open(pid) for pid in processes]
    except ProcessLookupError:
        return
    except (AttributeError, OSError):  # no pidfd_open on this system: poll
        while all(map(_is_running, processes)):
            time.sleep(POLL_SECONDS)
        return
    poller = select.poll()
    for handle in handles:
        poller.register(handle, select.POLLIN)
    poller.poll()


def _is_running(pid: int) -> bool:
    """Return whether a process exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


if __name__ == "__main__":
    import runpy

    from heuristic_core.common.arithmetic import parse_arithmetic
    from heuristic_core.jobs.environment import prepare_job

    end_with_starters()
    del sys.argv[0]
    prepare_job(parse_arithmetic(sys.argv))  # before the script imports torch
    sys.path[0] = os.path.dirname(sys.argv[0])
    runpy.run_path(sys.argv[0], run_name="__main__")
