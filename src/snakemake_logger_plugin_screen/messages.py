"""What a run prints besides its progress: messages, failures, and the files of finished figures."""

import logging
from collections.abc import Iterator

from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_screen.run import Job

FAILURES = (LogEvent.JOB_ERROR, LogEvent.GROUP_ERROR)


def list_messages(record: logging.LogRecord, text: str, finished: Job | None) -> Iterator[str]:
    """Yield the lines to print for a record of Snakemake's logger.

    Args:
        record: The record.
        text: Snakemake's own text for it.
        finished: The job that it says has finished, if any.
    """
    if line := message(record, text):
        yield line
    if finished and (line := finished.describe_figure()):
        yield line


def message(record: logging.LogRecord, text: str) -> str | None:
    """Return the text to print, or None for what the progress shows.

    A failure is one line, as Snakemake prints its details at the end.
    """
    event = getattr(record, "event", None)
    if event == LogEvent.JOB_ERROR:
        return format_failure(vars(record))
    if event == LogEvent.GROUP_ERROR:
        return "\n".join(format_failure(job) for job in record.job_error_info)
    if getattr(record, "exception", None) == "RuleException":  # the whole command of a failed job
        return None
    printed = record.levelno >= logging.WARNING or (event is None and not text.startswith("Select jobs"))
    return text if printed and text not in ("", "None") else None


def format_failure(job: dict) -> str:
    """Return one line about a failed job."""
    return f"{job['rule_name']} failed: {', '.join(job['log']) or 'no log'}"
