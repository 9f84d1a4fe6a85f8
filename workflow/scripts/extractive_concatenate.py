"""Join the parts of one table."""

from heuristic_core.experiments.extractive_structures.tables import EXTRACTIVE
from heuristic_core.jobs.joining import join
from heuristic_core.provenance.record import recorded


def main(arguments=None):
    """Run the job with command-line arguments; default: those of the process."""
    join(__doc__, EXTRACTIVE, arguments)


if __name__ == "__main__":
    recorded(main)
