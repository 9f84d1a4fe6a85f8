"""The jobs of a run, as Snakemake's dry run counts them."""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path

from heuristic_core.common.errors import InputError


def jobs(snakefile: Path, configfiles: Sequence[str], everything: bool) -> Counter:
    """Jobs by rule that a run would start in the working directory. Rules for single blocks of seeds count as `prune`.

    everything: also those whose results exist.
    """
    return counted(dry_run(snakefile, configfiles, "--quiet", "rules", *["--forceall"] * everything))


def dry_run(snakefile: Path, configfiles: Sequence[str], *options: str) -> str:
    """What Snakemake's dry run prints. Raises InputError with Snakemake's own words where it refuses."""
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(snakefile), "--configfile", *configfiles]
    command += ["--dry-run", "--cores", "1", "--nolock", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise InputError(
            f"the dry run of {' '.join(configfiles)} failed:\n{(done.stdout + done.stderr).strip()[-2000:]}"
        )
    return done.stdout + done.stderr


def family(rule: str) -> str:
    """The rule's name; that of all rules for single blocks of seeds is `prune`."""
    return re.sub(r"(prune)(_\d+)+$", r"\1", rule)


def counted(text: str) -> Counter:
    """Jobs by rule in the table that a dry run prints, without its total and targets."""
    found = Counter()
    for rule, count in dict(re.findall(r"^(\w+) +(\d+)$", text, re.MULTILINE)).items():  # it can be printed twice
        found[family(rule)] += int(count)
    return Counter(
        {rule: count for rule, count in found.items() if not re.search(r"(^|_)(total|all|all_figures)$", rule)}
    )


def of_study(prefix: str, prefixes: Collection[str], found: Counter) -> Counter:
    """The jobs of the study whose rules have that prefix (of `prefixes`, those of all studies), without it."""

    def owner(rule: str) -> str:
        return max((one for one in prefixes if rule.startswith(one)), key=len)

    return Counter({rule.removeprefix(prefix): count for rule, count in found.items() if owner(rule) == prefix})
