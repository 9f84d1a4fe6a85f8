# How rules start scripts: the command line of a job, its settings and its code. COMPUTES: the arithmetic of jobs.
import glob
import hashlib
import os
import shlex
import sys
from inspect import signature

from heuristic_core.jobs.command import block, command
from heuristic_core.jobs.wildcards import linked, literal
from heuristic_core.provenance.digests import commit
from heuristic_core.provenance.record import COMMIT
from heuristic_core.provenance.remembered import remembered

LOCK = f"{workflow.basedir}/envs/requirements.txt"
ARITHMETIC = f"{workflow.basedir}/src/heuristic_core/common/arithmetic.py"
DIGESTS = remembered(os.path.abspath(".snakemake/heuristic-core/digests"), LOCK, write=workflow.is_main_process)
SCRIPTS = sorted(glob.glob(f"{workflow.basedir}/workflow/scripts/*.py"))

# What records say of the code.
CODE = commit(workflow.basedir)
os.environ[COMMIT] = f"{CODE.sha or ''}{'+' * bool(CODE.dirty)}"

# In shell commands, `step NAME ...` runs a script, and `fork NAME ...` runs it in a fork of a process with its imports
# done, for jobs that would import for as long as they work (on other machines there is no such process: the same as `step`).
# The rest of the command follows from the names of inputs, outputs and settings: see `job`.
STEP = "step {params.command} --log {log}"
FORK = "fork {params.command} --log {log}"
SERVER = ""
if not workflow.remote_exec and os.environ.get("HEURISTIC_CORE_FORK_SERVER", "1") == "1":
    version = DIGESTS.digest(*SCRIPTS)
    here = hashlib.sha256(f"{sys.executable} {sys.version} {workflow.basedir}".encode()).hexdigest()[:8]
    SERVER = f"{version}-{here}"
# A job ends with the processes that started it, this one and its shell.
START = (
    f"export HEURISTIC_CORE_STARTERS='{os.getpid()} '$$; PYTHON={shlex.quote(sys.executable)} FORK={SERVER} "
    f'WORKFLOW={shlex.quote(workflow.basedir)}/workflow; source "$WORKFLOW/jobs.sh"; '
)
shell.prefix(START.replace("{", "{{").replace("}", "}}"))  # Snakemake formats it


def plain(*paths):
    """Inputs outside the study's results: in their folders, and in the checkout's, there may be braces."""
    return linked(paths, ".snakemake/heuristic-core/links")


def job(script, *more, recorded=True, **settings):
    """Params of jobs that run `script`: their settings, arithmetic and code, and the command that is made of names.

    An input, output or setting `a_b` of the rule is the option `--a-b`; inputs and outputs without a name are none. A
    list is several words; None and an empty list are no option. A setting may be a function, as params may.
    more: files on which results depend beside the script and what it imports. recorded: whether results have records.
    """
    settings = {name: literal(value) for name, value in ({"arithmetic": COMPUTES} | settings).items()}
    code = DIGESTS.digest(f"{workflow.basedir}/workflow/scripts/{script}.py", ARITHMETIC, *more)

    # As it asks for inputs and outputs, Snakemake compares the settings between runs, and not what is made of them.
    def options(wildcards, input, output, threads):
        given = {"input": input, "output": output, "threads": threads}
        values = {name: called(value, wildcards, given) for name, value in settings.items()}
        return command(script, dict(input.items()), dict(output.items()), values | ({"code": code} if recorded else {}))

    return settings | {"code": code, "command": options}


def called(value, wildcards, given):
    """The value of a param; where it is a function, what it gives for as much of `given` as it asks for."""
    if not callable(value):
        return value
    return value(wildcards, **{name: given[name] for name in signature(value).parameters if name in given})
