"""Measure time and memory of Snakemake's dry run by the number of jobs of a study.

    python benchmarks/dag.py --jobs 300 1000 4000 10000

The study is the default one without the block `mechanism` and with further pruning seeds, in a folder without
results. Prints a line of JSON for each number of jobs: jobs, CPU seconds, and peak resident memory in GB.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, nargs="+", default=[300, 1000, 4000, 10_000])
    parser.add_argument("--config", type=Path, default=ROOT / "config.yaml")
    args = parser.parse_args()
    settings = yaml.safe_load(args.config.read_text())
    with tempfile.TemporaryDirectory() as folder:
        smallest, larger = (dry_run(add_seeds(settings, seeds), Path(folder))["jobs"] for seeds in (0, 10))
        for jobs in args.jobs:
            seeds = max(0, round((jobs - smallest) / (larger - smallest) * 10))
            print(json.dumps(dry_run(add_seeds(settings, seeds), Path(folder))), flush=True)


def add_seeds(settings: dict, seeds: int) -> dict:
    """Return the study with `seeds` further pruning seeds besides those of the accuracy curves, one job per run."""
    grid = settings["grid"] | {"seeds": [*settings["grid"]["curve_seeds"], *range(1000, 1000 + seeds)]}
    add_seeds = settings | {"grid": grid, "prune": settings["prune"] | {"together": 1}}
    return {name: value for name, value in add_seeds.items() if name != "mechanism"}


def dry_run(settings: dict, folder: Path) -> dict:
    """Measure Snakemake's dry run of a study."""
    (folder / "study.yaml").write_text(yaml.safe_dump(settings))
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--dry-run", "--nolock"]
    command += ["--quiet", "rules", "--directory", str(folder), "--configfile", str(folder / "study.yaml")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status or not (total := re.search(r"^total\s+(\d+)$", output, re.MULTILINE)):
        sys.exit(output)
    seconds = round(usage.ru_utime + usage.ru_stime, 1)
    return {"jobs": int(total[1]), "seconds": seconds, "GB": round(usage.ru_maxrss / 1e6, 2)}


if __name__ == "__main__":
    main()
