"""Check the study's claims against its tables."""

from heuristic_core.analysis.findings import findings
from heuristic_core.arguments import Arguments
from heuristic_core.tables import read_table, write_table

TABLES = ("accuracy", "finetune_accuracy", "core", "core_null", "rank_correlation", "effective_size", "ablations")


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.context()
    parser.files(tables="folder of the study's tables", table="where to write findings")
    args = parser.read(arguments)
    tables = {name: read_table(f"{args.tables}/{name}.parquet") for name in TABLES}
    write_table("findings", findings(args.context, **tables), args.table)


if __name__ == "__main__":
    main()
