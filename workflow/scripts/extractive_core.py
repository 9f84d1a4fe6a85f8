"""Count the components that subnetworks of a model share, with their scores, and compare with chance."""

from heuristic_core.experiments.extractive_structures import tables  # noqa: F401  the schemas
from heuristic_core.experiments.extractive_structures.sharing import core_rows, sharing_rows
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_table, write_table


def main(arguments=None):
    """Run the job with command-line arguments; default: those of the process."""
    parser = Arguments(__doc__)
    parser.add_argument("--permutations", type=int, required=True, help="number of permutations for chance")
    parser.reads(subnetworks="table extractive_subnetworks", components="table extractive_components")
    parser.writes(core="where to write table extractive_core", sharing="where to write table extractive_sharing")
    args = parser.read(arguments)
    subnetworks = read_table(args.subnetworks)
    write_table("extractive_core", core_rows(subnetworks, read_table(args.components)), args.core)
    write_table("extractive_sharing", list(sharing_rows(subnetworks, args.permutations)), args.sharing)


if __name__ == "__main__":
    recorded(main)
