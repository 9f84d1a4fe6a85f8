"""Experiments on how language models generalise, as one workflow. :func:`open_study` reads results in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from heuristic_core.report.results import Results

__all__ = ["open_study"]


def open_study(folder: str | Path) -> Results:
    """Open the results of a study; see :func:`heuristic_core.experiments.opening.open_study`."""
    from heuristic_core.experiments import opening

    return opening.open_study(folder)
