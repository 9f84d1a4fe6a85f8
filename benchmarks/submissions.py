"""How many jobs a study has and how many submissions to SLURM they travel in, from a dry run with the profile.

Nothing is submitted.
"""

import argparse
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCAL = ("all_figures", "fetch")  # rules that run where Snakemake does


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("configfiles", nargs="*", default=["config.yaml"], help="as Snakemake's --configfile")
    parser.add_argument("--directory", default=".", help="where results are; default: here")
    args = parser.parse_args()
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(ROOT / "Snakefile"), "--dry-run", "--nolock"]
    command += ["--profile", str(ROOT / "slurm"), "--directory", args.directory, "--configfile", *args.configfiles]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    jobs, submissions = counted(done.stdout + done.stderr)
    for name, count in sorted(submissions.items()):
        print(f"{name:36} {jobs[name]:7,} jobs {count:7,} submissions")
    print(f"{'total':36} {jobs.total():7,} jobs {submissions.total():7,} submissions")


def counted(text: str) -> tuple[Counter, Counter]:
    """Jobs, and submissions, of a dry run by group, or by rule where that has none; what runs here is left out."""
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
