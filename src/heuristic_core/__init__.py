"""How language models generalise: experiments as one workflow, and their results in Python: :func:`open_study`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from heuristic_core.report.results import Results

__all__ = ["open_study"]


def open_study(folder: str | Path) -> Results:
    """The results of a study as one object; see :func:`heuristic_core.experiments.opening.open_study`."""
    from heuristic_core.experiments import opening

    return opening.open_study(folder)
