"""What the scripts that join the parts of a table share. Each names the schemas of its own experiment."""

from collections.abc import Collection, Sequence

from heuristic_core.jobs.arguments import Arguments
from heuristic_core.tables.parquet import write_joined


def join(description: str, names: Collection[str], arguments: Sequence[str] | None) -> None:
    """Join the parts that the command line names. names: of the tables that it may name."""
    parser = Arguments(description)
    parser.add_argument("--name", required=True, choices=names, help="of the table, as its schema is called")
    parser.reads("+", parts="files of that schema")
    parser.writes(table="where to write the whole")
    args = parser.read(arguments)
    write_joined(args.name, args.parts, args.table)
