"""The notebook: as it is stored, and run from its first cell to its last on the reduced study."""

import json
import os
import subprocess
import sys

import nbformat
import pytest
from conftest import ROOT

NOTEBOOK = ROOT / "docs" / "tour.ipynb"
DEFAULT = "../results/miniature"
PROBE = """
assert len(models) == 3 and by_seed["ln_so_swap"].loc[best] >= by_seed["ln_so_swap"].loc[worst]
assert set(side_by_side(models, sentences).iloc[:, 2:].to_numpy().ravel()) <= set(full.labels)
assert figure.axes[0].get_title()
"""


@pytest.fixture(scope="module")
def cells():
    """The source of its code cells, in order."""
    return [
        "".join(cell["source"]) for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"
    ]


def test_it_is_a_notebook_without_outputs():
    notebook = nbformat.read(NOTEBOOK, as_version=nbformat.NO_CONVERT)
    nbformat.validate(notebook)
    assert [cell for cell in notebook.cells if cell.get("outputs") or cell.get("execution_count")] == []


def test_it_opens_the_default_study(cells):
    assert sum(DEFAULT in cell for cell in cells) == 1


@pytest.mark.slow
def test_its_cells_run_in_order(cells, finished):
    """On the reduced study, whose models say nothing of interest. PROBE asks what the reader of the default's sees."""
    code = "\n".join(cells).replace(DEFAULT, str(finished / "results/reduced")) + PROBE
    options = {"cwd": ROOT / "docs", "env": os.environ | {"MPLBACKEND": "agg"}}
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stderr[-3000:]
