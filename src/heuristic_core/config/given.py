"""The configuration files on Snakemake's command line, checked before Snakemake reads them."""

import argparse
import sys

from heuristic_core.config.reading import ConfigError, read_values


def check_given() -> None:
    """End with one message where a configuration file is not there, or is none. Snakemake would show a traceback."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--configfile", "--configfiles", nargs="+", default=[])
    try:
        for file in parser.parse_known_args()[0].configfile:
            read_values(file)
    except ConfigError as error:
        print(error, file=sys.stderr)
        sys.exit(1)
    except argparse.ArgumentError:  # Snakemake says what is wrong with its command line
        return
