"""Which figures a list-sorting study can have, what loads with one, and captions."""

import subprocess
import sys
from types import SimpleNamespace

import pytest
from list_sorting_tables import TABLES
from mentions import mentions, raises

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.list_sorting.figures import draw
from heuristic_core.experiments.list_sorting.figures.targets import TARGETS

SETTINGS = Figure()
THREE = SimpleNamespace(conditions=["l2", "no-decay", "adamw"])


@pytest.mark.parametrize("name", TARGETS)
def test_what_is_absent_is_named(name):
    first = TARGETS[name].tables[0]
    with raises(ValueError, name, first):
        draw(name, {table: rows for table, rows in TABLES.items() if table != first}, SETTINGS)
    with raises(ValueError, name):
        draw(name, {table: rows.head(0) for table, rows in TABLES.items()}, SETTINGS)
    assert TARGETS[name].find_missing(name, THREE, TABLES) is None
    assert mentions(TARGETS[name].find_missing(name, THREE, []), name, first)


def test_modes_need_two_conditions():
    study = SimpleNamespace(conditions=["l2"])
    reason = TARGETS["figure_modes"].find_missing("figure_modes", study, TABLES)
    assert mentions(reason, "figure_modes", 2, 1, "`conditions`")


@pytest.mark.slow
def test_only_the_drawn_figure_is_loaded():
    code = (
        "import sys; from heuristic_core.experiments.list_sorting.figures import draw\n"
        "try: draw('figure_modes', {}, *[type('', (), {'width': 7, 'dpi': 200})])\n"
        "except ValueError: pass\n"
        "loaded = {name.rpartition('.')[2] for name in sys.modules if 'list_sorting.figures.' in name}\n"
        "assert 'figure_modes' in loaded and not loaded & {'figure_circuits', 'table_conditions'}, loaded\n"
        "assert not {'torch', 'transformers'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", TARGETS)
def test_every_target_has_a_caption_of_one_paragraph(name, request):
    caption = (request.config.rootpath / "workflow" / "report" / "list_sorting" / f"{name}.rst").read_text().strip()
    assert "\n\n" not in caption and "[" not in caption  # it becomes the text of a Markdown image
