"""Measure the cost of portable arithmetic: compute one job of each kind of a finished study in both arithmetics.

    python benchmarks/arithmetic.py --config config.yaml

Run it in the folder in which the study ran. Every job is recomputed in a temporary folder, as in the audit. Prints for
each kind the CPU seconds in both arithmetics, without the start of the process, turn by turn, and the median of their
ratios.
"""

import argparse
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from timing import print_report

from heuristic_core.common.arithmetic import ARITHMETIC_OPTION, NATIVE, PORTABLE
from heuristic_core.provenance.audit.recompute import recompute
from heuristic_core.provenance.job import Job, list_recorded_jobs

ROOT = Path(__file__).parent.parent
SCRIPTS = ROOT / "workflow" / "scripts"
KINDS = ("finetune", "prune", "full_model", "evaluate", "ablate", "evaluate_controls", "attention", "initial_attention")
KINDS += ("gather", "ablations", "claims", "figure")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", required=True, help="the study's configuration")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="scripts; default: all")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, help="JSON file to write")
    args = parser.parse_args()
    recorded = list_recorded_jobs(ROOT / "Snakefile", [args.config])
    jobs = [next(job for job in recorded if job.script == kind) for kind in args.kinds]
    print_report(({"job": job.name} | measure(job, args.repeats) for job in jobs), args.out)


def measure(job: Job, repeats: int) -> dict:
    """Return the job's median CPU seconds in each arithmetic, and the median ratio of consecutive turns."""
    seconds: dict[str, list[float]] = {PORTABLE: [], NATIVE: []}
    for turn in range(repeats):
        for arithmetic, values in seconds.items():
            start = time_children(partial(subprocess.run, make_command(job, "--help"), capture_output=True, check=True))
            values.append(time_children(partial(recompute, set_arithmetic(job, arithmetic), SCRIPTS)) - start)
            print(f"turn {turn + 1} of {repeats}: {job.name}, {arithmetic} {values[-1]:.4g} s", flush=True)
    ratios = [portable / native for portable, native in zip(*seconds.values(), strict=True)]
    medians = {name: round(statistics.median(values), 2) for name, values in seconds.items()}
    return medians | {"ratio": round(statistics.median(ratios), 2)}


def set_arithmetic(job: Job, arithmetic: str) -> Job:
    """Return the job with its option for arithmetic set to `arithmetic`."""
    arguments = list(job.arguments)
    arguments[arguments.index(ARITHMETIC_OPTION) + 1] = arithmetic
    return replace(job, arguments=tuple(arguments))


def make_command(job: Job, *arguments: str) -> list[str]:
    return [sys.executable, str(SCRIPTS / f"{job.script}.py"), *arguments]


def time_children(run: Callable) -> float:
    """Return the CPU seconds of the processes that `run` starts and waits for."""
    before = read_children_time()
    run()
    return read_children_time() - before


def read_children_time() -> float:
    """Return the CPU seconds of all finished child processes."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
