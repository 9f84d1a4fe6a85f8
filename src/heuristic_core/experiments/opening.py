"""Open the results of a study of any experiment."""

from pathlib import Path

from heuristic_core.experiments.registry import load_experiment
from heuristic_core.report.results import Results, open_results


def open_study(folder: str | Path) -> Results:
    """Open the results of a study, or of an unpacked archive.

    Only study.json is read immediately; tables are read on access.

    Args:
        folder: Folder of the study's results.

    Returns:
        The results; for the heuristic core an `StudyResults`, which also opens models.

    Raises:
        InputError: If the folder is not that of a study.
    """
    results = open_results(folder)
    return load_experiment(results.settings, results.folder / "study.json").open_results(results)
