"""The report of one study of the heuristic core."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from heuristic_core.experiments.heuristic_core.analysis.chance import warnings as unlearned
from heuristic_core.experiments.heuristic_core.analysis.outcomes import outcomes, troubled, warning
from heuristic_core.experiments.heuristic_core.config.context import Context
from heuristic_core.experiments.heuristic_core.figures import sheets_of
from heuristic_core.experiments.heuristic_core.figures.targets import TARGETS, module
from heuristic_core.experiments.heuristic_core.report.missing import Gap, gaps
from heuristic_core.experiments.heuristic_core.report.subnetworks import Subnetworks, subnetworks
from heuristic_core.experiments.heuristic_core.report.views import view_of
from heuristic_core.report.exhibits import caption_of, exhibit
from heuristic_core.report.render import render
from heuristic_core.report.study import study_values
from heuristic_core.tables.parquet import read_rows, read_table
from heuristic_core.tasks.pairs import set_names


def study_page(
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
    """The HTML report of the study whose results are under `root`.

    settings: the checked configuration, None for imported results. claims: rows of the table of claims. captions: by
    target. targets: the figures and tables shown, in order. records: of its jobs, one of each.
    made_with: name -> version, of what the results are made with. absent: as of :func:`study_values`.
    """
    exhibits = [
        exhibit(
            root,
            name,
            TARGETS[name].title,
            caption_of((name, module(name)), captions, settings),
            partial(sheets_of, name),
            view=partial(view_of, name),
        )
        for name in targets
    ]
    return render(
        "page.html.j2",
        **study_values(root, settings, claims, exhibits, records, made_with, absent),
        subject=", ".join(dict.fromkeys(f"{row['model']} on {row['task']}" for row in claims)),
        context=context,
        heuristic=(settings or {}).get("task", {}).get("heuristic"),
        **study_runs(root),
        unlearned=study_unlearned(root),
        gaps=study_gaps(root),
        subnetworks=study_subnetworks(root),
        splits=study_splits(root),
    )


def study_runs(root: Path) -> dict:
    """What became of the study's pruning runs, by the template's names; no outcomes where it pruned nothing itself."""
    path = root / "tables" / "runs.parquet"
    if not path.is_file():
        return {"outcomes": None, "warning": None, "troubled": []}
    runs = read_table(path)
    return {"outcomes": outcomes(runs), "warning": warning(runs), "troubled": troubled(runs)}


def study_unlearned(root: Path) -> list[str]:
    """A sentence for each full model that has not learned the task, or may not have; none where it is not known."""
    path = root / "tables" / "chance.parquet"
    return unlearned(read_rows(path)) if path.is_file() else []


def warnings_of(roots: Sequence[str | Path]) -> list[str]:
    """For the terminal, a line for each full model that may not have learned, and for runs that did not go well."""
    found = []
    for root in map(Path, roots):
        found += [f"{root.name}: {said}." for said in study_unlearned(root)]
        if said := study_runs(root)["warning"]:
            found.append(f"{root.name}: {said} See {root / 'report.html'}")
    return found


def study_gaps(root: Path) -> list[Gap]:
    """Missing values in the tables "accuracy" and "effective_size", as far as the study has them."""
    paths = (root / "tables" / f"{name}.parquet" for name in ("accuracy", "effective_size"))
    return gaps(*(read_table(path) if path.is_file() else None for path in paths))


def study_subnetworks(root: Path) -> Subnetworks | None:
    """Its subnetworks; None where the study does not have the tables that describe them, as published ones."""
    paths = [root / "tables" / f"{name}.parquet" for name in ("components", "accuracy", "group_accuracy")]
    return subnetworks(*map(read_table, paths)) if all(path.is_file() for path in paths) else None


def study_splits(root: Path) -> list[dict]:
    """Rows of table "splits" with their names; none where the study does not have it, as published ones."""
    path = root / "tables" / "splits.parquet"
    rows = read_rows(path) if path.is_file() else []
    return [row | {"name": name} for row, name in zip(rows, set_names(rows), strict=True)]
