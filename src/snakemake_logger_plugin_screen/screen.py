"""The foot of the terminal: a bar for the whole run, a bar for each rule as far as there is room, and messages above."""

import contextlib
import logging
import os
import tempfile
import threading
import time
from datetime import timedelta

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
            self._tell()
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
                self._tell()
                self._live.refresh()

    def _tell(self) -> None:
        """Above the bars, what jobs wrote for the terminal."""
        if said := self._said.read().rstrip("\n"):
            self._console.print(Text.from_ansi(said), soft_wrap=True)

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
    told = record.levelno >= logging.WARNING or (event is None and not text.startswith("Select jobs"))
    return text if told and text not in ("", "None") else None


def failed(job: dict) -> str:
    """A line of a job that failed."""
    return f"{job['rule_name']} failed: {', '.join(job['log']) or 'it has no log'}"


def duration(seconds: float) -> str:
    return str(timedelta(seconds=int(seconds)))


def picture(run: Run, width: int, height: int, now: float) -> Group:
    """All bars, in fewer lines than the terminal has."""
    table = Table.grid(padding=(0, 1), expand=False)
    bar = max(8, min(40, width // 5))
    for _ in range(5 if width >= WIDE else 3):
        table.add_column(no_wrap=True, overflow="ellipsis")
    shown = run.shown(height - FREE - 2)
    jobs = sum(len(rule.running) for rule in run.rules.values())
    whole = ["all jobs", *_bar(run.done, run.total, 0.0, bar), duration(now - run.began), f"{jobs} running"]
    table.add_row(*whole[: len(table.columns)], style="bold")
    for rule in shown:
        table.add_row(*_row(rule, bar, now)[: len(table.columns)], style="" if rule.running else "dim")
    waiting = sum(rule.began is None for rule in run.rules.values())
    above = len(run.rules) - waiting - len(shown)
    rest = [f"{count} {words}" for count, words in ((above, "rules not shown"), (waiting, "to begin")) if count]
    return Group(table, Text(f"{', '.join(rest)}" if height > FREE + 2 else "", "dim", no_wrap=True, overflow="ellipsis"))


def _row(rule: Rule, bar: int, now: float) -> list:
    """Name, count, bar, time and what its jobs say; a job counts as much as its own log says that is done."""
    found = [advance for job in rule.running if (advance := job.advance())]
    said = f"{len(rule.running)} running" if len(rule.running) > 1 else ""
    said = ", ".join(part for part in (said, found[-1].said if found else "") if part)
    return [rule.name, *_bar(rule.done, rule.total, sum(one.share for one in found), bar), duration(rule.seconds(now)), said]


def _bar(done: int, total: int, part: float, width: int) -> list:
    return [f"{done}/{total}", ProgressBar(total=max(total, 1), completed=min(done + part, total), width=width)]
