# What happens where a run begins and ends, and what a dry run is spared.
import atexit
import shutil
import signal
import sys
import threading

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from heuristic_core.jobs.failures import Failures
from heuristic_core.jobs.working_folder import begin_run, warn_of_other_run

FAILURES = Failures()
if workflow.output_settings.dryrun:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `snakemake -n | head` ends in peace, as other commands do

# Snakemake knows that its folder is locked, and not whether the run that locked it goes on.
if workflow.is_main_process and not workflow.output_settings.dryrun and "--unlock" not in sys.argv:
    warn_of_other_run(logger.warning)

# Groups mean something on a cluster alone. Snakemake leaves them out of a run on this machine, but not of its dry run, where
# it searches them for cycles for longer than for the jobs. A cluster's profile says what jobs ask for by default.
if workflow.output_settings.dryrun and not workflow.resource_settings.default_resources:
    for one in workflow.rules:
        one.group = None


def ended():
    """Say what a person should know of the results, and let Snakemake end: it would wait for the timer that each job started
    (`max-jobs-per-timespan` of profiles/default), for ten seconds."""
    for timer in threading.enumerate():
        if isinstance(timer, threading.Timer):
            timer.cancel()
    for experiment, root in TOLD:
        try:
            found = experiment.warnings(root)
        except Exception as error:  # the results are there all the same
            found = [f"{root}: the warnings of this study could not be listed: {error!r}"]
        list(map(logger.warning, found))


onsuccess:
    ended()


onerror:
    ended()
    if told := FAILURES.told(workflow.scheduler.finished_jobs if workflow.scheduler else 0, len(workflow.dag)):
        atexit.register(print, told, file=sys.stderr)  # Snakemake has more to say, and a person reads what is last


onstart:
    logger.addHandler(FAILURES)
    begin_run()
    for check in STARTING:
        check()
    if workflow.executor_plugin.name == "slurm" and shutil.which("sbatch") is None:
        raise WorkflowError(
            "There is no sbatch on this machine, so jobs cannot be submitted from it. Run this where SLURM is installed, "
            "or leave out --profile slurm to run here; a dry run (-n) works anywhere."
        )
