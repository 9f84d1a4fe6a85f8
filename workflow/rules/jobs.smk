# How rules start scripts: command line, settings and code digest of a job. JOB_ARITHMETIC must be set before.
import glob
import hashlib
import os
import shlex
import sys
from inspect import signature

from heuristic_core.jobs.command import format_block, format_command
from heuristic_core.jobs.wildcards import link_paths, escape_setting
from heuristic_core.provenance.digests import read_commit
from heuristic_core.provenance.record import COMMIT_VARIABLE
from heuristic_core.provenance.digest_cache import open_digest_cache

LOCK = f"{workflow.basedir}/envs/requirements.txt"
ARITHMETIC_MODULE = f"{workflow.basedir}/src/heuristic_core/common/arithmetic.py"
DIGESTS = open_digest_cache(os.path.abspath(".snakemake/heuristic-core/digests"), LOCK, write=workflow.is_main_process)
SCRIPTS = sorted(glob.glob(f"{workflow.basedir}/workflow/scripts/*.py"))

# Commit of the code, for the records of results.
CODE_COMMIT = read_commit(workflow.basedir)
os.environ[COMMIT_VARIABLE] = f"{CODE_COMMIT.sha or ''}{'+' * bool(CODE_COMMIT.dirty)}"

# Shell commands of rules. `run_fresh` runs a script in a new process; `run_forked` runs it in a fork of a process that
# has done the imports, for jobs whose imports take as long as their work. Remote jobs have no such process: there
# `run_forked` equals `run_fresh`. `job` makes the rest of the command from the names of inputs, outputs and settings.
RUN_FRESH = "run_fresh {params.command} --log {log}"
RUN_FORKED = "run_forked {params.command} --log {log}"
SERVER_KEY = ""
if not workflow.remote_exec and os.environ.get("HEURISTIC_CORE_FORK_SERVER", "1") == "1":
    version = DIGESTS.digest(*SCRIPTS)
    environment = hashlib.sha256(f"{sys.executable} {sys.version} {workflow.basedir}".encode()).hexdigest()[:8]
    SERVER_KEY = f"{version}-{environment}"
# A job ends when this process or its shell, which started it, ends.
SHELL_PREFIX = (
    f"export HEURISTIC_CORE_STARTERS='{os.getpid()} '$$; PYTHON={shlex.quote(sys.executable)} FORK_SERVER={SERVER_KEY} "
    f'WORKFLOW={shlex.quote(workflow.basedir)}/workflow; source "$WORKFLOW/jobs.sh"; '
)
shell.prefix(SHELL_PREFIX.replace("{", "{{").replace("}", "}}"))  # escaped, as Snakemake formats it


def link_inputs(*paths):
    """Return links to inputs outside the study's results, whose folders may contain braces."""
    return link_paths(paths, ".snakemake/heuristic-core/links")


def job(script, *code_files, has_record=True, **settings):
    """Return the params of jobs that run `script` (settings, arithmetic, code digest and command).

    Input, output or setting `a_b` of the rule becomes option `--a-b`; unnamed inputs and outputs are left out. A list
    becomes several arguments; None and an empty list are left out. A setting may be a function, like any param.

    Args:
        script: Name of the script, without `.py`.
        *code_files: Files on which results depend besides the script and its imports.
        has_record: Whether results have records.
        **settings: Values of options.
    """
    settings = {name: escape_setting(value) for name, value in ({"arithmetic": JOB_ARITHMETIC} | settings).items()}
    code = DIGESTS.digest(f"{workflow.basedir}/workflow/scripts/{script}.py", ARITHMETIC_MODULE, *code_files)

    # Snakemake does not compare functions of inputs and outputs between runs: it compares the settings instead.
    def build_command(wildcards, input, output, threads):
        available = {"input": input, "output": output, "threads": threads}
        values = {name: resolve_param(value, wildcards, available) for name, value in settings.items()}
        return format_command(
            script, dict(input.items()), dict(output.items()), values | ({"code": code} if has_record else {})
        )

    return settings | {"code": code, "command": build_command}


def resolve_param(value, wildcards, available):
    """Return the value of a param; call it if it is a function, with the `available` arguments that it accepts."""
    if not callable(value):
        return value
    return value(wildcards, **{name: available[name] for name in signature(value).parameters if name in available})
