"""The description of a study and its files in an archive."""

from pathlib import Path

from heuristic_core.experiments.subnetworks.config.study import Study
from heuristic_core.experiments.subnetworks.figures.targets import TARGETS
from heuristic_core.provenance.crate.subject import Subject, describe_target

PAPER = "arXiv:2403.03942"


def describe_study(study: Study) -> Subject:
    """Return the description of `study` for its archive."""
    subject = f"{study.model.name} on {study.task.name}"
    return Subject(
        run=f"{subject}: fine-tuned, pruned, analysed and drawn",
        results=f"Subnetworks of {subject}: configuration, tables, subnetworks, figures and provenance",
        paper=PAPER,
        describe=_describe_file,
    )


def _describe_file(path: Path) -> str | None:
    """Return one line on a subnetwork, a figure or a table for reading."""
    if path.name == "subnetwork.json":
        return f"Subnetwork {'/'.join(path.parts[2:-1])}: the components kept, the sparsity reached, the log alphas"
    return describe_target(path, {name: target.title for name, target in TARGETS.items()})
