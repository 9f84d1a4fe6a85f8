"""The page that puts two studies next to each other: differences, claims, figures."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import pandas as pd

from heuristic_core.experiments.heuristic_core.analysis.chance import warnings as unlearned
from heuristic_core.experiments.heuristic_core.analysis.outcomes import warning
from heuristic_core.experiments.heuristic_core.analysis.shared_core import SharedCore
from heuristic_core.experiments.heuristic_core.figures import sheets_of
from heuristic_core.experiments.heuristic_core.figures.targets import TARGETS, module
from heuristic_core.experiments.heuristic_core.report.sides import Side
from heuristic_core.report.comparison import Pair, comparison_values, link, pair_figures
from heuristic_core.report.exhibits import Exhibit, exhibit
from heuristic_core.report.render import render

GROUPS = {"id": "ID", "ood": "OOD", "ood-entailment": "OOD-entailment", "j": "J", "auc": "AUC"}


def comparison_page(
    sides: tuple[Side, Side],
    contexts: Sequence,
    differences: pd.DataFrame,
    shared: Sequence[SharedCore],
    claims: Sequence[list[dict]],
    only_in: Sequence[list[str]],
    warnings: Sequence[list[str]],
    folder: Path,
) -> str:
    """The HTML page. shared: core heads of both. claims, only_in, warnings: of each side, the rows of its claims,
    subsets that the other lacks, and what :func:`warnings_of` says.

    folder: of the page, from which it links to the studies.
    """
    figures = figures_of(sides, folder)
    return render(
        "compare.html.j2",
        **comparison_values([side.root for side in sides], _names(sides), differences, claims, figures, folder),
        labels=GROUPS,
        contexts=contexts,
        shared=shared,
        only_in=only_in,
        warnings=warnings,
    )


def warnings_of(tables: Mapping[str, pd.DataFrame]) -> list[str]:
    """A sentence for each full model that has not learned, or may not have, and for pruning runs that went wrong."""
    warnings = [f"{said}." for said in unlearned(tables["chance"].to_dict("records"))] if "chance" in tables else []
    said = warning(tables["runs"]) if "runs" in tables else None
    return [*warnings, said] if said else warnings


def _names(sides: tuple[Side, Side]) -> list[str]:
    """What the sides are called: the study, with its folder where both have one name."""
    a, b = ([side.root.name, str(side.root)] for side in sides)
    use_folder = sides[0].name == sides[1].name
    runs = [f", fine-tuning seed {side.ft_seed}" if side.ft_seed is not None else "" for side in sides]
    return [name[use_folder] + run for name, run in zip((a, b), runs, strict=True)]


def figures_of(sides: tuple[Side, Side], folder: Path) -> list[Pair]:
    """Figures that one module draws together, though their names may differ, as figure06 and figure15 do."""
    by_drawing: dict[str, list[str]] = {}
    for name in TARGETS:
        if name.startswith("figure"):
            by_drawing.setdefault(module(name), []).append(name)

    def exhibit_of(root: Path, name: str) -> Exhibit:
        return exhibit(root, name, TARGETS[name].title, "", partial(sheets_of, name), link(root, folder) + "/")

    return pair_figures([side.root for side in sides], list(by_drawing.values()), exhibit_of)
