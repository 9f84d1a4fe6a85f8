"""Figures drawn from the synthetic tables of figure_tables.py and figure_head_tables.py."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from amounts import first_fast
from drawn import SHORT, TABLES, filter_rows, settings
from figure_head_tables import CORE
from figure_tables import CONTEXT, FT_SEEDS, SUBSETS
from mentions import mentions, raises

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.config.analysis import Counterpart
from heuristic_core.experiments.subnetworks.figures import draw, write
from heuristic_core.experiments.subnetworks.figures.figure09 import OTHER_HEADS
from heuristic_core.experiments.subnetworks.figures.targets import TARGETS, drawing_module
from heuristic_core.figures.targets import target_files

DRAWN = [name for name, target in TARGETS.items() if set(target.tables) <= TABLES.keys()]


def texts(figure):
    from matplotlib.text import Text

    return [text.get_text() for text in figure.findobj(Text)]


@pytest.mark.slow
@pytest.mark.parametrize("name", DRAWN)
def test_every_fine_tuning_seed_is_shown_by_itself(drawn, name):
    figure, marks = drawn[name]
    assert set(marks["ft_seed"].dropna()) == set(FT_SEEDS)  # null: over fine-tuning seeds
    if figure is not None:
        assert all(any(f"fine-tuning seed {seed}" in text for text in texts(figure)) for seed in FT_SEEDS)


@pytest.mark.slow
@pytest.mark.parametrize("name", first_fast("figure06", "table3", *sorted({*DRAWN} - {"figure06", "table3"}), fast=2))
def test_the_same_tables_give_the_same_bytes_and_nothing_is_cut_off(tables, drawn, name, tmp_path, recwarn):
    write(tmp_path / "one", name, *drawn[name], settings(name))
    write(tmp_path / "two", name, *draw(name, tables, settings(name), CONTEXT), settings(name))
    firsts, seconds = ([tmp_path / run / path for path in target_files(".", name)] for run in ("one", "two"))
    for first, second in zip(firsts, seconds, strict=True):
        assert first.read_bytes() == second.read_bytes(), first.name
    assert sorted((tmp_path / "one").rglob("*.*")) == sorted(firsts)
    assert not [str(warning.message) for warning in recwarn if issubclass(warning.category, UserWarning)]
    if (figure := drawn[name][0]) is not None:
        figure.draw_without_rendering()  # saving has left extents of another resolution
        drawn_on, page = figure.get_tightbbox(), figure.bbox_inches
        assert min(drawn_on.x0, drawn_on.y0) >= -0.01
        assert drawn_on.x1 <= page.width + 0.01 and drawn_on.y1 <= page.height + 0.01


def test_marks_keep_all_digits(drawn, tmp_path):
    write(tmp_path, "table7", None, drawn["table7"][1].assign(mean=100 / 3), SHORT)
    for read, suffix in ((pd.read_csv, "csv"), (pd.read_parquet, "parquet")):
        assert (read(tmp_path / "tables" / f"table7.{suffix}")["mean"] == 100 / 3).all()


@pytest.mark.parametrize(("name", "panels"), [("figure02", 4), ("figure12", 4)])
def test_the_spread_is_every_subnetwork_beside_the_full_model(tables, drawn, name, panels):
    figure, marks = drawn[name]
    assert len(figure.axes) == panels
    columns = len(SUBSETS) + (2 if name == "figure02" else 2 * 3)  # J and AUC, of all families or each
    assert len(filter_rows(marks, seed=None)) == len(FT_SEEDS) * columns
    assert len(marks.dropna(subset="seed")) == len(FT_SEEDS) * 2 * 12 * columns  # none of another run of a seed
    where = {"ft_seed": 2, "step": 2200, "sparsity": 0.35, "seed": 47, "subset": "cn_if"}
    mark, known = (filter_rows(rows, **where).iloc[0] for rows in (marks, tables["accuracy"]))
    assert mark[["accuracy", "low", "high"]].tolist() == known[["accuracy", "low", "high"]].tolist()
    subset, of = ("J", {}) if name == "figure02" else ("J, lexical overlap", {"family": "lexical_overlap"})
    mark = filter_rows(marks, **where | {"subset": subset}).iloc[0]
    table = tables["group_accuracy" if name == "figure02" else "family_scores"]
    where.pop("subset")
    known = filter_rows(table, **where, **of, group="j").iloc[0]
    assert mark[["accuracy", "low", "high"]].tolist() == known[["accuracy", "low", "high"]].tolist()


def labels(figure):
    return [label.get_text() for label in figure.axes[-1].get_xticklabels()]


@pytest.mark.slow
def test_figure02_has_the_panels_of_its_task_and_its_subsets_by_group(tables, drawn):
    figure, _ = drawn["figure02"]
    *subsets, j, auc = labels(figure)
    groups = [SUBSETS[label][0] for label in subsets]
    assert (j, auc) == ("J", "AUC")
    assert set(subsets) == set(SUBSETS) and groups == sorted(groups, key=["id", "ood", "ood-entailment"].index)
    of_qqp = CONTEXT.model_copy(update={"counterpart": Counterpart(task="qqp")})
    for context, letters in ((CONTEXT, "abcd"), (of_qqp, "cdef")):
        figure, _ = draw("figure02", tables, Figure(), context)
        titles = [ax.get_title() for ax in figure.axes]
        assert [title.split()[0] for title in titles] == [rf"$\mathbf{{{letter}}}$" for letter in letters]


def test_figure12_shows_subsets_that_the_analysis_leaves_out_and_names_families_once(tables):
    few = CONTEXT.model_copy(update={"subsets": ("in_domain", "ln_prep", "ce_if")})
    figure, _ = draw("figure12", tables, Figure(), few)
    families = ["lexical overlap", "subsequence", "constituent"]
    by_group = [[name for name, (group, _) in SUBSETS.items() if group == of] for of in ("ood", "ood-entailment")]
    assert labels(figure)[0] == "in_domain" and labels(figure)[-6:] == [*families, *families]
    assert [set(labels(figure)[1:10]), set(labels(figure)[10:-6])] == [set(names) for names in by_group]
    above = [text.get_text() for ax in figure.axes for text in ax.texts]
    assert above.count("subsequence") == 4 * 2 and above.count("J") == 4


@pytest.mark.parametrize("name", ["figure02", "figure03", "figure12"])
def test_whiskers_are_the_intervals_and_absent_where_these_are_unknown(tables, name):
    from matplotlib.collections import LineCollection

    def whiskers(tables):
        figure, _ = draw(name, tables, SHORT, CONTEXT)
        collections = [c for ax in figure.axes for c in ax.collections if isinstance(c, LineCollection)]
        lines = [line for collection in collections for line in collection.get_segments()]
        upright = [line for line in lines if len(line) == 2 and line[0, 0] == line[1, 0]]
        return {tuple(line[:, 1]) for line in upright}, texts(figure)

    known, legend = whiskers(tables)
    full = filter_rows(tables["accuracy"], ft_seed=1, seed=None, subset="ln_prep").iloc[0]
    assert (full["low"], full["high"]) in known
    assert name == "figure03" or "its 95 % interval" in legend
    bounded = ("accuracy", "group_accuracy", "family_scores")
    none, legend = whiskers(tables | {table: tables[table].assign(low=np.nan, high=np.nan) for table in bounded})
    assert not none and "its 95 % interval" not in legend


def test_figure02_draws_violins_only_where_there_is_a_shape(tables):
    from matplotlib.collections import PolyCollection

    accuracy = tables["accuracy"].copy()
    few = accuracy["seed"].notna() & (accuracy["subset"] == "ln_rel")
    accuracy.loc[few, "accuracy"] = 10.0 * (accuracy.loc[few, "seed"] % 4)  # four distinct values
    short = Figure(subsets=["in_domain", "ln_rel", "ln_prep"])
    figure, _ = draw("figure02", {"accuracy": accuracy, "group_accuracy": tables["accuracy"]}, short, CONTEXT)
    violins = [c for ax in figure.axes for c in ax.collections if isinstance(c, PolyCollection)]
    places = {round(violin.get_paths()[0].vertices[:, 0].mean()) for violin in violins}
    assert 2 in places and 1 not in places


@pytest.mark.parametrize("repeat", [0, 1])
def test_figure04_shows_the_curves_own_runs_and_their_mean(tables, repeat):
    accuracy = tables["group_accuracy"]
    again = accuracy[accuracy["seed"].isin(CONTEXT.curve_seeds) & (accuracy["sparsity"] == 0.2)]
    again = again.assign(repeat=1, accuracy=again["accuracy"] / 2)
    accuracy = pd.concat([accuracy[accuracy["repeat"] == 0], again])
    context = CONTEXT.model_copy(update={"curve_repeat": repeat})
    _, marks = draw("figure04", {"group_accuracy": accuracy}, Figure(), context)
    cell = filter_rows(accuracy, ft_seed=1, sparsity=0.2, group="ood", repeat=repeat)
    cell = cell[cell["seed"].isin(CONTEXT.curve_seeds)]["accuracy"]
    points = filter_rows(marks, ft_seed=1, sparsity=0.2, group="ood")
    assert points["accuracy"].dropna().tolist() == pytest.approx([*cell, cell.mean()])
    assert filter_rows(points, seed=None)["models"].item() == len(cell) == 3
    full = filter_rows(accuracy, ft_seed=1, seed=None, group="id").iloc[0]
    assert filter_rows(marks, ft_seed=1, sparsity=0.0, group="id")["accuracy"].tolist() == [full["accuracy"]]


def test_figure04_leaves_failed_runs_out_and_marks_the_point_hollow(tables):
    accuracy = tables["group_accuracy"].copy()
    where = {"ft_seed": 1, "sparsity": 0.2, "group": "ood", "repeat": 0}
    rows = filter_rows(accuracy, **where)
    kept = filter_rows(rows, seed=44)["accuracy"].item()
    accuracy.loc[rows.index[rows["seed"].isin([42, 43])], "accuracy"] = np.nan
    figure, marks = draw("figure04", {"group_accuracy": accuracy}, Figure(), CONTEXT)
    point = filter_rows(marks, ft_seed=1, sparsity=0.2, group="ood", seed=None).iloc[0]
    assert (point["accuracy"], point["models"]) == (kept, 1)
    hollow = [line.get_xydata().tolist() for line in figure.axes[0].lines if line.get_markerfacecolor() == "white"]
    assert [[20, kept]] in hollow


@pytest.mark.parametrize("name", ["figure04", "table7"])
def test_group_means_refuse_a_choice_of_subsets(tables, name):
    with raises(ValueError, name, "analysis.subsets"):
        draw(name, tables, SHORT, CONTEXT)


def test_figure05_counts_heads_by_cell_and_finds_the_core(drawn):
    figure, marks = drawn["figure05"]
    assert filter_rows(marks, ft_seed=1, mid=12, high=12)["heads"].item() == len(CORE[1])
    assert filter_rows(marks, ft_seed=2, mid=12, high=12).empty
    assert marks.groupby("ft_seed")["heads"].sum().eq(32).all()  # MLPs are not heads
    core_title, empty_title = (title for ax in figure.axes if (title := ax.get_title(loc="right")))
    assert core_title == "core" != empty_title and mentions(empty_title, "core")


def test_figure09_has_a_bar_for_every_core_head_and_one_for_the_others(tables, drawn):
    figure, marks = drawn["figure09"]
    assert filter_rows(marks, ft_seed=1)["bar"].unique().tolist() == ["0.2", "1.3", "2.1", "3.0", OTHER_HEADS]
    assert marks.groupby(["ft_seed", "bar"])["share"].sum().tolist() == pytest.approx([1] * 6)
    others = filter_rows(tables["attention"], ft_seed=1, category="next")
    others = others[~others["component"].isin(CORE[1])]
    mean = filter_rows(marks, ft_seed=1, bar=OTHER_HEADS, category="next").iloc[0]
    assert (mean["heads"], mean["share"]) == (28, pytest.approx(others["share"].mean()))
    assert filter_rows(marks, ft_seed=2)["bar"].unique().tolist() == [OTHER_HEADS]
    assert any(mentions(text, "seed 2", "core") for text in texts(figure))


def test_figure10_shows_ood_subsets_and_group_means(tables, drawn):
    figure, marks = drawn["figure10"]
    at_end = filter_rows(marks, ft_seed=2, step=2200)
    subsets = at_end.dropna(subset="subset")
    assert set(subsets["subset"]) == {subset for subset, (group, _) in SUBSETS.items() if group == "ood"}
    of_family = filter_rows(at_end, subset=None, group="ood").set_index("family")["accuracy"]
    expected = subsets.groupby("family")["accuracy"].mean().to_dict()
    assert of_family[of_family.index.notna()].to_dict() == pytest.approx(expected)
    assert of_family[of_family.index.isna()].item() == pytest.approx(subsets["accuracy"].mean())
    assert len(figure.axes) == len(FT_SEEDS) * (1 + len(expected))
    names = {text.partition("  ")[0] for text in texts(figure)}
    assert {*subsets["subset"], "mean", "ID", "OOD", "OOD-entailment", "J"} <= names


def test_figure10_of_subsets_without_families_has_one_panel_of_them(tables):
    trace = tables["finetune_accuracy"].assign(family=None)
    figure, marks = draw("figure10", {"finetune_accuracy": trace}, Figure(), CONTEXT)
    assert len(figure.axes) == len(FT_SEEDS) * 2
    assert len(filter_rows(marks, ft_seed=2, step=2200, subset=None, group="ood")) == 1


def test_figure13_shows_counts_and_correlation(tables, drawn):
    figure, marks = drawn["figure13"]
    assert len(marks) == len(FT_SEEDS) * 2 * 32
    core = filter_rows(tables["core"], ft_seed=2, name="2.5")
    assert filter_rows(marks, ft_seed=2, name="2.5", sparsity=0.5)["count"].item() == core["high"].item()
    first, second = (text.splitlines() for text in texts(figure) if "fine-tuning seed" in text)
    assert first[0].endswith("ρ = 0.89 [0.71, 0.95]")
    assert first[1].endswith("ρ = 0.80 [0.70, 0.88]")
    assert second[0].endswith("ρ undefined") and second[1] == "35 % sparsity"
    assert filter_rows(marks, ft_seed=1)[["rho", "rho_disjoint"]].drop_duplicates().to_numpy().tolist() == [[0.89, 0.8]]


def test_figure13_outlines_heads_that_all_subnetworks_keep(tables):
    from matplotlib.patches import Rectangle

    frequency = tables["head_frequency"].copy()
    frequency["count"] = frequency["count"].clip(upper=frequency["n"] - 1)
    core = (frequency["ft_seed"] == 1) & (frequency["name"] == "1.3")
    mid_alone = (frequency["name"] == "2.1") & (frequency["sparsity"] == CONTEXT.mid)
    frequency.loc[core | mid_alone, "count"] = frequency.loc[core | mid_alone, "n"]
    figure, _ = draw("figure13", tables | {"head_frequency": frequency}, settings("figure13"), CONTEXT)
    outlined = [[p.get_xy() for p in ax.patches if isinstance(p, Rectangle)] for ax in figure.axes[:4]]
    assert outlined == [[(3, 1)], [(3, 1)], [], []]


def test_the_colour_bar_of_figure13_has_whole_numbers_also_for_few_subnetworks(tables):
    frequency = tables["head_frequency"]
    few = tables | {"head_frequency": frequency.assign(count=frequency["count"].clip(upper=2), n=2)}
    figure, _ = draw("figure13", few, settings("figure13"), CONTEXT)
    bar = figure.axes[-1]
    assert bar.get_ylabel().endswith("(of 2)")
    assert [tick for tick in bar.get_yticks() if 0 <= tick <= 2] == [0, 1, 2]


def test_figure_core_seeds_shows_each_set_beside_what_is_expected(tables, drawn):
    figure, marks = drawn["figure_core_seeds"]
    assert marks.groupby(["ft_seed", "set"]).size().tolist() == [12] * 3 * len(FT_SEEDS)
    both = filter_rows(tables["core_seeds"], ft_seed=2, set="mid+high").sort_values("seeds")
    lines = {tuple(line.get_ydata()): line.get_linestyle() for line in figure.axes[1].lines}
    assert lines[tuple(both["heads"])] == "-" and lines[tuple(both["expected"])] == "--"


@pytest.mark.parametrize("name", DRAWN)
def test_empty_tables_are_refused_by_name(tables, name):
    with raises(ValueError, name):
        draw(name, {table: rows.head(0) for table, rows in tables.items()}, settings(name), CONTEXT)
    first = TARGETS[name].tables[0]
    with raises(ValueError, name, first):
        draw(name, {table: rows for table, rows in tables.items() if table != first}, settings(name), CONTEXT)


def test_an_unknown_subset_is_refused(tables):
    with raises(ValueError, "figure02", "nowhere"):
        draw("figure02", tables, Figure(subsets=["in_domain", "nowhere"]), CONTEXT)


@pytest.mark.slow
def test_only_the_drawn_figure_is_loaded():
    code = (
        "import sys; from heuristic_core.config.figure import Figure\n"
        "from heuristic_core.experiments.subnetworks.config.context import Context\n"
        "from heuristic_core.experiments.subnetworks.figures import draw\n"
        "try: draw('figure05', {}, Figure(), Context.model_construct(subsets=None, names=None))\n"
        "except ValueError: pass\n"
        "loaded = {name.rpartition('.')[2] for name in sys.modules if 'subnetworks.figures.' in name}\n"
        "assert 'figure05' in loaded and not loaded & {'figure02', 'table3'}, loaded\n"
        "assert not {'torch', 'transformers', 'statsmodels', 'seaborn.objects'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", DRAWN)
def test_every_target_has_a_caption_of_one_paragraph(name, request):
    folder = request.config.rootpath / "workflow" / "report" / "subnetworks"
    target_caption, module_caption = (folder / f"{which}.rst" for which in (name, drawing_module(name)))
    caption = (target_caption if target_caption.exists() else module_caption).read_text().strip()
    assert "\n\n" not in caption and "[" not in caption  # it becomes the text of a Markdown image
    assert "paper" in caption.lower()  # its counterpart there, if any
