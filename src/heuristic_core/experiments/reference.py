"""Write the configuration reference of each experiment, a page of docs/.

python -m heuristic_core.experiments.reference docs
"""

import sys
from pathlib import Path

from heuristic_core.config.reference import Words, reference
from heuristic_core.experiments.registry import experiments


def references() -> list[Words]:
    """Return the reference pages of the experiments that have one."""
    return [experiment.reference() for experiment in experiments() if hasattr(experiment, "reference")]


if __name__ == "__main__":
    for page in references():
        (Path(sys.argv[1]) / page.page).write_text(reference(page))
