"""Join the parts of one table."""

from heuristic_core.experiments.list_sorting.tables import SORTING
from heuristic_core.jobs.joining import join
from heuristic_core.provenance.record import recorded


def main(arguments=None):
    """Run the job."""
    join(__doc__, SORTING, arguments)


if __name__ == "__main__":
    recorded(main)
