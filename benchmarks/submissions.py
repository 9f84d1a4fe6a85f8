"""Count the jobs of a study and its submissions to SLURM, by a dry run with the profile.

Nothing is submitted.
"""

import argparse
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCAL = ("all_figures", "fetch")  # rules that run on the machine of Snakemake


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("configfiles", nargs="*", default=["config.yaml"], help="as Snakemake's --configfile")
    parser.add_argument("--directory", default=".", help="folder with the results; default: the current one")
    args = parser.parse_args()
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--dry-run", "--nolock"]
    command += ["--profile", str(ROOT / "slurm"), "--directory", args.directory, "--configfile", *args.configfiles]
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode:
        sys.exit(process.stdout + process.stderr)
    jobs, submissions = parse_counts(process.stdout + process.stderr)
    for name, count in sorted(submissions.items()):
        print(f"{name:36} {jobs[name]:7,} jobs {count:7,} submissions")
    print(f"{'total':36} {jobs.total():7,} jobs {submissions.total():7,} submissions")


def parse_counts(text: str) -> tuple[Counter, Counter]:
    """Count jobs and submissions in the output of a dry run, by group (by rule if it has none), without local rules."""
    jobs, submissions, group = Counter(), Counter(), None
    for line in text.splitlines():
        if match := re.match(r"\[.*\] Group job (\w+) ", line):
            group = re.sub(r"_(ft|step)\d+", "", match[1])
            submissions[group] += 1
        elif (match := re.match(r"( *)rule (\w+):$", line)) and not match[2].endswith(LOCAL):
            name = group if match[1] else match[2]
            jobs[name] += 1
            submissions[name] += not match[1]
    return jobs, submissions


if __name__ == "__main__":
    main()
