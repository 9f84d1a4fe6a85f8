"""Put two finished studies on one page, with a table of their differences."""

from pathlib import Path

from heuristic_core.common.atomic import write_text
from heuristic_core.experiments.heuristic_core.analysis.compare import compare, only_in
from heuristic_core.experiments.heuristic_core.analysis.evidence import Evidence
from heuristic_core.experiments.heuristic_core.analysis.shared_core import shared_core
from heuristic_core.experiments.heuristic_core.report.comparison import comparison_page, warnings_of
from heuristic_core.experiments.heuristic_core.report.sides import USAGE, load, parse_sides
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import as_table, write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.add_argument("--compare", required=True, metavar="STUDIES", help=USAGE)
    parser.places(folder="where to write compare.html, differences.parquet and differences.csv")
    parser.writes("*", files="these files, for the record")
    args = parser.read(arguments)
    sides, folder = parse_sides(args.compare), Path(args.folder)
    (a, context_a), (b, context_b) = map(load, sides)
    differences = compare(a, b, context_a, context_b)
    write_table("differences", differences, folder / "differences.parquet")
    write_text(folder / "differences.csv", differences.to_csv(index=False, lineterminator="\n"))
    claims = [as_table("claims", tables["claims"]).to_pylist() if "claims" in tables else [] for tables in (a, b)]
    both = "core" in a and "core" in b
    shared = shared_core(Evidence(context_a, a), Evidence(context_b, b)) if both else []
    apart = only_in(a, b), only_in(b, a)
    warnings = warnings_of(a), warnings_of(b)
    page = comparison_page(sides, (context_a, context_b), differences, shared, claims, apart, warnings, folder)
    write_text(folder / "compare.html", page)


if __name__ == "__main__":
    recorded(main)
