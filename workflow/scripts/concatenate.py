"""Join the parts of one table."""

from heuristic_core.experiments.heuristic_core.tables.schemas import SCHEMAS
from heuristic_core.jobs.joining import join
from heuristic_core.provenance.record import recorded


def main(arguments=None):
    join(__doc__, SCHEMAS, arguments)


if __name__ == "__main__":
    recorded(main)
