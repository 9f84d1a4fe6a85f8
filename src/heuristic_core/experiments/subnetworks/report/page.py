"""The HTML report of one study."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from heuristic_core.data.pairs import name_sets
from heuristic_core.experiments.subnetworks.analysis.chance import list_warnings
from heuristic_core.experiments.subnetworks.analysis.names import label_subsets
from heuristic_core.experiments.subnetworks.analysis.outcomes import find_faulty_cells, format_warning, list_outcomes
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures import build_sheets
from heuristic_core.experiments.subnetworks.figures.targets import TARGETS
from heuristic_core.experiments.subnetworks.report.missing import Gap, collect_gaps
from heuristic_core.experiments.subnetworks.report.subnetworks import Subnetworks, build_subnetworks
from heuristic_core.experiments.subnetworks.report.tiles import build_tiles
from heuristic_core.experiments.subnetworks.report.views import build_view
from heuristic_core.figures.text import format_percent
from heuristic_core.report.study import ReportData
from heuristic_core.study.page import Content, make_page
from heuristic_core.tables.parquet import read_rows, read_table

FINDINGS = Path(__file__).parents[1] / "findings.yaml"


def build_content(data: ReportData, context: Context) -> Content:
    """Return what the report of a study holds beside claims, figures and tables.

    Args:
        data: Data of the report.
        context: Context of the study.
    """
    task = (data.settings or {}).get("task", {})
    heuristic, runs = task.get("heuristic"), load_table(data.root, "runs")
    tiles = build_tiles(data.root, context, heuristic)
    variables = {
        "mid": format_percent(context.mid),
        "high": format_percent(context.high),
        "heuristic": heuristic,
        "is_generated": task.get("source") == "generated",
        "counter_examples": task.get("counter_examples"),
        "has_j": any(tile.label.startswith("J ") for tile in tiles),
        "subject": ", ".join(dict.fromkeys(f"{row['model']} on {row['task']}" for row in data.claims)),
        "context": context,
        "outcomes": None if runs is None else list_outcomes(runs),
        "faulty_cells": [] if runs is None else find_faulty_cells(runs),
        "learning_warnings": list_learning_warnings(data.root),
        "gaps": load_gaps(data.root),
        "subnetworks": load_subnetworks(data.root),
        "splits": load_splits(data.root, context.names),
    }
    return Content(variables, tiles, warn_of_runs(runs, context))


def load_table(root: Path, name: str) -> pd.DataFrame | None:
    """Return a table of the study.

    Args:
        root: The study's folder.
        name: Name of the table.

    Returns:
        The table; None if the study lacks it, as published results do.
    """
    path = root / "tables" / f"{name}.parquet"
    return read_table(path) if path.is_file() else None


def warn_of_runs(runs: pd.DataFrame | None, context: Context) -> dict[str, str]:
    """Return a warning on the pruning runs of each kind that a finding may rest on; kinds that went well are left out.

    Args:
        runs: Table "runs"; None if unknown.
        context: Context of the study.
    """
    if runs is None:
        return {}
    is_last = runs["step"] == context.last
    kinds = {"spread": is_last & runs["sparsity"].isin([context.mid, context.high]), "curve": is_last}
    rows = {kind: runs[selected.fillna(False)] for kind, selected in kinds.items()} | {"all": runs}
    warnings = {kind: format_warning(of_kind) for kind, of_kind in rows.items()}
    return {kind: warning for kind, warning in warnings.items() if warning}


def list_learning_warnings(root: Path) -> list[str]:
    """Return a warning for each full model that may not have learned the task; empty if this is unknown."""
    path = root / "tables" / "chance.parquet"
    return list_warnings(read_rows(path)) if path.is_file() else []


def collect_warnings(roots: Sequence[str | Path]) -> list[str]:
    """Return lines for the terminal: full models that may not have learned, and pruning runs that went wrong."""
    messages = []
    for root in map(Path, roots):
        messages += [f"{root.name}: {sentence}." for sentence in list_learning_warnings(root)]
        runs = load_table(root, "runs")
        if sentence := None if runs is None else format_warning(runs):
            messages.append(f"{root.name}: {sentence} See {root / 'report.html'}")
    return messages


def load_gaps(root: Path) -> list[Gap]:
    """Return the missing values of tables "accuracy" and "effective_size", as far as the study has them."""
    return collect_gaps(*(load_table(root, name) for name in ("accuracy", "effective_size")))


def load_subnetworks(root: Path) -> Subnetworks | None:
    """Return the study's subnetworks; None if it lacks the tables that describe them, as published results do."""
    tables = [load_table(root, name) for name in ("components", "accuracy", "group_accuracy")]
    return None if any(table is None for table in tables) else build_subnetworks(*tables)


def load_splits(root: Path, names: Mapping[str, str]) -> list[dict]:
    """Return the rows of table "splits" with their names; empty if the study lacks it, as published results do.

    Args:
        root: The study's folder.
        names: Subset -> its name in figures, shown before its own.
    """
    path = root / "tables" / "splits.parquet"
    rows = read_rows(path) if path.is_file() else []
    labels = label_subsets({row["subset"] for row in rows if row["subset"] in names}, names)
    return [
        row | {"name": f"{labels[row['subset']]} ({name})" if row["subset"] in labels else name}
        for row, name in zip(rows, name_sets(rows), strict=True)
    ]


render_study_page = make_page(
    "heuristic_core.experiments.subnetworks",
    "subnetworks.html.j2",
    TARGETS,
    build_sheets,
    build_content,
    FINDINGS,
    build_view,
)
