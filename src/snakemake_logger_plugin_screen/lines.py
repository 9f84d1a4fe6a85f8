"""The progress of a run as lines of text, for output that is not a terminal, such as a log of a cluster or of CI."""

import logging
import sys
import threading
import time

from snakemake_interface_logger_plugins.common import LogEvent

from heuristic_core.common.errors import format_count
from snakemake_logger_plugin_screen.messages import FAILURES, list_messages
from snakemake_logger_plugin_screen.run import Run

INTERVAL = 30  # seconds between two lines on the progress of the run


class Lines:
    """Prints messages, files of finished figures and, every 30 seconds, the progress of the run.

    Attributes:
        started: Whether the run has started.
    """

    def __init__(self, file=None):
        self.started, self._run = False, Run()
        self._file = sys.stderr if file is None else file
        self._lock, self._ended = threading.RLock(), threading.Event()
        self._thread = threading.Thread(target=self._report, daemon=True)

    def handle(self, record: logging.LogRecord, text: str) -> None:
        """Print what one record of Snakemake's logger says.

        Args:
            record: The record.
            text: Snakemake's own text for it.
        """
        with self._lock:
            job, event = self._run.handle(record), getattr(record, "event", None)
            # A failure in full: of a cluster's jobs, Snakemake's text alone names the scheduler's log.
            for line in [text] if event in FAILURES else list_messages(record, text, job):
                if not self._run.repeats(line):
                    self._print(line)
            if event == LogEvent.RUN_INFO:
                self._print(f"{format_count(self._run.total, 'job')} to run")
        if event == LogEvent.RUN_INFO and not self.started:
            self.started = True
            self._thread.start()

    def end(self) -> None:
        """Print how many jobs have finished."""
        if self.started and not self._ended.is_set():
            self._ended.set()
            self._thread.join()
            self._print(self._run.describe_end(time.time()))

    def _report(self) -> None:
        while not self._ended.wait(INTERVAL):
            with self._lock:
                self._print(self._run.describe(time.time()))

    def _print(self, line: str) -> None:
        print(line, file=self._file, flush=True)
