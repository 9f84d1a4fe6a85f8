"""Snakemake's `--logger jobs`: what a run says of its jobs as JSON, one object per line, in place of text for people.

Snakemake finds the plugin by the name of this package, which therefore is beside the library. Errors go to stderr.
"""

import json
import logging
import sys

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent


class LogHandler(LogHandlerBase):
    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def emit(self, record: logging.LogRecord) -> None:
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
