"""The reduced study: its configuration, and Snakemake's command line on it."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from heuristic_core.config import load_study
from heuristic_core.config.context import Context
from heuristic_core.figures.targets import TARGETS, unmet

ROOT = Path(__file__).parent.parent
REDUCED = ROOT / "tests" / "studies" / "reduced.yaml"
STUDY = load_study(REDUCED)
RUNS = "results/reduced/mini-bert/pairs"
OWN = [name for name in TARGETS if unmet(name, Context.of(STUDY)) is None]


def snakemake(folder: Path, *arguments: str, config: Path = REDUCED, check: bool = True, **options):
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--directory", str(folder)]
    command += ["--configfile", str(config), "--cores", "2", "--scheduler", "greedy", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if check:
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    return done


def planned(folder: Path, config: Path) -> dict[str, int]:
    """Jobs by rule that a dry run lists, but for the target itself."""
    text = snakemake(folder, "--dry-run", config=config)
    table = re.findall(r"^(\w+) +(\d+)$", text.stdout + text.stderr, re.MULTILINE)
    jobs = Counter()
    for rule, count in dict(table).items():  # the table is printed twice
        jobs[re.sub(r"^prune(_\d+)+$", "prune", rule)] += int(count)  # one rule for every block of seeds
    return {rule: count for rule, count in jobs.items() if rule not in ("total", "all_figures")}
