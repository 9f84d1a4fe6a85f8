"""Time and memory of Snakemake's dry run against the number of jobs of a study.

    python benchmarks/dag.py --jobs 300 1000 4000 10000

The study is the default one without the block `mechanism`, its grid grown by pruning seeds, a job for each, in
a folder without results. One line of JSON each: jobs, seconds of the processor, and the peak of resident memory, GB.
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
        few, more = (dry_run(grown(settings, seeds), Path(folder))["jobs"] for seeds in (0, 10))
        for jobs in args.jobs:
            seeds = max(0, round((jobs - few) / (more - few) * 10))
            print(json.dumps(dry_run(grown(settings, seeds), Path(folder))), flush=True)


def grown(settings: dict, seeds: int) -> dict:
    """The study with so many pruning seeds beside those of the accuracy curves, each in a job of its own."""
    grid = settings["grid"] | {"seeds": [*settings["grid"]["curve_seeds"], *range(1000, 1000 + seeds)]}
    grown = settings | {"grid": grid, "prune": settings["prune"] | {"together": 1}}
    return {name: value for name, value in grown.items() if name != "mechanism"}


def dry_run(settings: dict, folder: Path) -> dict:
    """What Snakemake's dry run of a study takes."""
    (folder / "study.yaml").write_text(yaml.safe_dump(settings))
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--dry-run", "--nolock"]
    command += ["--quiet", "rules", "--directory", str(folder), "--configfile", str(folder / "study.yaml")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status or not (found := re.search(r"^total\s+(\d+)$", said, re.MULTILINE)):
        sys.exit(said)
    seconds = round(usage.ru_utime + usage.ru_stime, 1)
    return {"jobs": int(found[1]), "seconds": seconds, "GB": round(usage.ru_maxrss / 1e6, 2)}


if __name__ == "__main__":
    main()
