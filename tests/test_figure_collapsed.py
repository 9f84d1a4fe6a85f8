"""Collapsed subnetworks in figures: a cross and a legend entry; in tables a count beside n."""

import pandas as pd
import pytest
from amounts import first_fast
from drawn import TABLES
from figure_tables import CONTEXT
from matplotlib.collections import PathCollection
from matplotlib.text import Text
from mentions import mentions

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.figures import build_sheets, draw
from heuristic_core.experiments.subnetworks.figures.condensed import sheets
from heuristic_core.stats.frames import make_frame

MODEL = ["study", "model", "task", "ft_seed", "step", "sparsity", "seed", "repeat"]
POINT = {"ft_seed": 2, "step": 2200, "sparsity": CONTEXT.mid, "seed": 43}


def runs(**where):
    """Table "runs" of the subnetworks that figures show, of which those of `where` collapsed."""
    models = TABLES["accuracy"].dropna(subset="seed")[MODEL].drop_duplicates()
    models = pd.concat([models, models.assign(step=600)])
    collapsed = pd.concat([models[name] == value for name, value in where.items()], axis=1).all(axis=1)
    return make_frame("runs", models.assign(collapsed=collapsed, missed=False, actual_sparsity=models["sparsity"]))


def drawn(name, **where):
    """Its legend's words, the points that are crossed, panel by panel, and its marks."""
    figure, marks = draw(name, TABLES | ({"runs": runs(**where)} if where else {}), Figure(), CONTEXT)
    texts = {text.get_text() for legend in figure.legends for text in legend.findobj(Text)}
    marked = [line for ax in figure.axes for line in ax.lines if line.get_zorder() == 5 and len(line.get_xdata())]
    return texts, marked, marks


@pytest.mark.parametrize("name", first_fast("figure12", "figure02", "figure03"))
def test_a_collapsed_subnetwork_is_crossed_on_every_subset(name):
    point = POINT
    if name == "figure03":  # which shows three subnetworks
        marks = drawn(name)[2]
        point = POINT | {"seed": marks.loc[(marks["ft_seed"] == 2) & (marks["role"] == "lowest"), "seed"].iloc[0]}
    texts, marked, marks = drawn(name, **point)
    assert any(mentions(text, "collapsed") for text in texts)
    (crosses,) = marked
    assert crosses.get_marker() == "x"
    run_marks = marks[marks["collapsed"]]
    assert run_marks[list(POINT)].drop_duplicates().values.tolist() == [list(point.values())]
    assert sorted(crosses.get_ydata()) == sorted(run_marks["accuracy"])


@pytest.mark.parametrize("name", ["figure02", "figure12"])
def test_a_legend_with_every_entry_is_inside_the_figure(name):
    faulty = runs(**POINT)
    figure, _ = draw(name, TABLES | {"runs": faulty.assign(missed=~faulty["collapsed"])}, Figure(), CONTEXT)
    figure.draw_without_rendering()
    (legend,) = figure.legends
    box = legend.get_window_extent()
    assert box.x0 >= 0 and box.x1 <= figure.bbox.width


@pytest.mark.parametrize("name", first_fast("figure02", "figure12"))
def test_a_subnetwork_that_missed_its_target_is_hollow(name):
    collapsed = runs(**POINT)
    missed = collapsed.assign(missed=collapsed["collapsed"], collapsed=False)
    figure, marks = draw(name, TABLES | {"runs": missed}, Figure(), CONTEXT)
    labels = {text.get_text() for legend in figure.legends for text in legend.findobj(Text)}
    plain, _ = draw(name, TABLES, Figure(), CONTEXT)
    assert len(labels) == 1 + len({text.get_text() for legend in plain.legends for text in legend.findobj(Text)})
    run_marks = marks[marks["missed"]]
    assert run_marks[list(POINT)].drop_duplicates().values.tolist() == [list(POINT.values())]
    points = [points for ax in figure.axes for points in ax.collections if isinstance(points, PathCollection)]
    hollow = [points for points in points if (points.get_facecolor() == 1).all()]
    assert sorted(y for points in hollow for y in points.get_offsets()[:, 1]) == sorted(run_marks["accuracy"])


def test_a_collapsed_subnetwork_is_crossed_on_its_curve():
    texts, marked, marks = drawn("figure04", **POINT)
    assert any(mentions(text, "collapsed") for text in texts)
    points = marks[marks["seed"].notna() & (marks["collapsed"] > 0)]
    assert points[["sparsity", "ft_seed", "seed"]].drop_duplicates().values.tolist() == [[CONTEXT.mid, 2, 43]]
    assert sorted(y for line in marked for y in line.get_ydata()) == sorted(points["accuracy"])


def test_a_size_is_crossed_where_most_subnetworks_collapsed():
    texts, marked, marks = drawn("figure06", ft_seed=1, step=600)
    assert any(mentions(text, "collapsed") for text in texts)
    points = marks[(marks["collapsed"] == 1) & marks["value"].notna() & marks["seed"].isna()]
    assert set(points["ft_seed"]) == {1} and set(points["step"]) == {600}
    assert sorted(y for line in marked for y in line.get_ydata() if pd.notna(y)) == sorted(points["value"])
    single_seed = drawn("figure06", ft_seed=1, step=600, seed=42)  # of three
    assert not single_seed[1] and not any(mentions(text, "collapsed") for text in single_seed[0])


@pytest.mark.parametrize("name", first_fast("figure04", "figure06", "figure02", "figure03", "figure12", fast=2))
def test_where_none_collapsed_nothing_is_said(name):
    for where in ({}, {"ft_seed": 3}):
        texts, marked, _ = drawn(name, **where)
        assert not marked and not [text for text in texts if "collapsed" in text]


@pytest.mark.parametrize("name", ["table5", "table7"])
def test_a_table_counts_runs_that_are_left_out(name):
    summary = TABLES["summary"]
    of_cell = (summary["sparsity"] == CONTEXT.mid) & (summary["ft_seed"].isna() | (summary["ft_seed"] == 2))
    marks = draw(name, TABLES | {"summary": summary.assign(left_out=of_cell.astype(int))}, Figure(), CONTEXT)[1]
    counted = (marks["sparsity"] == CONTEXT.mid) & (marks["ft_seed"].isna() | (marks["ft_seed"] == 2))
    assert marks["left_out"].tolist() == counted.astype(int).tolist() and counted.any()
    cells = [row[-1] for sheet in sheets(marks) for row in sheet.rows]
    assert sum(mentions(cell, "(1 faulty") for cell in cells) == counted.sum()


def test_a_table_of_controls_counts_runs_that_are_left_out():
    def words(left_out):
        marks = draw(
            "table_controls", TABLES | {"controls": TABLES["controls"].assign(left_out=left_out)}, Figure(), CONTEXT
        )[1]
        return [cell for sheet in build_sheets("table_controls", marks) for row in sheet.rows for cell in row]

    differing = [cell for cell, other in zip(words(2), words(0), strict=True) if cell != other]
    assert differing and all(mentions(cell, 2) for cell in differing)


@pytest.mark.parametrize(
    ("name", "where", "note"),
    [("table_variance", POINT, " (1 collapsed)"),
     ("table_effective_size", {"ft_seed": 1, "step": 600}, "600 ("),
     ("table_effective_size", POINT, "2200 (1 collapsed)")],
)  # fmt: skip
def test_every_table_of_pruning_seeds_counts_them(name, where, note):
    def words(tables):
        marks = draw(name, tables, Figure(), CONTEXT)[1]
        return [cell for sheet in build_sheets(name, marks) for row in sheet.rows for cell in row]

    assert any(note in cell for cell in words(TABLES | {"runs": runs(**where)}))
    assert not any("collapsed" in cell for cell in words(TABLES))
