"""The results of a study of any experiment, as one object."""

from pathlib import Path

from heuristic_core.experiments.registry import experiment_of
from heuristic_core.report.results import Results, open_results


def open_study(folder: str | Path) -> Results:
    """The results in `folder`, also an unpacked archive. Of the heuristic core an `OpenedStudy`: models, too.

    Nothing but study.json is read before it is asked for. Raises InputError where `folder` is no study's.
    """
    results = open_results(folder)
    experiment = experiment_of(results.settings, results.folder / "study.json")
    return experiment.opened(results) if hasattr(experiment, "opened") else results
