"""The HTML report of one study."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from heuristic_core.data.pairs import name_sets
from heuristic_core.experiments.subnetworks.analysis.chance import list_warnings
from heuristic_core.experiments.subnetworks.analysis.outcomes import find_faulty_cells, format_warning, list_outcomes
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures import build_sheets
from heuristic_core.experiments.subnetworks.figures.targets import TARGETS, drawing_module
from heuristic_core.experiments.subnetworks.report.missing import Gap, collect_gaps
from heuristic_core.experiments.subnetworks.report.subnetworks import Subnetworks, build_subnetworks
from heuristic_core.experiments.subnetworks.report.views import build_view
from heuristic_core.report.exhibits import load_exhibit, render_caption
from heuristic_core.report.render import render
from heuristic_core.report.study import ReportData, study_values
from heuristic_core.tables.parquet import read_rows, read_table


def render_study_page(data: ReportData, context: Context) -> str:
    """Render the report of a study.

    Args:
        data: Data of the report.
        context: Context of the study.
    """
    exhibits = [
        load_exhibit(
            data.root,
            name,
            TARGETS[name].title,
            render_caption((name, drawing_module(name)), data.captions, data.settings),
            partial(build_sheets, name),
            view=partial(build_view, name),
        )
        for name in data.targets
    ]
    return render(
        "page.html.j2",
        **study_values(data, exhibits),
        subject=", ".join(dict.fromkeys(f"{row['model']} on {row['task']}" for row in data.claims)),
        context=context,
        heuristic=(data.settings or {}).get("task", {}).get("heuristic"),
        **load_run_outcomes(data.root),
        learning_warnings=list_learning_warnings(data.root),
        gaps=load_gaps(data.root),
        subnetworks=load_subnetworks(data.root),
        splits=load_splits(data.root),
    )


def load_run_outcomes(root: Path) -> dict:
    """Return the template's values on the study's pruning runs; `outcomes` is None for a study without pruning runs."""
    path = root / "tables" / "runs.parquet"
    if not path.is_file():
        return {"outcomes": None, "warning": None, "faulty_cells": []}
    runs = read_table(path)
    return {"outcomes": list_outcomes(runs), "warning": format_warning(runs), "faulty_cells": find_faulty_cells(runs)}


def list_learning_warnings(root: Path) -> list[str]:
    """Return a warning for each full model that may not have learned the task; empty if this is unknown."""
    path = root / "tables" / "chance.parquet"
    return list_warnings(read_rows(path)) if path.is_file() else []


def collect_warnings(roots: Sequence[str | Path]) -> list[str]:
    """Return lines for the terminal: full models that may not have learned, and pruning runs that went wrong."""
    messages = []
    for root in map(Path, roots):
        messages += [f"{root.name}: {sentence}." for sentence in list_learning_warnings(root)]
        if sentence := load_run_outcomes(root)["warning"]:
            messages.append(f"{root.name}: {sentence} See {root / 'report.html'}")
    return messages


def load_gaps(root: Path) -> list[Gap]:
    """Return the missing values of tables "accuracy" and "effective_size", as far as the study has them."""
    paths = (root / "tables" / f"{name}.parquet" for name in ("accuracy", "effective_size"))
    return collect_gaps(*(read_table(path) if path.is_file() else None for path in paths))


def load_subnetworks(root: Path) -> Subnetworks | None:
    """Return the study's subnetworks; None if it lacks the tables that describe them, as published results do."""
    paths = [root / "tables" / f"{name}.parquet" for name in ("components", "accuracy", "group_accuracy")]
    return build_subnetworks(*map(read_table, paths)) if all(path.is_file() for path in paths) else None


def load_splits(root: Path) -> list[dict]:
    """Return the rows of table "splits" with their names; empty if the study lacks it, as published results do."""
    path = root / "tables" / "splits.parquet"
    rows = read_rows(path) if path.is_file() else []
    return [row | {"name": name} for row, name in zip(rows, name_sets(rows), strict=True)]
