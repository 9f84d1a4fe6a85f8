"""Comparison of two finished studies."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from heuristic_core.common.atomic import write_text
from heuristic_core.common.roles import Folder, Output
from heuristic_core.experiments.list_sorting.compare import compare as compare_models
from heuristic_core.experiments.list_sorting.compare import unshared_conditions
from heuristic_core.experiments.list_sorting.figures import build_sheets
from heuristic_core.experiments.list_sorting.figures.targets import TARGETS
from heuristic_core.experiments.list_sorting.sides import Side, parse_sides
from heuristic_core.report.comparison import comparison_values, pair_figures, relative_link
from heuristic_core.report.exhibits import Exhibit, load_exhibit
from heuristic_core.report.render import render
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
    models = [read_table(side.table("sorting_models")) for side in sides]
    differences = compare_models(*models)
    write_table("differences", differences, target / "differences.parquet")
    write_text(target / "differences.csv", differences.to_csv(index=False, lineterminator="\n"))
    claims = [read_rows(side.table("claims")) for side in sides]
    write_text(target / "compare.html", comparison_page(sides, models, differences, claims, target))


def comparison_page(
    sides: tuple[Side, Side],
    models: Sequence[pd.DataFrame],
    differences: pd.DataFrame,
    claims: Sequence[list[dict]],
    folder: Path,
) -> str:
    """Render the HTML page.

    Args:
        sides: The two studies.
        models: The tables that :func:`compare` compares, one per study.
        differences: Table "differences"; see :func:`comparison_values`.
        claims: Claims of each study; see :func:`comparison_values`.
        folder: Folder of the page, from which it links to the studies.
    """
    roots = [side.root for side in sides]
    names = [root.name for root in roots] if roots[0].name != roots[1].name else [str(root) for root in roots]

    def make_exhibit(root: Path, name: str) -> Exhibit:
        return load_exhibit(
            root, name, TARGETS[name].title, "", partial(build_sheets, name), relative_link(root, folder) + "/"
        )

    figures = pair_figures(roots, [(name,) for name in TARGETS if name.startswith("figure")], make_exhibit)
    return render(
        "sorting_compare.html.j2",
        package="heuristic_core.experiments.list_sorting",
        **comparison_values(roots, names, differences, claims, figures, folder),
        labels={},
        conditions=[list(table["condition"].unique()) for table in models],
        only_in=[unshared_conditions(models[0], models[1]), unshared_conditions(models[1], models[0])],
    )
