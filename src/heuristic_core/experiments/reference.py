"""Write the configuration reference of each experiment, a page of docs/.

python -m heuristic_core.experiments.reference docs
"""

import sys
from pathlib import Path

from heuristic_core.config.reference import ReferencePage, render_reference
from heuristic_core.experiments.registry import load_experiments


def list_references() -> list[ReferencePage]:
    """Return the reference pages of the experiments that have one."""
    return [page for experiment in load_experiments() if (page := experiment.make_reference())]


if __name__ == "__main__":
    for page in list_references():
        (Path(sys.argv[1]) / page.page).write_text(render_reference(page))
