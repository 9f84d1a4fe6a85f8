"""Snakemake's `--logger jobs`: the jobs of a run as JSON, one object per line, instead of text.

Snakemake finds the plugin by the name of this package, so it is not inside the library. Errors go to standard error.
"""

import json
import logging
import sys

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent


class LogHandler(LogHandlerBase):
    """Prints one JSON object per job."""

    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def emit(self, record: logging.LogRecord) -> None:
        """Print the record of a job; ignore others."""
        if getattr(record, "event", None) == LogEvent.JOB_INFO:
            job = {
                "rule": record.rule_name,
                "inputs": record.input,
                "outputs": record.output,
                "command": record.shellcmd or "",
                "reason": record.reason,
            }
            print(json.dumps(job), flush=True)
        elif record.levelno >= logging.ERROR:
            print(record.getMessage(), file=sys.stderr, flush=True)
