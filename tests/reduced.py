"""The reduced study: its configuration, and Snakemake's command line on it."""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import forked

from heuristic_core.experiments.subnetworks.config import load_study
from heuristic_core.experiments.subnetworks.figures.targets import TARGETS, missing_study_requirement
from heuristic_core.plan.jobs import base_rule

ROOT = Path(__file__).parent.parent
REDUCED = ROOT / "tests" / "studies" / "reduced.yaml"
STUDY = load_study(REDUCED)
RUNS = "results/reduced/mini-bert/pairs"
OWN = [name for name in TARGETS if missing_study_requirement(name, STUDY) is None]


def snakemake(
    folder: Path,
    *arguments: str,
    config: Path | list[Path] = REDUCED,
    checkout: Path = ROOT,
    check: bool = True,
    fork: bool | None = None,
    **options,
):
    """Run Snakemake in `folder`. config: one file, or several, the later override. checkout: whose code is used.

    fork: in a fork of a process with its imports done; always, but where `options` ask for more than an environment.
    """
    files = config if isinstance(config, list) else [config]
    command = ["--snakefile", str(checkout / "Snakefile"), "--directory", str(folder)]
    command += ["--configfile", *map(str, files), "--cores", "2", "--scheduler", "greedy", *map(str, arguments)]
    other = checkout != ROOT
    if options.keys() <= {"env"} if fork is None else fork:
        environment = options.get("env", os.environ) | ({"PYTHONPATH": str(checkout / "src")} if other else {})
        done = forked.run(command, checkout if other else Path.cwd(), environment, current=not other)
    else:
        if other:
            options = {"cwd": checkout, "env": os.environ | {"PYTHONPATH": str(checkout / "src")}} | options
        done = subprocess.run([sys.executable, "-m", "snakemake", *command], capture_output=True, text=True, **options)
    if check:
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
    return done


def parse_job_counts(text: str) -> Counter:
    """Jobs by rule in the table that a dry run prints, without its total and targets."""
    result = Counter()
    for rule, count in dict(re.findall(r"^(\w+) +(\d+)$", text, re.MULTILINE)).items():  # it can be printed twice
        result[base_rule(rule)] += int(count)
    return Counter(
        {rule: count for rule, count in result.items() if not re.search(r"(^|_)(total|all|all_figures)$", rule)}
    )


def planned(folder: Path, config: Path | list[Path] = REDUCED, checkout: Path = ROOT) -> dict[str, int]:
    """Jobs by rule that a dry run lists, but for the target itself, and the table of records that follows any other."""
    done = snakemake(folder, "--dry-run", "--quiet", "rules", config=config, checkout=checkout)
    jobs = dict(parse_job_counts(done.stdout + done.stderr))
    return {rule: count for rule, count in jobs.items() if not rule.endswith("provenance") or len(jobs) == 1}


def results(folder: Path) -> dict[str, bytes]:
    """Every file of the reduced study's results in `folder` that tells no times, by its path below them."""
    root = folder / "results" / "reduced"
    names = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return {
        str(name): (root / name).read_bytes()
        for name in names
        if name.parts[0] not in ("logs", "provenance")
        and name.name not in ("report.html", "provenance.parquet")
        and not name.name.startswith(".snakemake")
    }


# What makes a checkout that runs the reduced study.
CODE = ("Snakefile", "CITATION.cff", "config.yaml", "workflow", "src", "envs", "profiles", "tests/studies")


def clone(folder: Path, copy=shutil.copy2) -> Path:
    """The code of this checkout in another folder, every file of it by `copy`."""
    for name in CODE:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, copy_function=copy, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            copy(ROOT / name, target)
    return folder
