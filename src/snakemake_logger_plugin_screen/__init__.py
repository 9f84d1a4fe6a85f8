"""Snakemake's `--logger screen`: the progress of a run, as bars at the bottom of the terminal.

profiles/default selects it if `plugin_for_terminal()` finds a terminal. Snakemake finds the plugin by the name of this
package and imports it at every start, so rich is imported only for a run that is drawn. Dry runs, and runs with another
verbosity, have Snakemake's own text. docs/decisions/own-code.md says why snakemake-logger-plugin-rich is not used.
"""

import logging
import os
import sys
from importlib.util import find_spec

from snakemake.logging import ColorizingTextHandler, DefaultFilter, DefaultFormatter
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent


def plugin_for_terminal() -> str | None:
    """Return this plugin's name if standard error is a terminal whose lines can be redrawn, else None."""
    drawable = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    return "screen" if drawable and find_spec("rich") else None


class LogHandler(LogHandlerBase):
    """Draws a run, or prints Snakemake's own text where nothing can be drawn."""

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
        self._screen = None
        if not verbosity_set and plugin_for_terminal():
            from snakemake_logger_plugin_screen.screen import Screen

            self._screen = Screen(options.nocolor)

    def emit(self, record: logging.LogRecord) -> None:
        """Draw or print a record."""
        if self._screen and (self._screen.started or getattr(record, "event", None) == LogEvent.RUN_INFO):
            self._screen.handle(record, self._text.format(record))
        else:
            self._text.handle(record)

    def close(self) -> None:
        """Remove the bars."""
        if self._screen:
            self._screen.end()
        super().close()
