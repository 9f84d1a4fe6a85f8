"""The bottom of the terminal: a bar for the run, bars for as many rules as fit, and messages above."""

import contextlib
import logging
import os
import tempfile
import threading
import time
from itertools import filterfalse
from typing import NamedTuple

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from snakemake_logger_plugin_screen.messages import FAILURES, list_messages
from snakemake_logger_plugin_screen.run import Rule, Run, duration

OUTPUT = "HEURISTIC_CORE_SCREEN"  # the file to which local jobs write instead of the terminal: see workflow/jobs.sh
INTERVAL = 0.5  # seconds between two drawings
WIDE = 60  # columns from which times and the progress of jobs are shown
FREE = 2  # empty lines: a full screen would scroll by its own last line
TIME = 8  # columns of a duration of less than a hundred hours
TAIL = 20  # last lines of the output of jobs that are printed if one of them fails
STYLES = {logging.WARNING: "yellow", logging.ERROR: "red", logging.CRITICAL: "red"}


class Screen:
    """Draws a `Run` until `end`.

    Attributes:
        started: Whether the run has started; nothing is drawn before.
    """

    def __init__(self, plain: bool):
        self.started = False
        self._run, self._lock, self._ended = Run(), threading.RLock(), threading.Event()
        self._console = Console(stderr=True, no_color=plain, highlight=False, markup=False)
        self._live = Live(console=self._console, auto_refresh=False, transient=True, get_renderable=self._render)
        self._thread = threading.Thread(target=self._draw, daemon=True)
        descriptor, self._output = tempfile.mkstemp(prefix="heuristic-core-", suffix=".output")
        self._job_output = os.fdopen(descriptor, errors="replace")
        os.environ[OUTPUT] = self._output  # before the first job starts

    def handle(self, record: logging.LogRecord, text: str) -> None:
        """Draw one record of Snakemake's logger.

        Args:
            record: The record.
            text: Snakemake's own text for it.
        """
        with self._lock:
            job = self._run.handle(record)
            if getattr(record, "event", None) in FAILURES:
                self._print_output()
            for line in filterfalse(self._run.repeats, list_messages(record, text, job)):
                self._console.print(Text(line, STYLES.get(record.levelno, "")), soft_wrap=True)
        if not self.started:
            self.started = True
            self._live.start()
            self._thread.start()

    def end(self) -> None:
        """Remove the bars and print a summary."""
        if self._ended.is_set():
            return
        self._ended.set()
        if self.started:
            self._thread.join()
            self._live.stop()
            self._console.print(self._run.describe_end(time.time()))
        self._job_output.close()
        os.environ.pop(OUTPUT, None)
        with contextlib.suppress(OSError):
            os.unlink(self._output)

    def _draw(self) -> None:
        while not self._ended.wait(INTERVAL):
            with self._lock:
                self._live.refresh()

    def _print_output(self) -> None:
        """Print the last output of jobs. This is done after a failure only, as logs have the warnings."""
        if lines := self._job_output.read().splitlines()[-TAIL:]:
            self._console.print(Text.from_ansi("\n".join(lines)), soft_wrap=True)

    def _render(self) -> Group:
        with self._lock:
            width, height = self._console.size
            return picture(self._run, width, height, time.time())


def picture(run: Run, width: int, height: int, now: float) -> Group:
    """Return all bars, with fewer lines and columns than the terminal.

    Args:
        run: State of the run.
        width: Columns of the terminal.
        height: Lines of the terminal.
        now: Time, as in `run`, seconds.
    """
    rules = run.select(height - FREE - 2)
    jobs = sum(len(rule.running) for rule in run.rules.values())
    rows = [Row("all jobs", run.done, run.total, 0.0, now - run.began, f"{jobs} running", "bold")]
    rows += [row(rule, now) for rule in rules]
    names = min(max(len(line.name) for line in rows), width // 3)
    counts = max(len(line.count) for line in rows)
    bar = max(4, min(40, width // 5))
    table = Table.grid(padding=(0, 1))
    rest = width - names - counts - bar - TIME - 5  # a space after each column, and the terminal's last one
    for line in rows:
        cells = [line.name[:names], line.count, ProgressBar(max(line.total, 1), line.done + line.part, width=bar)]
        cells += [duration(line.seconds), line.status[:rest]] if width >= WIDE else []
        table.add_row(*cells, style=line.style)
    waiting = sum(rule.began is None for rule in run.rules.values())
    more = len(run.rules) - waiting - len(rules)
    hidden = [f"{count} {words}" for count, words in ((more, "more rules"), (waiting, "rules to begin")) if count]
    return Group(table, Text(", ".join(hidden)[: width - 1], "dim"))


class Row(NamedTuple):
    """One line of the drawing.

    Attributes:
        name: Name of the rule.
        done, total: Numbers of jobs.
        part: Progress of running jobs, as a sum of shares of a job.
        seconds: Since the rule began.
        status: Number of running jobs and the progress that a log reports.
        style: A style of rich.
    """

    name: str
    done: int
    total: int
    part: float
    seconds: float
    status: str
    style: str

    @property
    def count(self) -> str:
        """Return finished and all jobs, as 1/4."""
        return f"{self.done}/{self.total}"


def row(rule: Rule, now: float) -> Row:
    """Return the line of a rule; of several running jobs that report progress, the last is quoted.

    Args:
        rule: The rule and its jobs.
        now: Time, seconds.
    """
    reports = rule.read_progress()
    status = [f"{len(rule.running)} running"] * bool(rule.running) + [report.message for report in reports[-1:]]
    share = sum(report.fraction for report in reports)
    return Row(
        rule.name, rule.done, rule.total, share, rule.seconds(now), ", ".join(status), "" if rule.running else "dim"
    )
