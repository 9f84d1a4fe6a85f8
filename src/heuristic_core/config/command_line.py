"""Check the configuration files on Snakemake's command line before Snakemake reads them.

Snakemake 9 reads them before it makes an object that lists them, and shows a traceback if one is missing or not UTF-8.
"""

import argparse
import sys
from pathlib import Path

from heuristic_core.config.reading import ConfigError, read_config


def check_config_files() -> None:
    """Exit with a message if a configuration file is missing or invalid."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--configfile", "--configfiles", nargs="+", default=[])
    try:
        first, *others = parser.parse_known_args()[0].configfile or [None]
        for file in filter(None, [first, *others]):
            if file in others and not Path(file).suffix and not Path(file).exists():
                raise ConfigError(
                    f"{file}: no such file; a target comes after --, as in --configfile {first} -- {file}"
                )
            read_config(file)
    except ConfigError as error:
        print(error, file=sys.stderr)
        sys.exit(1)
    except argparse.ArgumentError:  # Snakemake reports errors in its command line
        return
