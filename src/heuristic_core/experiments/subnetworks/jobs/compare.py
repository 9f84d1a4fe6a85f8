"""Comparison of two studies."""

from pathlib import Path

from heuristic_core.common.atomic import write_text
from heuristic_core.common.roles import Folder, Output
from heuristic_core.experiments.subnetworks.analysis import compare as comparison
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence
from heuristic_core.experiments.subnetworks.analysis.shared_core import compute_shared_core
from heuristic_core.experiments.subnetworks.report.comparison import collect_side_warnings, render_comparison_page
from heuristic_core.experiments.subnetworks.report.sides import load_side, parse_sides
from heuristic_core.tables.parquet import as_table, write_table


def compare_studies(compare: str, folder: Folder, files: list[Output] = ()) -> None:
    """Put two finished studies on one page, with a table of their differences.

    Args:
        compare: Two folders of finished studies, as one text: "results/a results/b", each with :<fine-tuning seed> for
            that run alone.
        folder: Where to write compare.html, differences.parquet and differences.csv.
        files: These files, for the record.
    """
    sides, out = parse_sides(compare), Path(folder)
    (a, context_a), (b, context_b) = map(load_side, sides)
    differences = comparison.compare(a, b, context_a, context_b)
    write_table("differences", differences, out / "differences.parquet")
    write_text(out / "differences.csv", differences.to_csv(index=False, lineterminator="\n"))
    claims = [as_table("claims", tables["claims"]).to_pylist() if "claims" in tables else [] for tables in (a, b)]
    both = "core" in a and "core" in b
    shared = compute_shared_core(Evidence(context_a, a), Evidence(context_b, b)) if both else []
    unshared = comparison.find_unshared_subsets(a, b), comparison.find_unshared_subsets(b, a)
    warnings = collect_side_warnings(a), collect_side_warnings(b)
    page = render_comparison_page(sides, (context_a, context_b), differences, shared, claims, unshared, warnings, out)
    write_text(out / "compare.html", page)
