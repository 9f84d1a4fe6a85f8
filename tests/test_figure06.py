"""Figure 6: which sizes it shows, and how it shows those that do not exist."""

import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.text import Text
from mentions import mentions, raises

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.config.analysis import Counterpart
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures import draw
from heuristic_core.experiments.subnetworks.figures.figure06 import BOUNDS
from heuristic_core.experiments.subnetworks.figures.roles import COLOURS
from heuristic_core.stats.frames import make_frame

CONTEXT = Context(mid=0.35, high=0.5, last=30, seeds=(42, 43), curve_seeds=(42, 43), checkpoints=(10, 30), margin=3.0)
RUN = {"study": "s", "model": "m", "task": "t"}
UNDEFINED = "undefined: the full model at 0.7 % is not above the margin of 3 points"
MISSING = "missing: no subnetworks at sparsity 0.2"
SIZES = {
    (10, "id"): (50.0, None), (10, "ood"): (None, UNDEFINED), (10, "mixed"): (40.0, None), (10, "mixed-1:1"): (1, None),
    (30, "id"): (None, MISSING), (30, "ood"): (90.0, None), (30, "mixed"): (80.0, None), (30, "mixed-1:1"): (1, None),
}  # fmt: skip


def tables(more=()):
    """Two fine-tuning seeds with the same sizes, but floors of 40 and 50. more: sizes of further groups."""
    sizes, trace = [], []
    for ft_seed in (1, 2):
        for (step, group), (size, reason) in (SIZES | dict(more)).items():
            row = RUN | {"ft_seed": ft_seed, "step": step, "group": group, "order": "per-seed", "reason": reason}
            row |= {"criterion": "accuracy", "threshold": 3.0, "floor": 30.0 + 10 * ft_seed}
            row |= dict.fromkeys(("effective_size", "least", "most"), size)
            other = dict.fromkeys(("effective_size", "least", "most"), 1.0) | {"reason": None}
            sizes += [row | {"sd": None if size is None else 5.0, "n_seeds": 2}, row | {"seed": 42, "n_seeds": 1}]
            sizes += [row | other | {"order": "upward"}, row | other | {"threshold": 1.0}]
            sizes += [row | other | {"criterion": "kl"}]
        for step in (0, 10, 20, 30):
            for group, accuracies in (("id", (80.0, 90.0)), ("ood", (step, step + 2.0))):
                for k, accuracy in enumerate(accuracies):
                    subset = {"subset": f"{group}{k}", "group": group, "n": 100, "accuracy": accuracy}
                    trace.append(RUN | {"ft_seed": ft_seed, "step": step} | subset)
    return {
        "effective_size": make_frame("effective_size", sizes),
        "finetune_accuracy": make_frame("finetune_accuracy", trace),
    }


@pytest.fixture(scope="module", params=["figure06", "figure15", "figure16"])
def drawn(request):
    return draw(request.param, tables(), Figure(), CONTEXT)


def only(rows, **values):
    for column, value in values.items():
        rows = rows[rows[column] == value]
    return rows


def texts(figure):
    return {text.get_text() for text in figure.findobj(Text)}


def test_summaries_per_seed_at_the_main_margin(drawn):
    points = only(drawn[1], quantity="effective_size", ft_seed=1)
    points = points[points["seed"].isna()]
    assert points.set_index(["step", "group"])["value"].dropna().to_dict() == {
        where: size for where, (size, _) in SIZES.items() if size and where[1] != "mixed"
    }
    accuracies = only(drawn[1], quantity="full_accuracy", ft_seed=2, step=20).set_index("group")["value"]
    assert accuracies.to_dict() == {"id": 85.0, "ood": 21.0}


def test_the_study_says_which_order_and_which_mixture():
    sizes = tables()["effective_size"]
    first = make_frame("effective_size", [
        row | {"order": "mean-first", "sd": None, "effective_size": size and size + 2}
        for row in sizes[sizes["seed"].isna() & (sizes["order"] == "per-seed")].astype(object).to_dict("records")
        for size in [None if pd.isna(row["effective_size"]) else row["effective_size"]]
    ])  # fmt: skip
    mean_first = tables() | {"effective_size": pd.concat([sizes, first])}
    about = CONTEXT.model_copy(update={"size_order": "mean-first", "size_rule": "grid", "mixed": "subsets"})
    figure, marks = draw("figure06", mean_first, Figure(), about)
    points = only(marks, quantity="effective_size", ft_seed=1).set_index(["step", "group"])
    assert points["value"].dropna().to_dict() == {
        where: size + 2 for where, (size, _) in SIZES.items() if size and where[1] != "mixed-1:1"
    }
    assert len([text for text in texts(figure) if mentions(text, len(CONTEXT.curve_seeds), "grid")]) == 1


def test_accuracies_are_above_sizes(drawn):
    figure, marks = drawn
    above, _, below, _ = figure.axes
    assert {line.get_color() for line in above.lines} == {COLOURS["id"], COLOURS["ood"]}
    sizes = marks[(marks["quantity"] == "effective_size") & (marks["ft_seed"] == 1)]["value"].dropna()
    assert {*sizes} <= {y for line in below.lines for y in line.get_ydata()}


def test_undefined_sizes_are_hatched_and_missing_ones_gaps(drawn):
    figure, marks = drawn
    points = only(marks, quantity="effective_size")
    points = points[points["seed"].isna()]
    assert only(points, state="undefined")[["step", "group"]].drop_duplicates().values.tolist() == [[10, "ood"]]
    assert only(points, state="missing")[["step", "group"]].drop_duplicates().values.tolist() == [[30, "id"]]
    hatched = [[bar for bar in ax.patches if bar.get_hatch()] for ax in figure.axes]
    assert [len(bars) for bars in hatched] == [0, 0, 1, 1]
    assert {tuple(bar.get_edgecolor()[:3]) for bars in hatched for bar in bars} == {to_rgb(COLOURS["ood"])}
    assert {bar.get_x() + bar.get_width() / 2 for bars in hatched for bar in bars} == {10}
    assert any(mentions(text, "undefined", "3 %") for text in texts(figure))


def test_the_floor_of_each_grid_is_a_line(drawn):
    figure, _ = drawn
    dotted = [[line for line in ax.lines if line.get_linestyle() == ":"] for ax in figure.axes]
    heights = [line.get_ydata() for lines in dotted for line in lines if list(line.get_xdata()) == [0, 1]]
    assert [list(height) for height in heights] == [[40, 40], [50, 50]]
    assert any(mentions(text, "floor") for text in texts(figure))


def test_a_seed_of_which_only_a_bound_is_known_is_an_open_mark():
    """Sizes above 80 % and at most 20 %, and one between two bounds."""
    table = tables()["effective_size"]
    bounds = {"id": (80.0, 100.0), "mixed-1:1": (40.0, 60.0), "ood": (0.0, 20.0)}
    for group, (least, most) in bounds.items():
        here = (table["step"] == 10) & (table["group"] == group) & (table["order"] == "per-seed")
        table.loc[here, ["effective_size", "least", "most"]] = [None, least, most]
    figure, marks = draw("figure06", tables() | {"effective_size": table}, Figure(), CONTEXT)
    points = only(marks, quantity="effective_size", step=10, state="bounded")
    assert set(points["group"]) == {*bounds} and points["value"].isna().all()
    marked = [line for line in figure.axes[2].lines if line.get_markerfacecolor() == "white" and len(line.get_ydata())]
    heights = {marker: sorted(y for line in marked if line.get_marker() == marker for y in line.get_ydata())
               for marker in "^v"}  # fmt: skip
    assert heights == {"^": [40, 80], "v": [20, 60]}
    assert {name for _, _, name in BOUNDS.values()} <= texts(figure)


def test_pruning_seeds_are_shown(drawn):
    points = [line for line in drawn[0].axes[2].lines if line.get_marker() == "o"]
    plotted = sorted(float(y) for line in points for y in line.get_ydata() if y == y)
    assert plotted == sorted(size for (_, group), (size, _) in SIZES.items() if size and group != "mixed")


def test_groups_that_a_study_lacks_have_no_place_in_the_legend(drawn):
    assert "OOD-entailment" not in texts(drawn[0])
    more = tables({(10, "ood-entailment"): (70.0, None)})
    assert "OOD-entailment" not in texts(draw("figure06", more, Figure(), CONTEXT)[0])
    context = CONTEXT.model_copy(update={"counterpart": Counterpart(model="gpt2")})
    figure, marks = draw("figure16", more, Figure(), context)
    assert "OOD-entailment" in texts(figure)
    assert only(marks, group="ood-entailment")["value"].tolist() == [70.0] * 4


def test_a_margin_without_sizes_is_refused():
    with raises(ValueError, "figure06", "per-seed", 2.0):
        draw("figure06", tables(), Figure(), CONTEXT.model_copy(update={"margin": 2.0}))
