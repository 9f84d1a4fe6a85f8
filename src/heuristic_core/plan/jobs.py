"""The jobs of a run, as Snakemake's dry run lists them."""

import json
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from heuristic_core.common.errors import InputError
from heuristic_core.config.reading import read_merged_configs


class PlannedJob(NamedTuple):
    """A job that a run would start. inputs, outputs: paths. command: for the shell. reason: in Snakemake's words."""

    rule: str
    inputs: list[str]
    outputs: list[str]
    command: str
    reason: str

    @property
    def argv(self) -> list[str]:
        """The words of its command, `fork SCRIPT --OPTION ...`."""
        return shlex.split(self.command.replace("\\\n", ""))


def count_jobs(snakefile: Path, configfiles: Sequence[str], everything: bool) -> Counter:
    """Jobs by rule that a run would start in the working directory. Rules for single blocks of seeds count as `prune`.

    everything: also those whose results exist.
    """
    return Counter(base_rule(job.rule) for job in dry_run(snakefile, configfiles, *["--forceall"] * everything))


def dry_run(snakefile: Path, configfiles: Sequence[str], *options: str) -> list[PlannedJob]:
    """The jobs that make something in Snakemake's dry run, as the plugin `snakemake_logger_plugin_jobs` reports them.

    Raises InputError with Snakemake's own words where it refuses, and ConfigError where a file cannot be read.
    """
    read_merged_configs(configfiles)  # of a missing one Snakemake shows a traceback
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(snakefile), "--configfile", *configfiles]
    command += ["--dry-run", "--cores", "1", "--nolock", "--logger", "jobs", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise InputError(
            f"the dry run of {' '.join(configfiles)} failed:\n{(done.stdout + done.stderr).strip()[-2000:]}"
        )
    listed = [PlannedJob(**json.loads(line)) for line in done.stdout.splitlines()]
    return [job for job in listed if job.outputs]


def base_rule(rule: str) -> str:
    """The rule's name; rules for single blocks of pruning runs are all called `prune`, or `prune_closed`."""
    return re.sub(r"(prune(_closed)?)(_\d+)+$", r"\1", rule)


def select_study(prefix: str, prefixes: Collection[str], counts: Counter) -> Counter:
    """Select the jobs of one study from those of a file of studies.

    Args:
        prefix: What the names of the study's rules begin with.
        prefixes: Those of all studies. A rule without any, such as of a table of all studies, is none of a study's.
        counts: Jobs by rule.

    Returns:
        Jobs by rule, without the prefix.
    """

    def owner(rule: str) -> str | None:
        return max((known for known in prefixes if rule.startswith(known)), key=len, default=None)

    return Counter({rule.removeprefix(prefix): count for rule, count in counts.items() if owner(rule) == prefix})
