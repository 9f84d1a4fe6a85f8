"""Run a workflow script in its arithmetic, until what started it is gone: watch.py SCRIPT [ARGUMENT ...]

A Snakemake that is killed (SIGKILL, out of memory) cannot end its jobs, nor can a job's shell. They would go on beside
those of the next run. The environment variable HEURISTIC_CORE_STARTERS names these processes; without it nothing is
watched. This file imports little, since it starts once per job.
"""

import os
import select
import sys
import threading
import time

SECONDS_BETWEEN_LOOKS = 0.5


def end_with_starters() -> None:
    """End this process, at once and wherever it is, when one of its starters ends."""
    if starters := os.environ.get("HEURISTIC_CORE_STARTERS"):
        threading.Thread(target=_end_after, args=([int(pid) for pid in starters.split()],), daemon=True).start()


def _end_after(starters: list[int]) -> None:
    wait_for_end(starters)
    os._exit(1)


def wait_for_end(processes: list[int]) -> None:
    """Return when one of `processes` is no more."""
    try:
        handles = [os.pidfd_open(pid) for pid in processes]
    except ProcessLookupError:
        return
    except (AttributeError, OSError):  # not Linux, or one that does not let us: look again and again
        while all(map(_is_there, processes)):
            time.sleep(SECONDS_BETWEEN_LOOKS)
        return
    ended = select.poll()
    for handle in handles:
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

    from heuristic_core.common.arithmetic import asked
    from heuristic_core.jobs.environment import prepare_job

    end_with_starters()
    del sys.argv[0]
    prepare_job(asked(sys.argv))  # before the script imports what computes
    sys.path[0] = os.path.dirname(sys.argv[0])
    runpy.run_path(sys.argv[0], run_name="__main__")
