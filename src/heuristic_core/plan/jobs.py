"""The jobs of a run, as Snakemake's dry run lists them."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from heuristic_core.common.errors import InputError
from heuristic_core.config.reading import read_merged_configs

# What a rule file raises, as Snakemake prints it: the message alone tells what to do.
OWN_ERROR = re.compile(r"^WorkflowError in file [^\n]*:\n(.*?)\s*(?:^  File .*)?\Z", re.MULTILINE | re.DOTALL)
PLAN_VARIABLE = "HEURISTIC_CORE_PLAN"  # set in a dry run whose jobs are only counted: files of the user may be missing


class PlannedJob(NamedTuple):
    """A job that a run would start.

    Attributes:
        rule: Name of its rule.
        inputs: Paths of its inputs.
        outputs: Paths of its outputs.
        command: Shell command.
        reason: Snakemake's reason for running it.
    """

    rule: str
    inputs: list[str]
    outputs: list[str]
    command: str
    reason: str

    @property
    def argv(self) -> list[str]:
        """Words of its command, `run_forked SCRIPT --OPTION ...`; Snakemake does not log the params behind it."""
        return shlex.split(self.command.replace("\\\n", ""))


def count_jobs(snakefile: Path, configfiles: Sequence[str], everything: bool) -> Counter:
    """Count the jobs that a run would start in the working directory.

    Args:
        snakefile: Path of the Snakefile.
        configfiles: Paths of the configuration files, which are merged.
        everything: Whether to count jobs whose results exist, too.

    Returns:
        Number of jobs by base rule, see :func:`base_rule`.
    """
    jobs = dry_run(snakefile, configfiles, *["--forceall"] * everything, environment={PLAN_VARIABLE: "1"})
    return Counter(base_rule(job.rule) for job in jobs)


def dry_run(
    snakefile: Path, configfiles: Sequence[str], *options: str, environment: Mapping[str, str] | None = None
) -> list[PlannedJob]:
    """List the jobs with outputs of a dry run, as the logger plugin `jobs` reports them.

    Snakemake's total has one more: the target, such as all_figures, which has no outputs and runs nothing.

    Args:
        snakefile: Path of the Snakefile.
        configfiles: Paths of the configuration files, which are merged.
        *options: Further options of Snakemake.
        environment: Further environment variables.

    Raises:
        InputError: If Snakemake fails; the message quotes its output.
        ConfigError: If a configuration file cannot be read.
    """
    read_merged_configs(configfiles)  # Snakemake would show a traceback if a file is missing
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(snakefile), "--configfile", *configfiles]
    command += ["--dry-run", "--cores", "1", "--nolock", "--logger", "jobs", *options]
    process = subprocess.run(command, capture_output=True, text=True, env=os.environ | (environment or {}))
    if process.returncode:
        output = (process.stdout + process.stderr).strip()
        own_error = OWN_ERROR.search(output)
        raise InputError(
            own_error[1] if own_error else f"the dry run of {' '.join(configfiles)} failed:\n{output[-2000:]}"
        )
    jobs = [PlannedJob(**json.loads(line)) for line in process.stdout.splitlines()]
    return [job for job in jobs if job.outputs]


def base_rule(rule: str) -> str:
    """Return the name of a rule without its number: `prune` for `prune_0`."""
    return re.sub(r"(evaluate|prune|prune_closed)(_\d+)+$", r"\1", rule)


def select_study(prefix: str, prefixes: Collection[str], counts: Counter) -> Counter:
    """Select the jobs of one study from those of a file of studies.

    Args:
        prefix: Prefix of the study's rules.
        prefixes: Prefixes of all studies. Rules without a prefix, such as of a table of all studies, are left out.
        counts: Jobs by rule.

    Returns:
        Jobs by rule, without the prefix.
    """

    def longest_prefix(rule: str) -> str | None:
        return max(filter(rule.startswith, prefixes), key=len, default=None)

    return Counter(
        {rule.removeprefix(prefix): count for rule, count in counts.items() if longest_prefix(rule) == prefix}
    )
