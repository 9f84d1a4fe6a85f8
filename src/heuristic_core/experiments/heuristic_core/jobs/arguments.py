"""Command lines of scripts that need to know of the study what analysis and figures know."""

from heuristic_core.experiments.heuristic_core.jobs.parameters import read_context
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
