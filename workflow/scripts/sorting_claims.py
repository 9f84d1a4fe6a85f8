"""Judge the claims of the list-sorting paper on a study's tables."""

from pathlib import Path

from heuristic_core.config.claims import load_claims
from heuristic_core.experiments.list_sorting.claims import claims
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_table, write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.add_argument("--study", required=True, help="name of the study")
    parser.reads("+", tables="the study's Parquet tables")
    parser.reads(claims="the claims (YAML)")
    parser.writes(table="where to write verdicts")
    args = parser.read(arguments)
    tables = {Path(path).stem: read_table(path) for path in args.tables}
    write_table("claims", claims(args.study, tables, load_claims(args.claims)), args.table)


if __name__ == "__main__":
    recorded(main)
