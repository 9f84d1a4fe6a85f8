"""The state of a run, from the events of Snakemake's logger."""

import logging
import time
from dataclasses import dataclass, field
from typing import NamedTuple

from snakemake_interface_logger_plugins.common import LogEvent

from heuristic_core.common.errors import format_count
from heuristic_core.common.progress import JobProgress, read_progress
from heuristic_core.figures.targets import is_report_file
from heuristic_core.plan.jobs import base_rule


class Job(NamedTuple):
    """A job that was started or submitted.

    Attributes:
        rule: Its rule.
        outputs: Its output files.
        logs: Its log files.
        began: Seconds since the epoch.
    """

    rule: str
    outputs: tuple[str, ...]
    logs: tuple[str, ...]
    began: float

    def advance(self) -> JobProgress | None:
        """Return the progress that its log reports, or None."""
        return next((progress for log in self.logs if (progress := read_progress(log, self.began))), None)

    def describe_figure(self) -> str | None:
        """Return a line with the file of the figure, table or report that it makes, or None."""
        return next((f"{self.rule}: {path}" for path in self.outputs if _is_shown(path)), None)


@dataclass
class Rule:
    """The jobs of one rule; the rules of all blocks of seeds count as one.

    Attributes:
        name: Name of the rule.
        total: Number of its jobs.
        done: Number of finished jobs.
        began, ended: Seconds since the epoch.
        running: Its running jobs.
    """

    name: str
    total: int = 0
    done: int = 0
    began: float | None = None
    ended: float | None = None
    running: list[Job] = field(default_factory=list)

    def read_progress(self) -> list[JobProgress]:
        """Return the progress of its running jobs whose logs report one."""
        return [progress for job in self.running if (progress := job.advance())]

    def describe(self) -> str:
        """Return its name with the share of its only job that is done, or with the number of jobs done."""
        if self.total == 1:
            return self.name + "".join(f" ({progress.fraction:.0%})" for progress in self.read_progress())
        return f"{self.name} ({self.done} of {self.total})"

    def seconds(self, now: float) -> float:
        """Return the time from the start of its first job to now, or to the end of its last job if none runs."""
        return 0.0 if self.began is None else (now if self.running else self.ended or now) - self.began


class Run:
    """All rules by name, in the order of Snakemake's table of jobs, and running jobs by number."""

    def __init__(self):
        self.began, self.done, self.total = time.time(), 0, 0
        self._last_message: str | None = None
        self.rules: dict[str, Rule] = {}
        self._jobs: dict[int, Job] = {}

    def handle(self, record: logging.LogRecord) -> Job | None:
        """Update the state from an event, and return the job that it finishes, if any; other records are ignored."""
        event = getattr(record, "event", None)
        if event == LogEvent.RUN_INFO:
            self._count(record.stats)
        elif event == LogEvent.JOB_INFO:
            self._begin(record)
        elif event == LogEvent.PROGRESS:
            self.done, self.total = record.done, record.total
        elif event == LogEvent.JOB_FINISHED:
            return self._leave(record.job_id, done=1)
        elif event == LogEvent.JOB_ERROR:
            self._leave(record.jobid, done=0)
        elif event == LogEvent.GROUP_ERROR:
            for job in record.job_error_info:
                self._leave(job["jobid"], done=0)
        return None

    def repeats(self, message: str) -> bool:
        """Return whether a message is the same as the one before: Snakemake says at every look that it will exit."""
        repeated, self._last_message = message == self._last_message, message
        return repeated

    def describe(self, now: float) -> str:
        """Return a line on the progress of the run: finished jobs, and running rules."""
        running = [rule.describe() for rule in self.rules.values() if rule.running]
        finished = f"{self.done:,} of {format_count(self.total, 'job')}, {duration(now - self.began)}"
        return f"{finished}; running: {', '.join(running) or 'none'}"

    def describe_end(self, now: float) -> str:
        """Return the last line on a run."""
        return f"{self.done:,} of {format_count(self.total, 'job')} finished in {duration(now - self.began)}."

    def select(self, lines: int) -> list[Rule]:
        """Select rules to draw.

        Args:
            lines: Number of lines that fit.

        Returns:
            Rules that have begun, in the order in which they began. Running rules are preferred to rules with jobs
            left, and these to finished rules, of which the last finished are preferred.
        """
        begun = [rule for rule in self.rules.values() if rule.began is not None]
        begun.sort(key=lambda rule: (not rule.running, rule.done == rule.total, -(rule.ended or 0)))
        return sorted(begun[: max(lines, 0)], key=lambda rule: rule.began)

    def _count(self, jobs: dict[str, int]) -> None:
        self.total = jobs.get("total", sum(jobs.values()))
        for name, count in jobs.items():
            if name != "total":
                self._rule(name).total += count

    def _rule(self, name: str) -> Rule:
        return self.rules.setdefault(base_rule(name), Rule(base_rule(name)))

    def _begin(self, record: logging.LogRecord) -> None:
        outputs = tuple(getattr(record, "output", None) or ())
        job = Job(record.rule_name, outputs, tuple(record.log or ()), time.time())
        rule = self._rule(job.rule)
        rule.began = rule.began or job.began
        self._leave(record.jobid, done=0)  # a retry
        rule.running.append(job)
        self._jobs[record.jobid] = job

    def _leave(self, number: int, done: int) -> Job | None:
        job = self._jobs.pop(number, None)
        if job is not None:
            rule = self._rule(job.rule)
            rule.running.remove(job)
            rule.done += done
            rule.ended = time.time()
        return job


def _is_shown(path: str) -> bool:
    """Return whether a file is what a reader opens of a figure, table or report."""
    return is_report_file(path) or path.endswith("/report.html")


def duration(seconds: float) -> str:
    """Format a duration in hours, minutes and seconds."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
