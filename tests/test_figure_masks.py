"""Figures of random masks, and of subnetworks between two learned subnetworks."""

import pytest
from drawn import TABLES, settings
from figure_mask_tables import HEADS
from figure_tables import CONTEXT, FT_SEEDS
from matplotlib.patches import Rectangle
from mentions import mentions, raises

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.figures import build_sheets, draw
from heuristic_core.stats.frames import make_frame

BELOW = ["", "ID", "entailment", " ", "J"]


def outlined(ax):
    return [p.get_xy() for p in ax.patches if isinstance(p, Rectangle) and not p.get_fill()]


def test_only_what_is_significant_has_a_number_and_what_is_counter_heuristic_an_outline(drawn):
    figure, marks = drawn["figure_counter_heads"]
    rows = len(set(marks["row"]))
    assert len(marks) == len(FT_SEEDS) * len(HEADS) * rows
    for ax in figure.axes[: len(FT_SEEDS)]:
        texts = [text.get_text() for text in ax.texts if text.get_text()]
        assert texts[0] == "38" and len(texts) == 1 + len(HEADS) - 1  # and on ID all numbers that are known
        assert [label.get_text() for label in ax.get_xticklabels()] == ["0.0", "0.1", "0.2", "1.0", "1.1", "1.2"]
        names = [label.get_text() for label in ax.get_yticklabels()]
        assert names[-5:] == BELOW and len(names) == rows + 2
        assert outlined(ax) == [(5, names.index("ln_prep"))]
    assert len(marks[marks["counter"] == True]) == len(FT_SEEDS)  # noqa: E712 (nulls)


def test_all_effects_on_id_have_numbers_and_those_on_entailment_a_row():
    counter_heads = TABLES["counter_heads"].assign(beta=-2.37, q=0.5)
    figure, marks = draw("figure_counter_heads", TABLES | {"counter_heads": counter_heads}, Figure(), CONTEXT)
    assert [text.get_text() for text in figure.axes[0].texts].count("−2") == len(HEADS)  # of ID alone
    assert {"ID", "entailment", "J"} <= set(marks["row"])
    entailment_marks = marks[(marks["row"] == "entailment") & (marks["name"] == "1.2")]
    assert entailment_marks["counter"].isna().all() and len(entailment_marks) == len(FT_SEEDS)


def test_a_figure_without_counter_heuristic_heads_has_no_outline_in_its_legend(drawn):
    assert len(drawn["figure_counter_heads"][0].legends) == 1
    counter_heads = TABLES["counter_heads"].assign(counter=False)
    figure, _ = draw("figure_counter_heads", TABLES | {"counter_heads": counter_heads}, Figure(), CONTEXT)
    assert not figure.legends and not any(map(outlined, figure.axes))


def test_chosen_subsets_are_in_their_order():
    figure, _ = draw("figure_counter_heads", TABLES, Figure(subsets=["cn_if", "in_domain", "ln_prep"]), CONTEXT)
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["cn_if", "ln_prep", *BELOW]
    with raises(ValueError, "figure_counter_heads", "nowhere"):
        draw("figure_counter_heads", TABLES, Figure(subsets=["nowhere"]), CONTEXT)


@pytest.mark.slow
def test_a_run_without_heads_outside_its_core_says_so():
    reason = "no sound mid-sparsity subnetwork keeps a head outside the core"
    mask_tests = TABLES["mask_tests"].assign(p=None, reason=reason)
    tables = TABLES | {"mask_tests": mask_tests, "counter_heads": TABLES["counter_heads"].head(0)}
    figure, marks = draw("figure_counter_heads", tables, settings("figure_counter_heads"), CONTEXT)
    assert [" ".join(ax.texts[0].get_text().split()) for ax in figure.axes] == [reason] * len(FT_SEEDS)
    assert marks.empty


@pytest.mark.parametrize(("name", "table"), [("figure_mediation", "mediation"), ("figure_paths", "paths")])
def test_runs_without_core_heads_are_drawn_without_marks(name, table):
    _, marks = draw(name, TABLES | {table: make_frame(table, [])}, Figure(), CONTEXT)
    assert marks.empty


def test_the_path_and_single_components_are_drawn_and_a_run_without_a_path_says_why(drawn):
    figure, marks = drawn["figure_interpolation"]
    path, single, none = figure.axes
    assert [label.get_text() for label in path.get_xticklabels()] == ["lowest", "+ 1.2", "− 0.1 = highest"]
    assert [list(line.get_ydata()) for line in path.lines] == [[10, 45, 60]] * 4
    assert [label.get_text() for label in single.get_xticklabels()] == ["1.2"]
    drawn_values = {float(line.get_ydata()[0]) for line in single.lines if line.get_marker() in "^v"}
    assert drawn_values == {35.0, -40.0} and mentions(single.get_ylabel(), "J")
    assert none.texts[0].get_text().startswith("no path") and not none.lines
    assert set(marks["role"]) == {"H", "M", "path", "with", "without"}


def test_learned_subnetworks_are_beside_the_ceiling(drawn):
    _, marks = drawn["table_mask_fit"]
    first, second = build_sheets("table_mask_fit", marks)
    assert mentions(first.title, "seed 1", 12, 6)
    assert first.rows[1] == ["OOD, mean", "15.0", "7.5", "0.75", "0.90", "0.80", ""]
    assert first.rows[0] == ["ID, mean", "0.0", "1.2", "", "", "0.80", "all masks have the same value"]
    assert [row[0] for row in first.rows] == ["ID, mean", "OOD, mean", "J", "ln_prep"]
    assert second.rows == [["", "no sound mid-sparsity subnetwork keeps a head"]]
    _, marks = draw("table_mask_fit", {"mask_fit": TABLES["mask_fit"].assign(r2=-3.0, reason=None)}, Figure(), CONTEXT)
    first = build_sheets("table_mask_fit", marks)[0]
    assert first.rows[1] == ["OOD, mean", "15.0", "7.5", "below 0", "0.90", "below 0"]
