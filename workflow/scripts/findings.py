"""Check the study's claims against its tables."""

from pathlib import Path

from heuristic_core.analysis.findings import findings
from heuristic_core.arguments import Arguments
from heuristic_core.tables import read_table, write_table

TABLES = ("accuracy", "finetune_accuracy", "core", "core_null", "rank_correlation", "effective_size", "ablations")


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.context()
    parser.add_argument(
        "--tables", nargs="+", required=True, metavar="PATH", help=f"Parquet tables {', '.join(TABLES)}"
    )
    parser.files(table="where to write findings")
    args = parser.read(arguments)
    tables = {Path(path).stem: read_table(path) for path in args.tables}
    write_table("findings", findings(args.context, **tables), args.table)


if __name__ == "__main__":
    main()
