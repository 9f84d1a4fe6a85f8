"""The page that compares two studies of list sorting."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from heuristic_core.experiments.list_sorting.compare import unshared_conditions
from heuristic_core.experiments.list_sorting.figures import build_sheets
from heuristic_core.experiments.list_sorting.figures.targets import TARGETS
from heuristic_core.experiments.list_sorting.sides import Side
from heuristic_core.report.comparison import comparison_values, pair_figures, relative_link
from heuristic_core.report.exhibits import Exhibit, load_exhibit
from heuristic_core.report.render import render


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
