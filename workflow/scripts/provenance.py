"""Collect the provenance records of a study's results: one row for each job."""

from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded, rows
from heuristic_core.tables.parquet import write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.places(root="the study's folder")
    parser.writes(table="where to write the table")
    args = parser.read(arguments)
    write_table("provenance", rows(args.root), args.table)


if __name__ == "__main__":
    recorded(main)
