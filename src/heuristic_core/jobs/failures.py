"""Summary of failed jobs at the end of a run: their messages and logs, and what to do."""

import logging
import re
import textwrap
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from snakemake_interface_logger_plugins.common import LogEvent

from heuristic_core.common.errors import format_count
from heuristic_core.common.progress import CLOCK_TOLERANCE, TIMESTAMP_PATTERN

_FAILURE_PATTERN = re.compile(rf"{TIMESTAMP_PATTERN}failed: (.*?)(?={TIMESTAMP_PATTERN}|\Z)", re.MULTILINE | re.DOTALL)
_TRACEBACK_HEADER = "Traceback (most recent call last):"
NO_MESSAGE = "no message in the log; see Snakemake's message above"
INTERNAL_ERROR = "Internal error: see the log. Please report it with the log."
ADVICE = "Finished results are kept. Fix the error, then run the same command again."


class FailureHandler(logging.Handler):
    """A handler of Snakemake's logger that collects failed jobs."""

    def __init__(self):
        super().__init__(logging.INFO)
        self._start_time = time.time()
        self._logs: dict[int, tuple[str, list[str]]] = {}  # job -> its rule, its logs

    def emit(self, record: logging.LogRecord) -> None:
        """Add failed jobs, and remove those that succeed when tried again."""
        event, fields = getattr(record, "event", None), vars(record)
        if event == LogEvent.JOB_ERROR:
            self._add(fields)
        elif event == LogEvent.GROUP_ERROR:  # add only jobs that report an error; others succeeded or were killed
            jobs = record.job_error_info
            failed_jobs = [job for job in jobs if any(_FAILURE_PATTERN.search(_read_log(log)) for log in job["log"])]
            for job in failed_jobs or jobs:
                self._add(job)
        elif event == LogEvent.JOB_FINISHED:
            self._logs.pop(record.job_id, None)

    def _add(self, job: Mapping) -> None:
        """Add a failed job, given by the fields of Snakemake's log record."""
        self._logs[job["jobid"]] = job["rule_name"], list(job["log"])

    def _is_new(self, log: str) -> bool:
        """Return whether this run wrote a log. A job that fails before it begins leaves the log of an earlier run."""
        try:
            return Path(log).stat().st_mtime >= self._start_time - CLOCK_TOLERANCE
        except OSError:
            return False

    def format_summary(self, done: int, total: int) -> str | None:
        """Return the summary, in which jobs with the same message share it; None if no job failed.

        Args:
            done: Number of finished jobs, which Snakemake does not print with `--quiet`.
            total: Number of jobs of the run.
        """
        if not self._logs:
            return None
        jobs_by_message: dict[str, list[str]] = {}
        for rule, logs in self._logs.values():
            job = f"{rule}: {', '.join(logs)}" if logs else rule
            jobs_by_message.setdefault(failure_message(filter(self._is_new, logs)), []).append(job)
        count = len(self._logs)
        parts = [f"{format_count(count, 'job')} failed; {done:,} of {format_count(total, 'job')} finished."]
        parts += ["\n".join([*jobs, textwrap.indent(text, "    ")]) for text, jobs in jobs_by_message.items()]
        return "\n" + "\n\n".join([*parts, ADVICE])


def failure_message(logs: Iterable[str]) -> str:
    """Return why a job failed, from its logs; for an internal error, the last line of the traceback.

    Args:
        logs: Paths of the job's logs.
    """
    for text in map(_read_log, logs):
        if failures := _FAILURE_PATTERN.findall(text):
            error, _, trace = failures[-1].partition(_TRACEBACK_HEADER)
            return f"{trace.strip().splitlines()[-1]}\n{INTERNAL_ERROR}" if trace else error.strip()
        if text.strip() and not re.search(
            TIMESTAMP_PATTERN, text, re.MULTILINE
        ):  # a rule that runs no script of this project
            return text.strip()
    return NO_MESSAGE


def _read_log(log: str) -> str:
    """Return the text of a log; empty if it cannot be read."""
    try:
        return Path(log).read_text(errors="replace")
    except OSError:
        return ""
