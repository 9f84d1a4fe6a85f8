"""Figures of extractive structures, drawn from the made tables of extractive_tables.py."""

import numpy as np
import pandas as pd
import pytest
from amounts import first_fast
from extractive_tables import CITIES, CORPORA, HOPS, PAPER, SEEDS, SETTINGS, TOKENS, tables
from mentions import mentions, raises

from heuristic_core.experiments.extractive_structures.figures import (
    build_sheets,
    draw,
    figure_grafting,
    figure_ordering,
)
from heuristic_core.experiments.extractive_structures.figures.points import make_rank_marks
from heuristic_core.experiments.extractive_structures.figures.styles import KINDS, PARTS
from heuristic_core.experiments.extractive_structures.figures.targets import TARGETS
from heuristic_core.figures import style
from heuristic_core.figures.save import save
from heuristic_core.figures.targets import target_files

TABLES = tables()


class Drawn(dict):
    """Name -> (figure, marks), each drawn once, when it is first asked for."""

    def __missing__(self, name):
        self[name] = draw(name, TABLES, SETTINGS)
        return self[name]


@pytest.fixture(scope="module")
def drawn():
    return Drawn()


FAST = ("figure_curves", "figure_freezing", "table_answers")


@pytest.mark.parametrize("name", first_fast(*FAST, *sorted({*TARGETS} - {*FAST}), fast=len(FAST)))
def test_marks_are_of_every_seed_and_of_their_mean_and_nothing_is_cut_off(drawn, name):
    figure, marks = drawn[name]
    if figure is None:
        assert name.startswith("table") and set(marks["seeds"]) == {len(SEEDS)}
        return
    assert set(marks["seed"].dropna()) == set(SEEDS) and (name == "figure_core" or marks["seed"].isna().any())
    with style.use_style():
        figure.draw_without_rendering()
        inside, page = figure.get_tightbbox(), figure.bbox_inches
    assert min(inside.x0, inside.y0) >= -0.01 and inside.x1 <= page.width + 0.01 and inside.y1 <= page.height + 0.01


@pytest.mark.slow
@pytest.mark.parametrize("name", first_fast("figure_freezing", *sorted({*TARGETS} - {"figure_freezing"})))
def test_the_same_tables_give_the_same_bytes(name, tmp_path):
    for run in ("one", "two"):
        figure, marks = draw(name, TABLES, SETTINGS)
        save(tmp_path / run, name, figure, marks, SETTINGS, TARGETS[name].title, build_sheets(name, marks))
    for path in target_files(".", name):
        assert (tmp_path / "one" / path).read_bytes() == (tmp_path / "two" / path).read_bytes(), path


def test_where_outputs_were_not_replaced_the_other_panels_are_drawn():
    none = TABLES["extractive_agreement"].assign(r=float("nan"), n=0, reason="194 components")
    _, marks = draw("figure_removal", TABLES | {"extractive_agreement": none}, SETTINGS)
    known = marks.groupby("against")["value"].count()
    assert known["means"] == 0 and known["restored"] > 0


def test_intervals_are_of_possible_ranks_and_equal_seeds_have_none():
    ranks = pd.DataFrame({"part": ["a"] * 3 + ["b"] * 3 + ["c"] * 3, "seed": [1, 2, 3] * 3})
    result = make_rank_marks(ranks.assign(rank=[0.0, 0.1, 2.0, 0.0, 0.0, 0.0, 19.0, 18.0, 12.0]), ["part"], CITIES)
    means = result[result["seed"].isna()].set_index("part")
    assert means.loc["a", "low"] == 0 < means.loc["a", "high"] < CITIES - 1 == means.loc["c", "high"]
    assert means.loc["b", ["low", "high"]].isna().all()


def test_a_panel_for_each_hop_and_corpus(drawn):
    figure, marks = drawn["figure_curves"]
    assert len(figure.axes) == len(HOPS) * len(CORPORA)
    end = marks[marks["seed"].isna() & (marks["part"] == "implications") & (marks["epoch"] == marks["epoch"].max())]
    assert end.groupby("corpus")["value"].mean().to_dict() == pytest.approx(PAPER["implications"])


@pytest.mark.slow
def test_maps_have_a_row_for_each_token_and_sum_heads_of_a_layer(drawn):
    figure, marks = drawn["figure_scores"]
    maps = [ax for ax in figure.axes if len(ax.get_yticks())]
    labels = [[text.get_text() for text in ax.get_yticklabels()] for ax in maps]
    assert list(TOKENS["first"]) in labels and list(TOKENS["second"]) in labels
    cell = marks.query("seed.isna() and hop == 'first' and score == 'informative' and position == 2 and layer == 1")
    assert cell.set_index("kind")["value"].to_dict() == pytest.approx({"head": 4.0, "mlp": 2.0})
    unknown = marks.query("score == 'upstream' and position == 0")
    assert len(unknown) and unknown["value"].isna().all()


def test_the_table_has_the_rank_of_every_order(drawn):
    _, marks = drawn["table_answers"]
    of_orders = marks.query("experiment == 'ordering' and part == 'test implications'").set_index("model")["value"]
    assert of_orders.to_dict() == pytest.approx(PAPER["orders"])
    titles = [sheet.title for sheet in build_sheets("table_answers", marks)]
    assert len(titles) == 6 and all(mentions(title, "95 %") for title in titles)


def test_a_study_of_one_seed_has_no_intervals():
    single_seed = {name: rows[rows["seed"] == 1] for name, rows in TABLES.items()}
    figure, marks = draw("figure_freezing", single_seed, SETTINGS)
    means = marks[marks["seed"].isna()]
    assert means["low"].isna().all() and set(means["seeds"]) == {1}
    assert figure is not None and np.isfinite(means["value"].astype(float)).all()


def test_a_table_that_is_absent_is_named():
    with raises(ValueError, "figure_curves", "extractive_curves"):
        draw("figure_curves", {}, SETTINGS)


@pytest.mark.parametrize("name", ["figure_freezing", "figure_grafting", "figure_localisation", "figure_removal"])
def test_two_seeds_have_no_interval_in_a_figure(drawn, name):
    two = {table: rows[rows["seed"] <= 2] if "seed" in rows else rows for table, rows in TABLES.items()}
    _, marks = draw(name, two, SETTINGS)
    assert marks[["low", "high"]].isna().all(axis=None) and set(marks["seeds"].dropna()) == {2}
    assert drawn[name][1][["low", "high"]].notna().any(axis=None)


def test_every_component_is_drawn_near_the_share_of_its_subnetworks(drawn):
    figure, marks = drawn["figure_core"]
    ax, rows = figure.axes[0], marks.query("hop == 'first' and score == 'informative'")
    (_, *lines), step = ax.lines, 1 / TABLES["extractive_core"]["n"].max()
    for line, kind in zip(lines, KINDS, strict=True):
        of_kind = rows[rows["kind"] == kind]
        np.testing.assert_array_equal(line.get_ydata(), of_kind["value"])
        assert (np.abs(line.get_xdata() - of_kind["share"]) < step / 2).all()


@pytest.mark.slow
def test_scores_of_a_column_share_their_colours_and_pairs_of_relations_are_drawn_once(drawn):
    figure, _ = drawn["figure_scores"]
    limits = [{ax.collections[0].get_clim() for ax in figure.axes[k:16:4]} for k in range(4)]
    assert all(len(of_score) == 1 for of_score in limits)
    figure, marks = drawn["figure_transfer"]
    pairs = marks[marks["seed"].isna() & (marks["score"] == "informative")]
    assert sorted(figure.axes[0].collections[0].get_array().compressed()) == sorted(pairs["value"])


def test_a_colour_has_one_meaning():
    looks = [PARTS["facts"], PARTS["implications"], *KINDS.values()]
    assert len({look.colour for look in looks}) == len(looks)
    for parts in (figure_ordering.PARTS, figure_grafting.PARTS):
        assert not {look.colour for look in parts.values()} & {look.colour for look in KINDS.values()}
    assert figure_ordering.PARTS["facts"].colour == figure_grafting.PARTS["facts"].colour == PARTS["facts"].colour
