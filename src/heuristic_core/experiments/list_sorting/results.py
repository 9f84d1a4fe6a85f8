"""The results of a list-sorting study: its tables and figures, and the members of its archive."""

from functools import partial

from heuristic_core.experiments.list_sorting.figures.targets import TARGETS, missing_requirement
from heuristic_core.experiments.list_sorting.layout import Layout
from heuristic_core.experiments.list_sorting.study import SortingStudy
from heuristic_core.figures.targets import target_files
from heuristic_core.provenance.crate.subject import Subject, describe_target

# Tables of every checkpoint.
CHECKPOINT_TABLES = ("models", "heads", "ablations", "mode_ablations", "numbers", "matrices", "distance")
PRUNING_TABLES = ("subsets", "masks")  # tables of conditions that are pruned


def list_tables(study: SortingStudy) -> list[str]:
    """Return the tables from which figures are drawn and claims are judged."""
    names = ["conditions", "trace", *CHECKPOINT_TABLES]
    names += ["llc"] if any(map(study.sampled_steps, study.conditions)) else []
    names += PRUNING_TABLES if study.pruned_conditions else []
    names += ["stages", "seed_stages", "changes", "movements"]
    names += ["sizes", "core"] if study.pruned_conditions else []
    return [f"sorting_{name}" for name in names]


def target_requirements(study: SortingStudy) -> dict[str, str | None]:
    """Return every figure and table, with the reason why the study cannot have it or None."""
    return {name: missing_requirement(name, list_tables(study), len(study.conditions)) for name in TARGETS}


def lacking(study: SortingStudy) -> dict[str, str]:
    """Return the figures and tables that the study cannot have, with the reasons."""
    return {name: reason for name, reason in target_requirements(study).items() if reason}


def members(study: SortingStudy) -> list[str]:
    """Return the paths of the archive below the study's folder, as its configuration defines them."""
    layout = Layout.from_study(study)
    paths = [layout.table(name) for name in (*list_tables(study), "claims", "provenance")]
    paths += [
        path
        for name, reason in target_requirements(study).items()
        if reason is None
        for path in target_files(layout.root, name)
    ]
    paths += [f"{layout.root}/report.html", f"{layout.root}/study.json"]
    return sorted(path.removeprefix(f"{layout.root}/") for path in paths)


def subject(study: SortingStudy) -> Subject:
    """Return the archive's description of the study."""
    conditions = f"list-sorting transformers under {', '.join(study.conditions)}"
    return Subject(
        run=f"{conditions}: trained, measured, analysed and drawn",
        results=f"Measures of {conditions}: configuration, tables, figures and provenance",
        paper="arXiv:2501.18666",
        describe=partial(describe_target, titles={name: target.title for name, target in TARGETS.items()}),
    )
