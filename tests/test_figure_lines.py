"""Lines and bands of values that were computed before."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from heuristic_core.figures.lines import draw_bands, draw_lines, legend_handles
from heuristic_core.figures.panels import spread_labels
from heuristic_core.figures.roles import Role

LOOKS = {"b": Role("second", "#D55E00", "^", "--"), "a": Role("first", "#0072B2", "o")}


@pytest.fixture
def ax():
    return Figure().subplots()


def rows(**values):
    """One row per step and line, the lines in turn, as tables have them."""
    steps = len(next(iter(values.values())))
    return pd.DataFrame(
        {"step": k, "line": name, "value": values[name][k]} for k in range(steps) for name in values
    ).astype({"step": "Int32"})


def drawn(ax):
    return [(line.get_color(), line.get_xydata().tolist()) for line in ax.lines]


def test_every_value_is_drawn_as_it_is_in_its_look(ax):
    draw_lines(ax, rows(a=[1.0, 2.5], b=[3.0, 0.1], other=[9.0, 9.0]), "step", "value", "line", LOOKS)
    assert drawn(ax) == [("#D55E00", [[0, 3.0], [1, 0.1]]), ("#0072B2", [[0, 1.0], [1, 2.5]])]
    assert [line.get_marker() for line in ax.lines] == ["^", "o"]
    assert [line.is_dashed() for line in ax.lines] == [True, False]
    assert ax.get_legend() is None and not ax.collections  # no band: seaborn has estimated nothing


def test_a_null_breaks_its_own_line_alone(ax):
    draw_lines(ax, rows(a=[1, 2, 3, 4], b=[5, np.nan, 7, 8]), "step", "value", "line", LOOKS)
    pieces = [xy for _, xy in drawn(ax)]
    assert pieces == [[[0, 5]], [[2, 7], [3, 8]], [[0, 1], [1, 2], [2, 3], [3, 4]]]


def test_lines_of_one_look_stay_apart(ax):
    two = pd.concat([rows(a=[1, np.nan, 3]).assign(run="x"), rows(a=[4, 5, 6]).assign(run="y")])
    draw_lines(ax, two, "step", "value", "line", LOOKS, unit="run")
    assert [xy for _, xy in drawn(ax)] == [[[0, 1]], [[2, 3]], [[0, 4], [1, 5], [2, 6]]]


def test_no_rows_draw_nothing(ax, recwarn):
    draw_lines(ax, rows(a=[1.0]), "step", "value", "line", {})
    draw_lines(ax, rows(a=[1.0]).head(0), "step", "value", "line", LOOKS)
    assert not ax.lines and not recwarn.list


def test_bands_are_the_ends_given(ax):
    ends = rows(a=[2.0, 3.0]).assign(low=[1.0, 1.5], high=[4.0, 6.0])
    draw_bands(ax, ends, "step", "line", LOOKS)
    corners = {tuple(point) for band in ax.collections for path in band.get_paths() for point in path.vertices}
    assert corners == {(0, 1.0), (1, 1.5), (0, 4.0), (1, 6.0)}


def test_a_legend_has_every_look():
    assert [(handle.get_label(), handle.get_marker()) for handle in legend_handles(LOOKS)] == [
        ("second", "^"),
        ("first", "o"),
    ]


def test_labels_are_spread_out_in_their_order():
    assert spread_labels([50, 50, 99, 100], 4, high=102).tolist() == [50, 54, 98, 102]
