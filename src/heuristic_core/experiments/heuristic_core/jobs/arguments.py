"""Command lines of scripts that need to know of the study what analysis and figures know."""

import argparse

from pydantic import ValidationError

from heuristic_core.config.reading import ConfigError
from heuristic_core.experiments.heuristic_core.config import load_study
from heuristic_core.experiments.heuristic_core.config.context import Context
from heuristic_core.jobs import arguments


class Arguments(arguments.Arguments):
    """A parser that knows the arguments many scripts share, and the context of a study."""

    def context(self) -> None:
        """Add `--context`: what analysis and figures need to know of the study."""
        self.add_argument(
            "--context",
            required=True,
            type=read_context,
            metavar="CONFIG",
            help="a study's configuration file, or the context drawn from it as JSON",
        )


def read_context(text: str) -> Context:
    """The context of the study at path `text`, or from JSON."""
    try:
        return Context.model_validate_json(text) if text.lstrip().startswith("{") else Context.of(load_study(text))
    except (ConfigError, ValidationError) as error:
        raise argparse.ArgumentTypeError(f"not a context: {error}") from None
