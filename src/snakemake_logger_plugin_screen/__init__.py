"""Snakemake's `--logger screen`: the progress of a run, as bars at the bottom of a terminal, else as lines of text.

profiles/default selects it. Snakemake finds the plugin by the name of this package and imports it at every start, so
rich is imported only for a run that is drawn. Dry runs, and runs with another verbosity, have Snakemake's own text.
docs/decisions/own-code.md says why snakemake-logger-plugin-rich is not used.
"""

import logging
import os
import sys
from importlib.util import find_spec

from snakemake.logging import ColorizingTextHandler, DefaultFilter, DefaultFormatter
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent


def can_draw() -> bool:
    """Return whether standard error is a terminal whose lines can be redrawn."""
    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb" and find_spec("rich") is not None


class LogHandler(LogHandlerBase):
    """Shows the progress of a run, or prints Snakemake's own text."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        options = self.common_settings
        self._text = ColorizingTextHandler(
            options.nocolor,
            sys.stdout if options.stdout else sys.stderr,
            DefaultFormatter(options.quiet, options.show_failed_logs),
            DefaultFilter(options.quiet, options.debug_dag, options.verbose, options.dryrun, options.printshellcmds),
        )
        verbosity_set = (
            options.dryrun or options.quiet or options.verbose or options.debug_dag or options.printshellcmds
        )
        self._progress = None
        if not verbosity_set:
            if can_draw():
                from snakemake_logger_plugin_screen.screen import Screen

                self._progress = Screen(options.nocolor)
            else:
                from snakemake_logger_plugin_screen.lines import Lines

                self._progress = Lines()

    def emit(self, record: logging.LogRecord) -> None:
        """Show or print a record."""
        if self._progress and (self._progress.started or getattr(record, "event", None) == LogEvent.RUN_INFO):
            self._progress.handle(record, self._text.format(record))
        else:
            self._text.handle(record)

    def close(self) -> None:
        """End the progress."""
        if self._progress:
            self._progress.end()
        super().close()
