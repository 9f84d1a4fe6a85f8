"""What portable arithmetic costs: one job of each kind of a finished study, computed in both arithmetics in turn.

    python benchmarks/arithmetic.py --config config.yaml

Run it in the folder in which the study was run. Every job is computed again in a scratch folder, as the audit does it.
Prints for each kind the CPU seconds of both, without what starting the process costs, and the median of their ratios.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

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
    args = parser.parse_args()
    jobs = list_recorded_jobs(ROOT / "Snakefile", [args.config])
    for kind in args.kinds:
        job = next(job for job in jobs if job.script == kind)
        print(json.dumps({"job": job.name} | measure(job, args.repeats)), flush=True)


def measure(job: Job, repeats: int) -> dict:
    """Median CPU seconds of the job in each arithmetic, and the median ratio of turns that followed each other."""
    seconds: dict[str, list[float]] = {PORTABLE: [], NATIVE: []}
    for _ in range(repeats):
        for arithmetic, found in seconds.items():
            start = used(partial(subprocess.run, command(job, "--help"), capture_output=True, check=True))
            found.append(used(partial(recompute, in_arithmetic(job, arithmetic), SCRIPTS)) - start)
    ratios = [portable / native for portable, native in zip(*seconds.values(), strict=True)]
    medians = {name: round(statistics.median(found), 2) for name, found in seconds.items()}
    return medians | {"ratio": round(statistics.median(ratios), 2)}


def in_arithmetic(job: Job, arithmetic: str) -> Job:
    """The same job, asked to compute in `arithmetic`."""
    arguments = list(job.arguments)
    arguments[arguments.index(ARITHMETIC_OPTION) + 1] = arithmetic
    return replace(job, arguments=tuple(arguments))


def command(job: Job, *arguments: str) -> list[str]:
    return [sys.executable, str(SCRIPTS / f"{job.script}.py"), *arguments]


def used(run: Callable) -> float:
    """CPU seconds of the processes that `run` starts and waits for."""
    before = children()
    run()
    return children() - before


def children() -> float:
    """CPU seconds of all processes that this one has waited for."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


if __name__ == "__main__":
    main()
