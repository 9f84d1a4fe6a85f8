"""The HTML report of one study."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from heuristic_core.data.pairs import name_sets
from heuristic_core.experiments.subnetworks.analysis.chance import list_warnings as unlearned
from heuristic_core.experiments.subnetworks.analysis.outcomes import find_faulty_cells, format_warning, list_outcomes
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures import build_sheets
from heuristic_core.experiments.subnetworks.figures.targets import TARGETS, drawing_module
from heuristic_core.experiments.subnetworks.report.missing import Gap, collect_gaps
from heuristic_core.experiments.subnetworks.report.subnetworks import Subnetworks, build_subnetworks
from heuristic_core.experiments.subnetworks.report.views import build_view
from heuristic_core.report.exhibits import load_exhibit, render_caption
from heuristic_core.report.render import render
from heuristic_core.report.study import study_values
from heuristic_core.tables.parquet import read_rows, read_table


def render_study_page(
    root: Path,
    context: Context,
    settings: dict | None,
    claims: Sequence[dict],
    captions: Mapping[str, str],
    targets: Sequence[str],
    records: Sequence[Mapping],
    made_with: Mapping[str, str],
    absent: Sequence[str] = (),
) -> str:
    """Return the HTML report of the study whose results are under `root`.

    Args:
        root: The study's folder.
        context: The study's context.
        settings: The checked configuration; None for imported results.
        claims: The rows of the table of claims.
        captions: Captions by target.
        targets: The figures and tables to show, in order.
        records: The records of the study's jobs, one for each job.
        made_with: Versions of the software that made the results, by name.
        absent: As in :func:`study_values`.
    """
    exhibits = [
        load_exhibit(
            root,
            name,
            TARGETS[name].title,
            render_caption((name, drawing_module(name)), captions, settings),
            partial(build_sheets, name),
            view=partial(build_view, name),
        )
        for name in targets
    ]
    return render(
        "page.html.j2",
        **study_values(root, settings, claims, exhibits, records, made_with, absent),
        subject=", ".join(dict.fromkeys(f"{row['model']} on {row['task']}" for row in claims)),
        context=context,
        heuristic=(settings or {}).get("task", {}).get("heuristic"),
        **load_run_outcomes(root),
        unlearned=describe_unlearned(root),
        gaps=load_gaps(root),
        subnetworks=load_subnetworks(root),
        splits=load_splits(root),
    )


def load_run_outcomes(root: Path) -> dict:
    """Return the template's values on the study's pruning runs; `outcomes` is None for a study without pruning runs."""
    path = root / "tables" / "runs.parquet"
    if not path.is_file():
        return {"outcomes": None, "warning": None, "troubled": []}
    runs = read_table(path)
    return {"outcomes": list_outcomes(runs), "warning": format_warning(runs), "troubled": find_faulty_cells(runs)}


def describe_unlearned(root: Path) -> list[str]:
    """Return a sentence for each full model that may not have learned the task; empty if it is unknown."""
    path = root / "tables" / "chance.parquet"
    return unlearned(read_rows(path)) if path.is_file() else []


def collect_warnings(roots: Sequence[str | Path]) -> list[str]:
    """Return lines for the terminal: full models that may not have learned, and pruning runs that went wrong."""
    messages = []
    for root in map(Path, roots):
        messages += [f"{root.name}: {sentence}." for sentence in describe_unlearned(root)]
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
