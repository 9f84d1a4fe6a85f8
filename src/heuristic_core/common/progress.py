"""Logs and progress: one line at a time in a job's log, and on the terminal when there is one."""

import atexit
import logging
import os
import re
import sys
import time
import traceback
from pathlib import Path
from typing import NamedTuple

from heuristic_core.common.errors import InputError
from heuristic_core.common.faults import remedy

PACKAGE = logging.getLogger("heuristic_core")  # parent of the loggers of all modules and scripts
LOGGER = logging.getLogger(__name__)
SECONDS_BETWEEN_LINES = 5.0
TAIL_BYTES = 2000  # bytes at the end of a log in which its last line of progress is looked for
TIME = r"^\d\d:\d\d:\d\d "  # before what a line of a log says
METER_PATTERN = re.compile(rf"{TIME}(.*?) +(\d+)% ([^\[]*\[.*\])$", re.MULTILINE)  # a line of `Progress`
NO_SERVER = "HEURISTIC_CORE_NO_SERVER"  # the variable in which workflow/fork_server/run.py says why a job is no fork
PATIENCE = 1.0  # seconds by which clocks may differ where jobs run elsewhere
WARNING_PATTERN = re.compile(rf"{TIME}warning: (.*)$", re.MULTILINE)


class Lines(logging.Formatter):
    """When, and what; a warning is marked as one."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Return time, a mark for warnings, and message."""
        mark = "warning: " if record.levelno == logging.WARNING else ""
        return f"{self.formatTime(record, '%H:%M:%S')} {mark}{record.message}"


def start_log(path: str | Path | None) -> None:
    """Send log lines to `path` (if given) and to the terminal (if standard error is one, or if there is no file)."""
    sys.excepthook = log_failure
    logging.raiseExceptions = False  # a log that can no longer be written (full disk) neither ends a job nor hides why
    handlers: list[logging.Handler] = []
    if path:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        handlers.append(logging.FileHandler(path, mode="w"))
    if not path or sys.stderr.isatty():
        handlers.append(logging.StreamHandler())
    for handler in handlers:
        handler.setFormatter(Lines())
    logging.basicConfig(level=logging.WARNING, handlers=handlers, force=True)
    PACKAGE.setLevel(logging.INFO)
    if not path:  # a person waits for what the command says, not for when it began
        return
    LOGGER.info("started %s after %.1f s of imports", os.path.basename(sys.argv[0]), time.process_time())
    if reason := os.environ.pop(NO_SERVER, None):
        LOGGER.info("started on its own: %s", reason)
    started = time.monotonic()
    atexit.register(
        lambda: LOGGER.info("ended after %.1f s, %.1f s of CPU", time.monotonic() - started, time.process_time())
    )


def warned(log: str | Path) -> list[str]:
    """The warnings in a job's log, each once; none where there is no log."""
    try:
        return list(dict.fromkeys(WARNING_PATTERN.findall(Path(log).read_text(errors="replace"))))
    except OSError:
        return []


class Advance(NamedTuple):
    """How far a job is: the share of its loop that is done, and the words of its log."""

    share: float
    said: str


def advance(log: str | Path, since: float) -> Advance | None:
    """How far the job of a log is; None before its first line of progress, and where `since` nothing was written."""
    try:
        with open(log, "rb") as file:
            if os.fstat(file.fileno()).st_mtime < since - PATIENCE:  # of an earlier run
                return None
            file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL_BYTES))
            meters = METER_PATTERN.findall(file.read().decode(errors="replace"))
    except OSError:
        return None
    if not meters:
        return None
    name, percent, rest = meters[-1]
    return Advance(int(percent) / 100, f"{name} {rest}")


def log_failure(kind: type[BaseException], error: BaseException, trace) -> None:
    """Write why the job failed into its log and to standard error; without a traceback where a user can mend it."""
    details = None if mendable(error) else (kind, error, trace)
    message = explained(error)
    LOGGER.error("failed: %s", message, exc_info=details)
    handlers = logging.getLogger().handlers
    if handlers and not any(type(handler) is logging.StreamHandler for handler in handlers):
        print("".join(traceback.format_exception(*details)) if details else f"error: {message}", file=sys.stderr)


def mendable(error: BaseException) -> bool:
    """Whether the message of `error` says all that a user needs."""
    return isinstance(error, InputError) or remedy(error) is not None


def explained(error: BaseException) -> str:
    """The message of `error`; in one line with what to do about it where the machine is at fault."""
    advice = None if isinstance(error, InputError) else remedy(error)
    return f"{(str(error) or type(error).__name__).splitlines()[0]}: {advice}" if advice else str(error)


class Progress:
    """A long loop's step, quantities, speed and remaining time, as a log line every few seconds and at the end.

    brief: a loop that often takes no time at all has no line at its end unless it had one before.
    """

    def __init__(self, name: str, total: int, done: int = 0, unit: str = "steps", brief: bool = False):
        self.name, self.total, self.first, self.unit, self.brief = name, total, done, unit, brief
        self.started = self.written = time.monotonic()

    def at(self, done: int, **quantities: float) -> None:
        """Tell that `done` of all steps are done; `quantities` are shown with four digits."""
        now = time.monotonic()
        last = done == self.total and not (self.brief and self.written == self.started)
        if now - self.written < SECONDS_BETWEEN_LINES and not last:
            return
        from tqdm import tqdm  # here, so that models and pruning need no more than torch, numpy and pydantic

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
