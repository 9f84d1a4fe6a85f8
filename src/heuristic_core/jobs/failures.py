"""What failed in a run, told in one block: each job's own message, its log, what is kept, and what to do."""

import logging
import re
import textwrap
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from snakemake_interface_logger_plugins.common import LogEvent

from heuristic_core.common.progress import PATIENCE, TIME

FAILED = re.compile(rf"{TIME}failed: (.*?)(?={TIME}|\Z)", re.MULTILINE | re.DOTALL)
TRACE = "Traceback (most recent call last):"
SILENT = "it left no message in its log; what Snakemake says of it is above"
OURS = "Internal error: see the log. Please report it with the log."
KEPT = "Finished results are kept. Fix the error, then run the same command again."


class Failures(logging.Handler):
    """A handler of Snakemake's logger that remembers which jobs failed."""

    def __init__(self):
        super().__init__(logging.INFO)
        self._begun = time.time()
        self._logs: dict[int, tuple[str, list[str]]] = {}  # job -> its rule, its logs

    def emit(self, record: logging.LogRecord) -> None:
        """Note failed jobs, and forget those that later succeed."""
        event, fields = getattr(record, "event", None), vars(record)
        if event == LogEvent.JOB_ERROR:
            self._add(fields)
        elif event == LogEvent.GROUP_ERROR:  # of its jobs some may have done well; a job that was ended says nothing
            jobs = record.job_error_info
            for job in [job for job in jobs if any(FAILED.search(_text(log)) for log in job["log"])] or jobs:
                self._add(job)
        elif event == LogEvent.JOB_FINISHED:  # when it was tried again
            self._logs.pop(record.job_id, None)

    def _add(self, job: Mapping) -> None:
        self._logs[job["jobid"]] = job["rule_name"], list(job["log"])

    def _is_new(self, log: str) -> bool:
        """Whether this run wrote it: a job that fails before it begins leaves the log of an earlier run."""
        try:
            return Path(log).stat().st_mtime >= self._begun - PATIENCE
        except OSError:
            return False

    def told(self, done: int, total: int) -> str | None:
        """The block; None where no job failed. Jobs with the same message share it.

        done, total: jobs of the run. Snakemake's logger tells of them too, but not with `--quiet`.
        """
        if not self._logs:
            return None
        jobs_by_message: dict[str, list[str]] = {}
        for rule, logs in self._logs.values():
            job = f"{rule}: {', '.join(logs)}" if logs else rule
            jobs_by_message.setdefault(message(filter(self._is_new, logs)), []).append(job)
        count = len(self._logs)
        parts = [f"{'1 job' if count == 1 else f'{count} jobs'} failed; {done} of {total} jobs are finished."]
        parts += ["\n".join([*jobs, textwrap.indent(words, "    ")]) for words, jobs in jobs_by_message.items()]
        return "\n" + "\n\n".join([*parts, KEPT])


def message(logs: Iterable[str]) -> str:
    """Why a job failed, as its logs say; of an unforeseen error its kind and words."""
    for text in map(_text, logs):
        if failures := FAILED.findall(text):
            words, _, trace = failures[-1].partition(TRACE)
            return f"{trace.strip().splitlines()[-1]}\n{OURS}" if trace else words.strip()
        if text.strip() and not re.search(TIME, text, re.MULTILINE):  # what a rule says that runs no script
            return text.strip()
    return SILENT


def _text(log: str) -> str:
    try:
        return Path(log).read_text(errors="replace")
    except OSError:
        return ""
