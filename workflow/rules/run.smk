# Start and end of a run.
import atexit
import shutil
import signal
import sys
import threading

from snakemake.exceptions import WorkflowError
from snakemake.logging import logger

from heuristic_core.jobs.failures import FailureHandler
from heuristic_core.jobs.working_folder import begin_run, warn_of_other_run

FAILURES = FailureHandler()
if workflow.output_settings.dryrun:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `snakemake -n | head` ends silently, like other commands

# Snakemake knows that its folder is locked, but not whether the run that locked it is still active.
if workflow.is_main_process and not workflow.output_settings.dryrun:
    warn_of_other_run(logger.warning)

# Groups matter only on a cluster. Snakemake ignores them in a local run but not in its dry run, where searching them
# for cycles takes longer than planning the jobs. Only a cluster's profile sets default resources.
if workflow.output_settings.dryrun and not workflow.resource_settings.default_resources:
    for definition in workflow.rules:
        definition.group = None


def print_warnings():
    """Print warnings about the results, and cancel timers.

    Each job starts a timer (`max-jobs-per-timespan` of profiles/default), for which Snakemake would wait ten seconds.
    """
    for timer in threading.enumerate():
        if isinstance(timer, threading.Timer):
            timer.cancel()
    for experiment, root in WARNING_SOURCES:
        try:
            warnings = experiment.list_warnings(root)
        except Exception as error:  # the results are complete all the same
            warnings = [f"{root}: the warnings of this study could not be listed: {error!r}"]
        for warning in warnings:
            logger.warning(warning)


def print_reports():
    """Print where the reports that this run made or checked are, after Snakemake's own messages."""
    outputs = {output for job in workflow.dag.jobs for output in job.output}
    for report in (f"{root}/report.html" for _, root in WARNING_SOURCES):
        if report in outputs:
            atexit.register(print, f"Report: {report}", file=sys.stderr)


onsuccess:
    print_warnings()
    print_reports()


onerror:
    print_warnings()
    if summary := FAILURES.format_summary(
        workflow.scheduler.finished_jobs if workflow.scheduler else 0, len(workflow.dag)
    ):
        atexit.register(print, summary, file=sys.stderr)  # after Snakemake's own messages: the last lines are read


onstart:
    logger.addHandler(FAILURES)
    begin_run()
    for check in ONSTART_CHECKS:
        check()
    if workflow.executor_plugin.name == "slurm" and shutil.which("sbatch") is None:
        raise WorkflowError(
            "sbatch not found: jobs cannot be submitted from this machine. Run this where SLURM is installed, "
            "or omit --profile slurm to run here. A dry run (-n) works anywhere."
        )
