"""The page that compares two studies: differences, claims, figures."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.chance import list_warnings
from heuristic_core.experiments.subnetworks.analysis.outcomes import format_warning
from heuristic_core.experiments.subnetworks.analysis.shared_core import SharedCore
from heuristic_core.experiments.subnetworks.figures import build_sheets
from heuristic_core.experiments.subnetworks.figures.targets import TARGETS, drawing_module
from heuristic_core.experiments.subnetworks.report.sides import Side
from heuristic_core.report.comparison import Pair, comparison_values, pair_figures, relative_link
from heuristic_core.report.exhibits import Exhibit, load_exhibit
from heuristic_core.report.render import render

GROUP_LABELS = {"id": "ID", "ood": "OOD", "ood-entailment": "OOD-entailment", "j": "J", "auc": "AUC"}


def render_comparison_page(
    sides: tuple[Side, Side],
    contexts: Sequence,
    differences: pd.DataFrame,
    shared: Sequence[SharedCore],
    claims: Sequence[list[dict]],
    only_in: Sequence[list[str]],
    warnings: Sequence[list[str]],
    folder: Path,
) -> str:
    """Return the HTML page.

    Args:
        sides: The two studies, or runs of studies.
        contexts: The context of each side.
        differences: The rows of the table of differences.
        shared: The core heads of both sides.
        claims: For each side, the rows of its claims.
        only_in: For each side, the subsets that the other side lacks.
        warnings: For each side, the sentences of :func:`collect_side_warnings`.
        folder: The folder of the page, for links to the studies.
    """
    figures = pair_exhibits(sides, folder)
    return render(
        "subnetworks_compare.html.j2",
        package="heuristic_core.experiments.subnetworks",
        **comparison_values([side.root for side in sides], _names(sides), differences, claims, figures, folder),
        labels=GROUP_LABELS,
        contexts=contexts,
        shared=shared,
        only_in=only_in,
        warnings=warnings,
    )


def collect_side_warnings(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """Return a sentence for each full model that may not have learned, and one on pruning runs that went wrong."""
    chance = tables["chance"].to_dict("records") if "chance" in tables else []
    warnings = [f"{sentence}." for sentence in list_warnings(chance)]
    sentence = format_warning(tables["runs"]) if "runs" in tables else None
    return [*warnings, sentence] if sentence else warnings


def _names(sides: tuple[Side, Side]) -> list[str]:
    """Return the names of both sides: the study's name, or its folder if both have the same name."""
    a, b = ([side.root.name, str(side.root)] for side in sides)
    use_folder = sides[0].name == sides[1].name
    runs = [f", fine-tuning seed {side.ft_seed}" if side.ft_seed is not None else "" for side in sides]
    return [name[use_folder] + run for name, run in zip((a, b), runs, strict=True)]


def pair_exhibits(sides: tuple[Side, Side], folder: Path) -> list[Pair]:
    """Pair the figures that the same module draws; their names may differ, such as figure06 and figure15.

    Args:
        sides: The two studies.
        folder: Folder of the page.
    """
    names_by_module: dict[str, list[str]] = {}
    for name in TARGETS:
        if name.startswith("figure"):
            names_by_module.setdefault(drawing_module(name), []).append(name)

    def load(root: Path, name: str) -> Exhibit:
        return load_exhibit(
            root, name, TARGETS[name].title, "", partial(build_sheets, name), relative_link(root, folder) + "/"
        )

    return pair_figures([side.root for side in sides], list(names_by_module.values()), load)
