"""Dry runs with the profile for SLURM, what their jobs ask for, and a user's own profile."""

import os
import re
from pathlib import Path

import yaml
from conftest import ROOT
from reduced import snakemake

PROFILE = ("--profile", str(ROOT / "slurm"))


def own_profile(folder: Path, **values) -> dict[str, str]:
    """The environment of a user who has such a profile of the name slurm."""
    file = folder / "snakemake" / "slurm" / "profile.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump(values))
    return os.environ | {"XDG_CONFIG_HOME": str(folder)}


def asked(text: str) -> dict[str, dict[str, str]]:
    """The resources of the last job of every rule that a dry run prints."""
    rule, found = None, {}
    for line in text.splitlines():
        if match := re.match(r"\s*(?:local)?(?:rule|checkpoint) (\w+):$", line):
            rule = match[1]
        elif match := re.match(r"\s*resources: (.*)$", line):
            found[rule] = dict(item.split("=", 1) for item in match[1].split(", "))
    return found


def dry(folder: Path, *arguments: str, **options):
    done = snakemake(folder, *PROFILE, "--dry-run", *arguments, **options)
    return asked(done.stdout + done.stderr)
