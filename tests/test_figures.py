"""Figures drawn from the synthetic tables of figure_tables.py."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from figure_tables import CONTEXT, CORE, FT_SEEDS, MATCHED, SUBSETS, build

from heuristic_core.config.analysis import Figure
from heuristic_core.figures import draw
from heuristic_core.figures.panels import spread_out
from heuristic_core.figures.save import save
from heuristic_core.figures.table3 import to_markdown
from heuristic_core.figures.targets import TARGETS, outputs

SHORT = Figure(subsets=["in_domain", "ln_prep", "cn_if"])


@pytest.fixture(scope="module")
def tables():
    return build()


@pytest.fixture(scope="module")
def drawn(tables):
    """Every target drawn once: name -> (figure, marks)."""
    return {name: draw(name, tables, settings(name), CONTEXT) for name in TARGETS}


def settings(name):
    return SHORT if name in ("figure03", "table3") else Figure()


def only(rows, **values):
    for column, value in values.items():
        rows = rows[rows[column].isna() if value is None else rows[column] == value]
    return rows


def texts(figure):
    from matplotlib.text import Text

    return [text.get_text() for text in figure.findobj(Text)]


@pytest.mark.parametrize("name", TARGETS)
def test_every_fine_tuning_seed_is_shown_by_itself(drawn, name):
    figure, marks = drawn[name]
    assert set(marks["ft_seed"]) == set(FT_SEEDS)
    if figure is not None:
        assert all(any(f"fine-tuning seed {seed}" in text for text in texts(figure)) for seed in FT_SEEDS)


@pytest.mark.parametrize("name", TARGETS)
def test_the_same_tables_give_the_same_bytes_and_nothing_is_cut_off(tables, drawn, name, tmp_path, recwarn):
    save(tmp_path / "one", name, *drawn[name], settings(name))
    save(tmp_path / "two", name, *draw(name, tables, settings(name), CONTEXT), settings(name))
    firsts, seconds = ([tmp_path / run / path for path in outputs(".", name)] for run in ("one", "two"))
    for first, second in zip(firsts, seconds, strict=True):
        assert first.read_bytes() == second.read_bytes(), first.name
    assert sorted((tmp_path / "one").rglob("*.*")) == sorted(firsts)
    assert not [str(warning.message) for warning in recwarn if issubclass(warning.category, UserWarning)]
    if (figure := drawn[name][0]) is not None:
        figure.draw_without_rendering()  # saving has left extents of another resolution
        drawn_on, page = figure.get_tightbbox(), figure.bbox_inches
        assert min(drawn_on.x0, drawn_on.y0) >= -0.01
        assert drawn_on.x1 <= page.width + 0.01 and drawn_on.y1 <= page.height + 0.01


def test_marks_keep_all_digits(tables, tmp_path):
    one_third = tables["core"].head(1).assign(value=100 / 3)
    save(tmp_path, "table3", None, draw("table3", tables, SHORT, CONTEXT)[1].assign(accuracy=100 / 3), SHORT)
    assert (pd.read_csv(tmp_path / "tables" / "table3.csv")["accuracy"] == one_third["value"].iloc[0]).all()


def test_figure02_shows_every_subnetwork_beside_the_full_model(tables, drawn):
    figure, marks = drawn["figure02"]
    assert len(only(marks, seed=None)) == len(FT_SEEDS) * len(SUBSETS)
    assert len(marks.dropna(subset="seed")) == len(FT_SEEDS) * 2 * 12 * len(SUBSETS)
    where = {"ft_seed": 2, "step": 2200, "sparsity": 0.35, "seed": 47, "subset": "cn_if"}
    assert only(marks, **where)["accuracy"].item() == only(tables["accuracy"], **where)["accuracy"].item()
    labels = [label.get_text() for label in figure.axes[-1].get_xticklabels()]
    groups = [SUBSETS[label][0] for label in labels]
    assert set(labels) == set(SUBSETS) and groups == sorted(groups, key=["id", "ood", "ood-entailment"].index)


def test_figure02_draws_violins_only_where_there_is_a_shape(tables):
    from matplotlib.collections import PolyCollection

    accuracy = tables["accuracy"].copy()
    few = accuracy["seed"].notna() & (accuracy["subset"] == "ln_rel")
    accuracy.loc[few, "accuracy"] = np.where(accuracy.loc[few, "seed"] < 46, 10.0, 20.0)  # two distinct values
    short = Figure(subsets=["in_domain", "ln_rel", "ln_prep"])
    figure, _ = draw("figure02", {"accuracy": accuracy}, short, CONTEXT)
    violins = [sum(isinstance(c, PolyCollection) for c in ax.collections) for ax in figure.axes]
    assert violins[0] == violins[2] == 2  # at mid sparsity, of three subsets


def test_a_missing_bar_is_a_gap(tables):
    accuracy = tables["accuracy"].copy()
    where = {"ft_seed": 1, "sparsity": 0.35, "seed": 45, "subset": "ln_prep"}
    accuracy.loc[only(accuracy, **where).index, "accuracy"] = np.nan
    figure, marks = draw("figure03", {"accuracy": accuracy}, SHORT, CONTEXT)
    assert only(marks, **where)["accuracy"].isna().all()
    heights = {bars.get_label(): [bar.get_height() for bar in bars] for bars in figure.axes[0].containers}
    assert list(heights) == ["full model", *map(str, CONTEXT.seeds)]
    assert np.isnan(heights["45"][1])
    assert heights["45"][2] == only(tables["accuracy"], **where | {"subset": "cn_if"})["accuracy"].item()


def test_figure04_averages_over_the_seeds_of_the_curve_and_from_the_full_model_on(tables, drawn):
    marks = drawn["figure04"][1]
    cell = only(tables["accuracy"], ft_seed=1, sparsity=0.2, group="ood").groupby("seed")["accuracy"].mean()
    point = only(marks, ft_seed=1, sparsity=0.2, group="ood").iloc[0]
    assert len(cell) == 3
    assert point[["accuracy", "lowest", "highest"]].tolist() == pytest.approx([cell.mean(), cell.min(), cell.max()])
    assert only(marks, sparsity=0.35)["models"].eq(3).all()  # not the twelve of the spread
    full = only(tables["accuracy"], ft_seed=1, seed=None, group="id")["accuracy"].item()
    assert only(marks, ft_seed=1, sparsity=0.0, group="id")["accuracy"].item() == full


def test_figure05_counts_heads_by_cell_and_finds_the_core(drawn):
    figure, marks = drawn["figure05"]
    assert only(marks, ft_seed=1, mid=12, high=12)["heads"].item() == len(CORE[1])
    assert only(marks, ft_seed=2, mid=12, high=12).empty
    assert marks.groupby("ft_seed")["heads"].sum().eq(32).all()  # MLPs are not heads
    assert {"core", "no core head"} <= set(texts(figure))


def test_figure09_has_a_bar_for_every_core_head_and_one_for_the_others(tables, drawn):
    figure, marks = drawn["figure09"]
    assert only(marks, ft_seed=1)["bar"].unique().tolist() == ["0.2", "1.3", "2.1", "3.0", "mean of other heads"]
    assert marks.groupby(["ft_seed", "bar"])["share"].sum().tolist() == pytest.approx([1] * 6)
    others = only(tables["attention"], ft_seed=1, category="next")
    others = others[~others["component"].isin(CORE[1])]
    mean = only(marks, ft_seed=1, bar="mean of other heads", category="next").iloc[0]
    assert (mean["heads"], mean["share"]) == (28, pytest.approx(others["share"].mean()))
    assert only(marks, ft_seed=2)["bar"].unique().tolist() == ["mean of other heads"]
    assert "fine-tuning seed 2: no core heads" in texts(figure)


def test_figure10_shows_ood_subsets_and_group_means(tables, drawn):
    figure, marks = drawn["figure10"]
    at_end = only(marks, ft_seed=2, step=2200)
    subsets = at_end.dropna(subset="subset")
    assert set(subsets["subset"]) == {subset for subset, (group, _) in SUBSETS.items() if group == "ood"}
    assert only(at_end, subset=None, group="ood")["accuracy"].item() == pytest.approx(subsets["accuracy"].mean())
    assert {*subsets["subset"], "ID, mean", "OOD, mean", "OOD-entailment, mean"} <= set(texts(figure))


def test_figure13_shows_counts_and_correlation(tables, drawn):
    figure, marks = drawn["figure13"]
    assert len(marks) == len(FT_SEEDS) * 2 * 32
    core = only(tables["core"], ft_seed=2, name="2.5")
    assert only(marks, ft_seed=2, name="2.5", sparsity=0.5)["count"].item() == core["high"].item()
    titles = [text for text in texts(figure) if "fine-tuning seed" in text]
    assert "ρ = 0.89" in titles[0] and "2·10$^{-11}$" in titles[0] and "undefined" in titles[1]


def test_table3_rows_and_values(tables, drawn):
    figure, frame = drawn["table3"]
    assert figure is None
    assert only(frame, ft_seed=1)["row"].unique().tolist() == [
        "none", "mean of 28 heads outside the core", "head 0.2", "head 1.3", "head 2.1", "head 3.0",
        "heads 0.2 + 1.3 + 2.1", "mean of 3 controls of heads 0.2 + 1.3 + 2.1",
        "largest drop among 3 controls of heads 0.2 + 1.3 + 2.1",
    ]  # fmt: skip
    assert only(frame, ft_seed=2)["row"].unique().tolist() == ["none", "mean of 32 heads outside the core"]
    assert frame["column"].unique().tolist() == [*SHORT.subsets, "ID, mean", "OOD, mean", "OOD-entailment, mean"]
    controls = only(tables["ablations"], ft_seed=1, subset="cn_if", matches=MATCHED)["change"]
    cells = only(frame, ft_seed=1, column="cn_if").set_index("row")
    assert cells.loc["mean of 3 controls of heads 0.2 + 1.3 + 2.1", "change"] == pytest.approx(controls.mean())
    largest = cells.loc["largest drop among 3 controls of heads 0.2 + 1.3 + 2.1", "change"]
    assert largest == controls.min() < controls.max()
    head = only(tables["ablations"], ft_seed=1, subset="cn_if", ablation="1.3").iloc[0]
    assert cells.loc["head 1.3", ["accuracy", "change", "change_low", "change_high"]].tolist() == [
        head["accuracy"], head["change"], head["change_low"], head["change_high"]
    ]  # fmt: skip


def test_table3_as_markdown():
    cells = pd.DataFrame(
        {
            "ft_seed": 1, "row": ["none", "none", "head 0.2", "head 0.2"], "role": ["none", "none", "core", "core"],
            "column": ["a", "ID, mean", "a", "ID, mean"], "accuracy": [90.0, 80.0, 45.44, np.nan],
            "change": [0, 0, -44.56, np.nan], "change_low": [0, np.nan, -48, np.nan],
            "change_high": [0, np.nan, 1, np.nan],
        }
    )  # fmt: skip
    assert to_markdown(cells).splitlines()[2:] == [
        "| ablated | a | ID, mean |",
        "| --- | --- | --- |",
        "| none | 90.0 | 80.0 |",
        "| head 0.2 | 45.4 (−44.6; −48.0 to +1.0) |  |",
    ]


@pytest.mark.parametrize("name", TARGETS)
def test_empty_tables_are_refused_by_name(tables, name):
    empty = {table: rows.head(0) for table, rows in tables.items()}
    with pytest.raises(ValueError, match=rf"^{name}: no "):
        draw(name, empty, settings(name), CONTEXT)
    first = TARGETS[name].tables[0]
    with pytest.raises(ValueError, match=f"^{name}: no table {first}"):
        draw(name, {table: rows for table, rows in tables.items() if table != first}, settings(name), CONTEXT)


def test_an_unknown_subset_is_refused(tables):
    with pytest.raises(ValueError, match="figure02: no subset 'nowhere'"):
        draw("figure02", tables, Figure(subsets=["in_domain", "nowhere"]), CONTEXT)


def test_labels_are_spread_out_in_their_order():
    assert spread_out([50, 50, 99, 100], 4, high=102).tolist() == [50, 54, 98, 102]


def test_only_the_drawn_figure_is_loaded():
    code = (
        "import sys; from heuristic_core.figures import draw\n"
        "try: draw('figure05', {}, None, None)\n"
        "except ValueError: pass\n"
        "loaded = {name.rpartition('.')[2] for name in sys.modules if 'core.figures.' in name}\n"
        "assert 'figure05' in loaded and not loaded & {'figure02', 'table3'}, loaded\n"
        "assert not {'torch', 'transformers', 'matplotlib.pyplot', 'scipy', 'seaborn'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", TARGETS)
def test_every_target_has_a_caption_of_one_paragraph(name, request):
    caption = (request.config.rootpath / "workflow" / "report" / f"{name}.rst").read_text().strip()
    assert "\n\n" not in caption and "[" not in caption  # it becomes the text of a Markdown image
    caption = caption.replace("\n", " ")
    assert "fine-tuning seed" in caption.lower() and "the paper's" in caption
