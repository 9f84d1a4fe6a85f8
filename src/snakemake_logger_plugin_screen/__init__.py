"""Snakemake's `--logger screen`: what a run has done and does, as bars at the foot of the terminal.

profiles/default chooses it where `here()` says that there is a terminal. Snakemake finds the plugin by the name of this
package, and imports it at every start; so rich is imported only for a run that it draws. Dry runs, and runs that are
asked for less or more text, have Snakemake's own text.

snakemake-logger-plugin-rich 0.5.1 has a bar for each rule by name, so one for each block of seeds, and does not read
how far running jobs are in their logs. Both are wanted here; so this package draws with rich itself.
"""

import logging
import os
import sys
from importlib.util import find_spec

from snakemake.logging import ColorizingTextHandler, DefaultFilter, DefaultFormatter
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent


def here() -> str | None:
    """The plugin's name where standard error is a terminal on which lines can be drawn again; otherwise None."""
    drawable = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    return "screen" if drawable and find_spec("rich") else None


class LogHandler(LogHandlerBase):
    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        asked = self.common_settings
        self._text = ColorizingTextHandler(
            asked.nocolor,
            sys.stdout if asked.stdout else sys.stderr,
            DefaultFormatter(asked.quiet, asked.show_failed_logs),
            DefaultFilter(asked.quiet, asked.debug_dag, asked.verbose, asked.dryrun, asked.printshellcmds),
        )
        other = asked.dryrun or asked.quiet or asked.verbose or asked.debug_dag or asked.printshellcmds
        self._screen = None
        if not other and here():
            from snakemake_logger_plugin_screen.screen import Screen

            self._screen = Screen(asked.nocolor)

    def emit(self, record: logging.LogRecord) -> None:
        if self._screen and (self._screen.begun or getattr(record, "event", None) == LogEvent.RUN_INFO):
            self._screen.take(record, self._text.format(record))
        else:
            self._text.handle(record)

    def close(self) -> None:
        if self._screen:
            self._screen.end()
        super().close()
