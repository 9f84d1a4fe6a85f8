"""The foot of the terminal: a bar for the whole run, bars for rules as far as there is room, and messages above."""

import contextlib
import logging
import os
import tempfile
import threading
import time
from typing import NamedTuple

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text
from snakemake_interface_logger_plugins.common import LogEvent

from snakemake_logger_plugin_screen.run import Rule, Run

OUTPUT = "HEURISTIC_CORE_SCREEN"  # where jobs of this machine write in the place of the terminal: see workflow/jobs.sh
BETWEEN = 0.5  # seconds from one picture to the next
WIDE = 60  # columns from which there is room for times and for what jobs say
FREE = 2  # lines that the picture leaves: a full screen would be scrolled by its own last line
FAILURES = (LogEvent.JOB_ERROR, LogEvent.GROUP_ERROR)
TIME = 8  # columns of a duration of less than a hundred hours
SAID = 20  # lines that are shown of what jobs wrote before one of them failed
STYLES = {logging.WARNING: "yellow", logging.ERROR: "red", logging.CRITICAL: "red"}


class Screen:
    """Draws a `Run` until `end`. begun: whether the run has begun; before that, nothing is drawn."""

    def __init__(self, plain: bool):
        self.begun = False
        self._run, self._lock, self._ended = Run(), threading.RLock(), threading.Event()
        self._console = Console(stderr=True, no_color=plain, highlight=False, markup=False)
        self._live = Live(console=self._console, auto_refresh=False, transient=True, get_renderable=self._picture)
        self._thread = threading.Thread(target=self._draw, daemon=True)
        descriptor, self._output = tempfile.mkstemp(prefix="heuristic-core-", suffix=".output")
        self._said = os.fdopen(descriptor, errors="replace")
        os.environ[OUTPUT] = self._output  # before the first job starts

    def take(self, record: logging.LogRecord, text: str) -> None:
        """Follow one record of Snakemake's logger. text: what Snakemake's own text would be."""
        with self._lock:
            self._run.take(record)
            if getattr(record, "event", None) in FAILURES:
                self._tell()
            if told := message(record, text):
                self._console.print(Text(told, STYLES.get(record.levelno, "")), soft_wrap=True)
        if not self.begun:
            self.begun = True
            self._live.start()
            self._thread.start()

    def end(self) -> None:
        """Take the bars away, for good."""
        if self._ended.is_set():
            return
        self._ended.set()
        if self.begun:
            self._thread.join()
            self._live.stop()
            run = self._run
            self._console.print(f"{run.done} of {run.total} jobs finished in {duration(time.time() - run.began)}.")
        self._said.close()
        os.environ.pop(OUTPUT, None)
        with contextlib.suppress(OSError):
            os.unlink(self._output)

    def _draw(self) -> None:
        while not self._ended.wait(BETWEEN):
            with self._lock:
                self._live.refresh()

    def _tell(self) -> None:
        """What jobs wrote for the terminal lately. Without a failure it is left out: logs have the warnings."""
        if said := self._said.read().splitlines()[-SAID:]:
            self._console.print(Text.from_ansi("\n".join(said)), soft_wrap=True)

    def _picture(self) -> Group:
        with self._lock:
            width, height = self._console.size
            return picture(self._run, width, height, time.time())


def message(record: logging.LogRecord, text: str) -> str | None:
    """What is said above the bars: failures in a line, since the end has them in full; what bars show is left out."""
    event = getattr(record, "event", None)
    if event == LogEvent.JOB_ERROR:
        return failed(vars(record))
    if event == LogEvent.GROUP_ERROR:
        return "\n".join(failed(job) for job in record.job_error_info)
    if getattr(record, "exception", None) == "RuleException":  # of a job that failed: its whole command
        return None
    told = record.levelno >= logging.WARNING or (event is None and not text.startswith("Select jobs"))
    return text if told and text not in ("", "None") else None


def failed(job: dict) -> str:
    """A line of a job that failed."""
    return f"{job['rule_name']} failed: {', '.join(job['log']) or 'it has no log'}"


def duration(seconds: float) -> str:
    """Hours, minutes and seconds."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


def picture(run: Run, width: int, height: int, now: float) -> Group:
    """All bars, in fewer lines than the terminal has, and none of them wider."""
    rules = run.shown(height - FREE - 2)
    jobs = sum(len(rule.running) for rule in run.rules.values())
    rows = [Row("all jobs", run.done, run.total, 0.0, now - run.began, f"{jobs} running", "bold")]
    rows += [row(rule, now) for rule in rules]
    names = min(max(len(one.name) for one in rows), width // 3)
    counts = max(len(one.count) for one in rows)
    bar = max(4, min(40, width // 5))
    table = Table.grid(padding=(0, 1))
    rest = width - names - counts - bar - TIME - 5  # a space after each column, and the terminal's last one
    for one in rows:
        cells = [one.name[:names], one.count, ProgressBar(max(one.total, 1), one.done + one.part, width=bar)]
        cells += [duration(one.seconds), one.said[:rest]] if width >= WIDE else []
        table.add_row(*cells, style=one.style)
    waiting = sum(rule.began is None for rule in run.rules.values())
    more = len(run.rules) - waiting - len(rules)
    told = [f"{count} {words}" for count, words in ((more, "more rules"), (waiting, "rules to begin")) if count]
    return Group(table, Text(", ".join(told)[: width - 1], "dim"))


class Row(NamedTuple):
    """A line of the picture. part: the share of a job that running jobs have done, added up. said: what they say."""

    name: str
    done: int
    total: int
    part: float
    seconds: float
    said: str
    style: str

    @property
    def count(self) -> str:
        return f"{self.done}/{self.total}"


def row(rule: Rule, now: float) -> Row:
    """The line of a rule. Of several running jobs, the last one that tells how far it is is quoted."""
    found = [advance for job in rule.running if (advance := job.advance())]
    said = [f"{len(rule.running)} running"] * bool(rule.running) + [one.said for one in found[-1:]]
    share = sum(one.share for one in found)
    return Row(
        rule.name, rule.done, rule.total, share, rule.seconds(now), ", ".join(said), "" if rule.running else "dim"
    )
