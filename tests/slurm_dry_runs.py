"""Dry runs with the profile for SLURM, what their jobs ask for, and a copy of the profile for a site."""

import re
from pathlib import Path

import yaml
from conftest import ROOT
from reduced import snakemake

PROFILE = ("--profile", str(ROOT / "slurm"))


def site_profile(folder: Path, **changes) -> tuple[str, str]:
    """Options of a copy of the profile in `folder` with `changes`, within mappings key by key."""
    values = yaml.safe_load((ROOT / "slurm" / "profile.yaml").read_text())
    for key, value in changes.items():
        values[key] = {**values.get(key, {}), **value} if isinstance(value, dict) else value
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "profile.yaml").write_text(yaml.safe_dump(values, sort_keys=False))
    return "--profile", str(folder)


def parse_resources(text: str) -> dict[str, dict[str, str]]:
    """The resources of the last job of every rule that a dry run prints."""
    rule, result = None, {}
    for line in text.splitlines():
        if match := re.match(r"\s*(?:local)?(?:rule|checkpoint) (\w+):$", line):
            rule = match[1]
        elif match := re.match(r"\s*resources: (.*)$", line):
            result[rule] = dict(item.split("=", 1) for item in match[1].split(", "))
    return result


def dry_run(folder: Path, *arguments: str, profile: tuple[str, str] = PROFILE, **options):
    done = snakemake(folder, *profile, "--dry-run", *arguments, **options)
    return parse_resources(done.stdout + done.stderr)
