"""Figures of the list-sorting experiment, drawn from the made tables of list_sorting_tables.py."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from amounts import first_fast
from figure_tables import filter_rows
from list_sorting_tables import CONDITIONS, DIVERGED, LAST, NO_FALL, SEEDS, TABLES, copier
from matplotlib.collections import LineCollection
from matplotlib.text import Text
from mentions import mentions

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.list_sorting.figures import build_sheets, draw
from heuristic_core.experiments.list_sorting.figures.styles import HEADS
from heuristic_core.experiments.list_sorting.figures.targets import TARGETS
from heuristic_core.figures import style
from heuristic_core.figures.save import save
from heuristic_core.figures.targets import target_files
from heuristic_core.stats.means import mean_interval

SETTINGS = Figure()


class Drawn(dict):
    """Name -> (figure, marks), each drawn once, when it is first asked for."""

    def __missing__(self, name):
        self[name] = draw(name, TABLES, SETTINGS)
        return self[name]


DRAWN = Drawn()
WITHOUT_LLC = draw("figure_development", {k: v for k, v in TABLES.items() if k != "sorting_llc"}, SETTINGS)


def reduced(**values):
    """The tables with only the rows that have these values, where a table has the column."""
    return {name: filter_rows(rows, **{k: v for k, v in values.items() if k in rows}) for name, rows in TABLES.items()}


def texts(figure):
    return [text.get_text() for text in figure.findobj(Text)]


def saved(folder, name, figure, marks):
    save(folder, name, figure, marks, SETTINGS, TARGETS[name].title, build_sheets(name, marks))


def whole(figure):
    """Whether nothing of a figure is cut off."""
    if figure is None:
        return True
    with style.use_style():  # ticks that are made now have its sizes
        figure.draw_without_rendering()  # saving has left extents of another resolution
        drawn_on, page = figure.get_tightbbox(), figure.bbox_inches
    inside = drawn_on.x1 <= page.width + 0.01 and drawn_on.y1 <= page.height + 0.01
    return inside and min(drawn_on.x0, drawn_on.y0) >= -0.01


@pytest.mark.slow
@pytest.mark.parametrize("name", first_fast("figure_modes", *sorted({*TARGETS} - {"figure_modes"}), fast=1))
def test_the_same_tables_give_the_same_bytes_and_nothing_is_cut_off(name, tmp_path, recwarn):
    saved(tmp_path / "one", name, *DRAWN[name])
    saved(tmp_path / "two", name, *draw(name, TABLES, SETTINGS))
    firsts, seconds = ([tmp_path / run / path for path in target_files(".", name)] for run in ("one", "two"))
    for first, second in zip(firsts, seconds, strict=True):
        assert first.read_bytes() == second.read_bytes(), first.name
    assert sorted((tmp_path / "one").rglob("*.*")) == sorted(firsts)
    assert not [str(warning.message) for warning in recwarn if issubclass(warning.category, UserWarning)]
    assert whole(DRAWN[name][0])


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("few", first_fast({"seed": 1, "condition": "no-decay"}, {"seed": 1}, {"condition": "l2"}))
def test_one_seed_and_one_condition_are_enough(name, few):
    tables = reduced(**few)
    _, marks = draw(name, tables, SETTINGS)
    sampled = set(tables["sorting_llc"]["condition"]) if name == "figure_development" else set()
    assert len(marks) and set(marks["condition"]) == (sampled or set(tables["sorting_models"]["condition"]))
    if "seed" in few and "low" in marks:
        of_means = marks[marks["panel"] != "stage"] if "panel" in marks else marks
        assert of_means[["low", "high"]].isna().all(axis=None)


@pytest.mark.parametrize("name", ["figure_circuits", "figure_effects"])  # first and last seed side by side
def test_a_condition_may_have_one_seed_where_others_have_more(name):
    others = {table: rows[rows["condition"] != "l2"] for table, rows in TABLES.items()}
    mixed = {table: pd.concat([rows, others[table]]) for table, rows in reduced(seed=1, condition="l2").items()}
    seeds = draw(name, mixed, SETTINGS)[1].groupby("condition")["seed"].nunique().to_dict()
    assert seeds.pop("l2") == 1 and set(seeds.values()) == {2}


def with_heads(count):
    """Tables of models with 1 or 3 heads: the second is left out, or it is there once more."""
    rows = reduced(seed=1, condition="l2")
    for name in ("sorting_heads", "sorting_matrices", "sorting_distance"):
        table = rows[name]
        again = table[table["head"] == 1].assign(head=2)
        rows[name] = pd.concat([table, again], ignore_index=True) if count == 3 else table[table["head"] == 0]
    table = rows["sorting_ablations"]
    again = table[table["ablated"] == "1"].assign(ablated="2")
    rows["sorting_ablations"] = pd.concat([table, again]) if count == 3 else table[table["ablated"].isin(["", "0"])]
    if count == 1:
        table = rows["sorting_mode_ablations"]
        rows["sorting_mode_ablations"] = table[table["ablated"] == "0"]
        models = rows["sorting_models"]
        rows["sorting_models"] = models.assign(splitting=np.nan, overlap=np.nan, folded_opposite_sign=np.nan)
    return rows


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", first_fast(*(quick := ("figure_ablation", "figure_development")), *sorted({*TARGETS} - {*quick}), fast=2)
)
@pytest.mark.parametrize(("heads", "known"), [(1, {"copies"}), (3, {"copies", "suppresses", "other", "all"})])
def test_models_with_one_head_and_with_three(name, heads, known):
    figure, marks = draw(name, with_heads(heads), SETTINGS)
    if name == "figure_ablation":
        known = known | {"all copying", "all suppression"}
    assert len(marks) and ("role" not in marks or set(marks["role"]) <= known)
    assert whole(figure)
    if name == "figure_development":  # one head neither overlaps nor splits
        assert set(filter_rows(marks, panel="modes").dropna(subset="value")["curve"]) == (
            {"suppression"} if heads == 1 else {"overlap", "splitting", "suppression"}
        )
    if name == "figure_ablation":
        assert set(marks["role"]) == known


def points_of(line):
    """The points of a line or of markers, as (x, y)."""
    values = np.asarray(line.get_xydata(), float)
    return {(round(x, 9), round(y, 9)) for x, y in values if np.isfinite([x, y]).all()}


def points(ax):
    """All points of the lines and markers in a panel."""
    return set().union(*map(points_of, ax.lines))


def panel(figure, row, column, columns):
    return figure.axes[row * columns + column]


def test_development_draws_seeds_and_means_and_a_null_leaves_a_gap():
    figure, marks = WITHOUT_LLC
    losses = filter_rows(TABLES["sorting_models"], condition="no-decay", step=100)["loss"]
    mean = filter_rows(marks, condition="no-decay", curve="loss", step=100, seed=None)
    assert mean["value"].item() == pytest.approx(losses.mean()) and mean["seeds"].item() == 3
    wanted = filter_rows(marks, condition="no-decay", curve="loss").round(9)
    assert points(panel(figure, 1, 0, 2)) == set(zip(wanted["step"], wanted["value"], strict=True))
    figure, marks = DRAWN["figure_development"]
    assert not filter_rows(marks, step=0)["panel"].isin(["stage"]).any() and (marks["step"].dropna() > 0).all()
    # seed 3 has no raw LLC at step 100: its line does not reach from step 10 to the last
    values = filter_rows(TABLES["sorting_llc"], seed=3, estimator="raw")["value"].round(9).tolist()
    assert np.isnan(values[1])
    lines = [set(np.round(line.get_ydata(), 9)) for line in panel(figure, 0, 2, 3).lines]
    assert not [line for line in lines if {values[0], values[2]} <= line]
    assert [line for line in lines if values[0] in line] and [line for line in lines if values[2] in line]
    assert filter_rows(marks, curve="raw", step=100, seed=3)["reason"].tolist() == [DIVERGED]
    mean = filter_rows(marks, curve="raw", step=100, seed=None)
    known = filter_rows(TABLES["sorting_llc"], step=100, estimator="raw")["value"].dropna()
    assert (mean["value"].item(), mean["seeds"].item()) == (pytest.approx(known.mean()), 2)


def test_development_has_a_bar_for_each_stage_above_the_curves():
    figure, marks = WITHOUT_LLC

    def bars(row):
        return [(patch.get_x(), patch.get_x() + patch.get_width()) for patch in panel(figure, row, 0, 2).patches]

    assert sorted(bars(0)) == [(10, 32), (32, 100), (100, 200)] and sorted(bars(1)) == [(10, 32), (32, 100)]
    for ax in figure.axes:
        lowest = min((patch.get_y() for patch in ax.patches), default=1)
        data = np.array([max(points(ax), key=lambda point: point[1])]) if points(ax) else np.empty((0, 2))
        assert (ax.transAxes.inverted().transform(ax.transData.transform(data))[:, 1] < lowest).all()
        tops = sorted((patch.get_y(), patch.get_y() + patch.get_height()) for patch in ax.patches)
        assert all(one[1] < two[0] for one, two in pairwise(tops))  # none covers another
    gone = filter_rows(marks, condition="no-decay", curve="specialisation start")
    assert gone["reason"].tolist() == [NO_FALL] and gone["step"].isna().all()


def test_development_says_where_there_is_no_llc():
    assert len(DRAWN["figure_development"][0].axes) == 3 and set(DRAWN["figure_development"][1]["condition"]) == {"l2"}
    l2_only = reduced(condition="l2")
    failed = l2_only["sorting_llc"].assign(value=np.nan)
    figure, _ = draw("figure_development", l2_only | {"sorting_llc": failed}, SETTINGS)
    assert len(panel(figure, 0, 2, 3).texts) == 1


def test_circuits_are_centred_rows_in_the_units_of_their_scale():
    figure, marks = DRAWN["figure_circuits"]
    (image,) = figure.axes[
        4
    ].images  # of numbers-20, seed 1: QK 0, QK 1, OV 0, OV 1 below each other; steps 0, 32 and the last
    tokens, pitch = 21, 22
    for line, (circuit, head) in enumerate((("qk", 0), ("qk", 1), ("ov", 0), ("ov", 1))):
        where = {"condition": "numbers-20", "seed": 1, "step": 32, "head": head, "circuit": circuit}
        values = np.stack(filter_rows(TABLES["sorting_matrices"], **where)["values"].tolist()).astype(float)
        values -= values.mean(1, keepdims=True)
        circuit_marks = filter_rows(marks, **where)
        drawn = image.get_array()[line * pitch :][:tokens, pitch : pitch + tokens]
        np.testing.assert_allclose(drawn * circuit_marks["unit"].iloc[0], values, atol=1e-12)
        written = np.array([row.split(" ") for row in circuit_marks["values"]], float)
        np.testing.assert_allclose(written, values, rtol=1e-3)
    assert set(marks["seed"]) == {SEEDS[0], SEEDS[-1]}
    assert marks.loc[marks["circuit"] == "qk", "unit"].nunique() == 1
    assert (filter_rows(marks, circuit="ov").groupby(["condition", "seed", "step"])["unit"].nunique() == 1).all()
    last = filter_rows(marks, circuit="ov", condition="l2", seed=1, step=LAST)
    ov, unit = [row.split(" ") for row in last["values"]], last["unit"].iloc[0]
    assert unit == pytest.approx(np.percentile(np.abs(np.array(ov, float)), 99), rel=1e-3)
    assert {ax.get_aspect() for ax in figure.axes if ax.images} == {1.0}  # maps are square
    titles = [text for text in texts(figure) if any(mentions(text, name) for name in CONDITIONS)]
    models = [(name, seed) for name in CONDITIONS for seed in (SEEDS[0], SEEDS[-1])]
    assert all(mentions(title, *model) for title, model in zip(titles, models, strict=True))


def test_modes_have_the_intervals_of_their_means_and_tell_conditions_apart():
    figure, marks = DRAWN["figure_modes"]
    seeds = filter_rows(TABLES["sorting_models"], condition="numbers-20", step=LAST)["splitting"]
    point = filter_rows(marks, condition="numbers-20", measure="splitting", seed=None).iloc[0]
    assert point[["value", "low", "high"]].tolist() == pytest.approx(mean_interval(seeds, (0, 1)))
    whiskers = [c for c in figure.axes[0].collections if isinstance(c, LineCollection)]
    ends = {tuple(np.round(line[:, 1], 9)) for c in whiskers for line in c.get_segments()}
    assert tuple(np.round([point["low"], point["high"]], 9).tolist()) in ends and len(ends) == len(CONDITIONS)
    assert {*CONDITIONS} <= {*texts(figure)}
    means = [line for line in figure.axes[0].lines if line.get_marker() in ("o", "^", "s")]
    assert len({round(line.get_xydata()[0, 0], 6) for line in means}) == len(CONDITIONS)  # two of them have one gap
    assert len({line.get_color() for line in means}) == len(CONDITIONS)


@pytest.mark.parametrize("name", ["figure_modes", "figure_ablation"])
def test_two_seeds_have_no_interval_in_a_figure(name):
    two = {table: rows[rows["seed"] <= 2] if "seed" in rows else rows for table, rows in TABLES.items()}
    figure, marks = draw(name, two, SETTINGS)
    assert marks[["low", "high"]].isna().all(axis=None) and set(marks["seeds"].dropna()) == {2}
    whiskers = [line for c in figure.axes[0].collections for line in c.get_segments() if len(line)]
    assert not whiskers and DRAWN[name][1][["low", "high"]].notna().any(axis=None)


def test_heads_are_compared_by_what_they_do():
    _, marks = DRAWN["figure_ablation"]
    table = filter_rows(TABLES["sorting_ablations"], condition="l2", step=LAST)
    changes = {}
    for seed in SEEDS:
        whole = filter_rows(table, seed=seed, kind="none")["loss"].item()
        ablated = filter_rows(table, seed=seed, kind="mean", ablated=str(copier(seed)))["loss"].item()
        changes[seed] = ablated - whole
    copying_marks = filter_rows(marks, condition="l2", role="copies", kind="mean", measure="loss")
    assert copying_marks.dropna(subset="seed").set_index("seed")["value"].to_dict() == pytest.approx(changes)
    mean = copying_marks[copying_marks["seed"].isna()].iloc[0]
    assert mean[["value", "low", "high"]].tolist() == pytest.approx(mean_interval([*changes.values()]))
    assert set(marks["role"]) == {"copies", "suppresses", "all", "all copying", "all suppression"}
    figure, _ = DRAWN["figure_ablation"]
    drawn = {round(x, 9) for x, _ in points(panel(figure, 0, 0, 4))}
    assert {round(x, 9) for x in changes.values()} | {round(mean["value"], 9)} <= drawn


def test_effects_are_drawn_for_the_first_and_the_last_seed():
    figure, marks = DRAWN["figure_effects"]
    assert set(marks["seed"]) == {SEEDS[0], SEEDS[-1]} and len(figure.axes) == 4 * len(CONDITIONS)
    rows = filter_rows(TABLES["sorting_numbers"], condition="no-decay", seed=SEEDS[-1], step=LAST)
    for column, ax in (("effect", panel(figure, 1, 2, 4)), ("other_effect", panel(figure, 1, 3, 4))):
        drawn = {line.get_color(): points_of(line) for line in ax.lines[1:]}
        for head in (0, 1):
            head_rows = filter_rows(rows, head=head)
            wanted = set(zip(head_rows["number"], head_rows[column].round(9), strict=True))
            assert drawn[HEADS["copies" if head == copier(SEEDS[-1]) else "suppresses"].colour] == wanted


@pytest.mark.slow
def test_attention_is_of_the_last_step_and_broken_where_no_pair_has_a_distance():
    figure, marks = DRAWN["figure_attention"]
    table = filter_rows(TABLES["sorting_distance"], condition="l2", step=LAST, keys="list", distance=1)
    of_seeds = [filter_rows(table, seed=seed, head=copier(seed))["attention"].item() for seed in SEEDS]
    mean = filter_rows(marks, condition="l2", role="copies", keys="list", distance=1, seed=None)
    assert mean["value"].item() == pytest.approx(np.mean(of_seeds))
    right = points(panel(figure, 0, 1, 2)) - {(0, 0), (0, 1)}  # the line at distance 0
    assert max(x for x, _ in right) == 0 and min(x for x, _ in right) == -11
    gap = filter_rows(marks, keys="sorted", distance=1)
    assert len(gap) and gap["value"].isna().all() and (gap["seeds"].dropna() == 0).all()


def test_conditions_are_counted_by_mode():
    _, marks = DRAWN["table_conditions"]
    row = filter_rows(marks, condition="numbers-20").iloc[0]
    losses = filter_rows(TABLES["sorting_models"], condition="numbers-20", step=LAST)["loss"]
    assert row[["loss", "loss_low", "loss_high"]].tolist() == pytest.approx(mean_interval(losses, (0, np.inf)))
    assert (row["mode_splitting"], row["mode_suppression"], row["models"]) == (0, 3, 3)
    assert filter_rows(marks, condition="l2")["mode_splitting"].item() == 3
    sorting, heads = build_sheets("table_conditions", marks)
    assert [cells[0] for cells in sorting.rows] == [*CONDITIONS] == [cells[0] for cells in heads.rows]
    assert dict(zip(heads.columns, heads.rows[0], strict=True))["mode: splitting"] == "3 of 3"
    alone = TABLES["sorting_models"].assign(splitting=np.nan, overlap=np.nan)
    _, marks = draw("table_conditions", TABLES | {"sorting_models": alone}, SETTINGS)
    assert (marks.filter(like="mode_") == 0).all(axis=None) and marks["splitting"].isna().all()
    assert (marks["splitting_seeds"] == 0).all()
