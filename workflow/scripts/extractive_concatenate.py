"""Join the parts of one table."""

from heuristic_core.experiments.extractive_structures.tables import EXTRACTIVE
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import write_joined


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.add_argument("--name", required=True, choices=EXTRACTIVE, help="of the table, as its schema is called")
    parser.reads("+", parts="files of that schema")
    parser.writes(table="where to write the whole")
    args = parser.read(arguments)
    write_joined(args.name, args.parts, args.table)


if __name__ == "__main__":
    recorded(main)
