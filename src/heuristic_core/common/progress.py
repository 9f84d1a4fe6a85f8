"""Logs of jobs and progress of long loops, in a file and on the terminal."""

import atexit
import logging
import os
import re
import sys
import threading
import time
import traceback
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from heuristic_core.common.errors import InputError
from heuristic_core.common.faults import find_remedy

PACKAGE_LOGGER = logging.getLogger("heuristic_core")  # parent of the loggers of all modules and scripts
LOGGER = logging.getLogger(__name__)
SECONDS_BETWEEN_LINES = 5.0
TAIL_BYTES = 2000  # bytes at the end of a log that are searched for progress
TIMESTAMP_PATTERN = r"^\d\d:\d\d:\d\d "  # beginning of a line of a log
METER_PATTERN = re.compile(rf"{TIMESTAMP_PATTERN}(.*?) +(\d+)% ([^\[]*\[.*\])$", re.MULTILINE)  # a line of `Progress`
_NO_SERVER_VARIABLE = "HEURISTIC_CORE_NO_SERVER"  # variable set by workflow/fork_server/run.py: why a job is not a fork
CLOCK_TOLERANCE = 1.0  # seconds by which clocks may differ if jobs run on other machines
WARNING_PATTERN = re.compile(rf"{TIMESTAMP_PATTERN}warning: (.*)$", re.MULTILINE)


class LogFormatter(logging.Formatter):
    """Format of log lines: time, a mark for warnings, message."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return a record as one line."""
        mark = "warning: " if record.levelno == logging.WARNING else ""
        return f"{self.formatTime(record, '%H:%M:%S')} {mark}{record.message}"


def start_log(path: str | Path | None) -> None:
    """Send log lines to `path` and to the terminal.

    Args:
        path: Path of the log; None to log to standard error only, which otherwise gets lines if it is a terminal.
    """
    sys.excepthook = log_failure
    logging.raiseExceptions = False  # if the disk is full, the job goes on, and its own error is shown
    handlers: list[logging.Handler] = []
    if path:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        handlers.append(logging.FileHandler(path, mode="w"))
    if not path or sys.stderr.isatty():
        handlers.append(logging.StreamHandler())
    for handler in handlers:
        handler.setFormatter(LogFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=handlers, force=True)
    PACKAGE_LOGGER.setLevel(logging.INFO)
    if not path:  # a command run by hand: times would only clutter its output
        return
    LOGGER.info("started %s after %.1f s of imports", os.path.basename(sys.argv[0]), time.process_time())
    if reason := os.environ.pop(_NO_SERVER_VARIABLE, None):
        LOGGER.info("started on its own: %s", reason)
    started = time.monotonic()
    atexit.register(
        lambda: LOGGER.info("ended after %.1f s, %.1f s of CPU", time.monotonic() - started, time.process_time())
    )


def read_warnings(log: str | Path) -> list[str]:
    """Return the distinct warnings in a job's log; empty if it does not exist."""
    try:
        return list(dict.fromkeys(WARNING_PATTERN.findall(Path(log).read_text(errors="replace"))))
    except OSError:
        return []


class JobProgress(NamedTuple):
    """Progress of a running job.

    Attributes:
        fraction: Fraction of its loop that is done.
        message: Line of its log on this, without time and percentage.
    """

    fraction: float
    message: str


def read_progress(log: str | Path, since: float) -> JobProgress | None:
    """Read the progress of a running job from its log.

    Args:
        log: Path of the log.
        since: Unix time at which the job started. An older log is of an earlier run.

    Returns:
        Progress; None before its first line, or without a log of this run.
    """
    try:
        with open(log, "rb") as file:
            if os.fstat(file.fileno()).st_mtime < since - CLOCK_TOLERANCE:
                return None
            file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL_BYTES))
            meters = METER_PATTERN.findall(file.read().decode(errors="replace"))
    except OSError:
        return None
    if not meters:
        return None
    name, percent, meter = meters[-1]
    return JobProgress(int(percent) / 100, f"{name} {meter}")


def log_failure(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Write an uncaught exception to the log and to standard error; an exception hook, see `sys.excepthook`.

    Errors that a user can fix have no traceback.

    Args:
        kind: Class of the exception.
        error: The exception.
        trace: Its traceback.
    """
    details = None if is_user_error(error) else (kind, error, trace)
    message = format_error(error)
    LOGGER.error("failed: %s", message, exc_info=details)
    handlers = logging.getLogger().handlers
    if handlers and not any(type(handler) is logging.StreamHandler for handler in handlers):
        print("".join(traceback.format_exception(*details)) if details else f"error: {message}", file=sys.stderr)


def is_user_error(error: BaseException) -> bool:
    """Return whether a user can fix an error by its message, without a traceback."""
    return isinstance(error, InputError) or find_remedy(error) is not None


def format_error(error: BaseException) -> str:
    """Return the message of an error; for an error of the machine, its first line and advice."""
    advice = None if isinstance(error, InputError) else find_remedy(error)
    return f"{(str(error) or type(error).__name__).splitlines()[0]}: {advice}" if advice else str(error)


class Progress:
    """Log step, quantities, speed and remaining time of a long loop every few seconds and at its end.

    A loop outside the main thread, such as an evaluation beside fine-tuning, logs nothing, so that the last line of a
    log is the progress of its job.

    Args:
        name: Beginning of the lines.
        total: Number of steps.
        done: Number of steps done before, by a run that this one resumes.
        unit: Name of a step, in the plural.
        brief: Whether to leave out the line at the end if the loop ends before its first line is due.
    """

    def __init__(self, name: str, total: int, done: int = 0, unit: str = "steps", brief: bool = False):
        self.name, self.total, self.first, self.unit, self.brief = name, total, done, unit, brief
        self.started = self.written = time.monotonic()

    def update(self, done: int, **quantities: float) -> None:
        """Log progress if a line is due.

        Args:
            done: Number of steps done.
            **quantities: Values to show with four digits, such as a loss.
        """
        now = time.monotonic()
        is_last = done == self.total and not (self.brief and self.written == self.started)
        is_due = is_last or now - self.written >= SECONDS_BETWEEN_LINES
        if not is_due or threading.current_thread() is not threading.main_thread():
            return
        from tqdm import tqdm  # imported here so that models and pruning need only torch, numpy and pydantic

        self.written = now
        line = tqdm.format_meter(
            done,
            self.total,
            now - self.started,
            initial=self.first,
            ncols=0,
            unit=f" {self.unit}",
            postfix=", ".join(f"{key} {value:.4g}" for key, value in quantities.items()),
        )
        LOGGER.info("%s %s", self.name, line)
