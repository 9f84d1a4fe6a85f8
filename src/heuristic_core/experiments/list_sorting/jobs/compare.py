"""Comparison of two finished studies."""

from pathlib import Path

from heuristic_core.common.atomic import write_text
from heuristic_core.common.roles import Folder, Output
from heuristic_core.experiments.list_sorting.compare import compare as compare_models
from heuristic_core.experiments.list_sorting.comparison import comparison_page
from heuristic_core.experiments.list_sorting.modes import add_suppression
from heuristic_core.experiments.list_sorting.sides import parse_sides
from heuristic_core.tables.parquet import read_rows, read_table, write_table


def compare_studies(compare: str, folder: Folder, files: list[Output] = ()) -> None:
    """Compare two finished studies of list sorting on one page, with a table of their differences.

    Args:
        compare: Folders of both studies, as "results/a results/b".
        folder: Where to write compare.html, differences.parquet and differences.csv.
        files: These files, for the record.

    Raises:
        InputError: `compare` does not name two finished studies of list sorting.
    """
    sides, target = parse_sides(compare), Path(folder)
    models = [
        add_suppression(*(read_table(side.table(f"sorting_{name}")) for name in ("models", "heads"))) for side in sides
    ]
    differences = compare_models(*models)
    write_table("differences", differences, target / "differences.parquet")
    write_text(target / "differences.csv", differences.to_csv(index=False, lineterminator="\n"))
    claims = [read_rows(side.table("claims")) for side in sides]
    write_text(target / "compare.html", comparison_page(sides, models, differences, claims, target))
