"""Write the squares of the first integers."""

import heuristic_core.experiments.made  # noqa: F401  its table

from heuristic_core.jobs.arguments import JobParser
from heuristic_core.provenance.record import run_with_record
from heuristic_core.tables.parquet import write_table


def main(arguments=None):
    parser = JobParser(__doc__)
    parser.add_argument("--largest", type=int, required=True, help="the last of them")
    parser.add_outputs(table="where to write them")
    args = parser.parse(arguments)
    write_table("squares", [{"number": k, "square": k * k} for k in range(args.largest + 1)], args.table)


if __name__ == "__main__":
    run_with_record(main)
