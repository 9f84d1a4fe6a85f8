"""What a job does not take over from the environment that it is started in."""

import os

from heuristic_core.common.arithmetic import prepare

# Figures are written to files. Jupyter and Colab export a backend of theirs, which need not be installed here.
DRAWING = {"MPLBACKEND": "agg"}


def prepare_drawing() -> None:
    """Let matplotlib, before it is imported, draw into files whatever the environment asks for."""
    os.environ.update(DRAWING)


def prepare_job(arithmetic: str) -> None:
    """Set this process's environment for a job. Call it before numpy, torch or matplotlib is imported."""
    prepare_drawing()
    prepare(arithmetic)
