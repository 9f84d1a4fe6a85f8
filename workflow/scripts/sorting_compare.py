"""Compare two finished studies of list sorting on one page, with a table of their differences."""

from pathlib import Path

from heuristic_core.common.atomic import write_text
from heuristic_core.experiments.list_sorting.compare import compare
from heuristic_core.experiments.list_sorting.comparison import comparison_page
from heuristic_core.experiments.list_sorting.modes import with_suppression
from heuristic_core.experiments.list_sorting.sides import USAGE, parse_sides
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_rows, read_table, write_table


def main(arguments=None):
    """Run the job."""
    parser = Arguments(__doc__)
    parser.add_argument("--compare", required=True, metavar="STUDIES", help=USAGE)
    parser.places(folder="where to write compare.html, differences.parquet and differences.csv")
    parser.writes("*", files="these files, for the record")
    args = parser.read(arguments)
    sides, folder = parse_sides(args.compare), Path(args.folder)
    models = [
        with_suppression(*(read_table(side.table(f"sorting_{name}")) for name in ("models", "heads"))) for side in sides
    ]
    differences = compare(*models)
    write_table("differences", differences, folder / "differences.parquet")
    write_text(folder / "differences.csv", differences.to_csv(index=False, lineterminator="\n"))
    claims = [read_rows(side.table("claims")) for side in sides]
    write_text(folder / "compare.html", comparison_page(sides, models, differences, claims, folder))


if __name__ == "__main__":
    recorded(main)
