"""Figure 6: effective size over fine-tuning, with the full model's accuracy."""

import pandas as pd
from matplotlib.lines import Line2D

from heuristic_core.analysis.accuracy import group_means
from heuristic_core.analysis.effective_size import state
from heuristic_core.figures.panels import percent_axis, wrapped
from heuristic_core.figures.roles import ROLES
from heuristic_core.figures.rows import GROUPS, ft_seeds, shown, some
from heuristic_core.figures.text import seed_label
from heuristic_core.schemas import ACCURACY, RUN, STEP, SUBSET

SIZES = ("id", "ood", "ood-entailment", "mixed")
APART = 0.012  # of the range of steps: groups are set apart where their sizes are equal
THIN = 0.8  # points; accuracies are the background of sizes
FLOOR = {"color": "0.5", "linestyle": ":", "linewidth": 0.9}


def draw(tables, settings, context):
    """A panel for each fine-tuning seed, at the main margin of the study. Marks: one row per point of either axis.

    `state` of a size is defined, undefined (the full model does not exceed the margin) or missing.
    """
    sizes = _sizes(tables["effective_size"], context.margin)
    trace = some(tables["finetune_accuracy"], "rows in table finetune_accuracy")
    accuracies = group_means(trace[[*RUN, *STEP, *SUBSET, *ACCURACY]], shown(settings, context))
    groups = [group for group in SIZES if group in set(sizes["group"])]
    seeds = ft_seeds(sizes)
    figure, axes = wrapped(settings, len(seeds), 2.9, sharex=True, sharey=True)
    apart = APART * (accuracies["step"].max() - accuracies["step"].min())
    for k, (ax, ft_seed) in enumerate(zip(axes, seeds, strict=True)):
        right = ax.twinx()
        right.spines["right"].set_visible(True)
        _accuracy_lines(right, accuracies[accuracies["ft_seed"] == ft_seed])
        _size_lines(ax, sizes[sizes["ft_seed"] == ft_seed], groups, apart)
        ax.set_zorder(right.get_zorder() + 1)  # sizes stand before accuracies
        ax.patch.set_visible(False)
        ax.set_title(seed_label(ft_seed), loc="left")
        ax.set_xlabel("fine-tuning step")
        ax.set_ylabel("effective size (%)")
        ax.label_outer()
        if k % 2 or k == len(seeds) - 1:
            right.set_ylabel("full-model accuracy (%)")
        else:
            right.tick_params(labelright=False)
    _legends(figure, groups, len(context.curve_seeds), context.margin)
    lines = accuracies.rename(columns={"accuracy": "value"}).assign(quantity="full_accuracy")
    points = sizes.rename(columns={"effective_size": "value"}).assign(quantity="effective_size")
    columns = ["ft_seed", "quantity", "group", "step", "value", "sd", "n_seeds", "floor", "state", "reason"]
    return figure, pd.concat([points, lines]).reindex(columns=columns)


def _sizes(table: pd.DataFrame, margin: float) -> pd.DataFrame:
    """The summaries over pruning seeds, thresholded per seed at the main margin, each with its state."""
    paper = (table["criterion"] == "accuracy") & (table["threshold"] == margin) & (table["order"] == "per-seed")
    rows = table[paper & table["seed"].isna() & table["group"].isin(SIZES)]
    rows = some(rows, f"summaries of order per-seed at a margin of {margin} points in table effective_size")
    return rows.assign(state=state(rows)).sort_values("step", kind="stable")


def _size_lines(ax, sizes: pd.DataFrame, groups: list[str], apart: float) -> None:
    """Lines that break where a size is null; crosses on the axis where it is undefined; the floor of the grid."""
    for floor in sizes["floor"].dropna().unique():
        ax.axhline(floor, **FLOOR)
    for k, group in enumerate(groups):
        rows, role = sizes[sizes["group"] == group], ROLES[group]
        x = rows["step"].astype(float) + (k - (len(groups) - 1) / 2) * apart
        low, high = rows["effective_size"] - rows["sd"], rows["effective_size"] + rows["sd"]
        ax.fill_between(x, low, high, color=role.colour, alpha=0.15, linewidth=0)
        # A band has no width at a point between two breaks; its whisker stays.
        ax.errorbar(
            x, rows["effective_size"], rows["sd"].fillna(0), color=role.colour, linestyle=role.line, marker=role.marker,
            elinewidth=0.8,
        )  # fmt: skip
        crosses = x[rows["state"] == "undefined"]
        ax.plot(crosses, [0] * len(crosses), "x", color=role.colour, markersize=5, markeredgewidth=1.2)
    percent_axis(ax.yaxis)


def _accuracy_lines(ax, accuracies: pd.DataFrame) -> None:
    for group in GROUPS:
        rows, role = accuracies[accuracies["group"] == group].sort_values("step", kind="stable"), ROLES[group]
        ax.plot(rows["step"].astype(float), rows["accuracy"], color=role.colour, linestyle=role.line, linewidth=THIN)
    percent_axis(ax.yaxis)


def _legends(figure, groups: list[str], seeds: int, margin: float) -> None:
    roles = [ROLES[group] for group in groups]
    sizes = [Line2D([], [], color=r.colour, linestyle=r.line, marker=r.marker, label=r.label) for r in roles]
    undefined = f"undefined: full model at or below {margin:g} %"
    sizes.append(Line2D([], [], color="0.3", marker="x", markeredgewidth=1.2, linestyle="", label=undefined))
    sizes.append(Line2D([], [], **FLOOR, label="floor of the grid"))
    title = f"effective size (left axis), margin {margin:g} points, mean ± sd of {seeds} pruning seeds"
    figure.legend(handles=sizes, loc="outside upper left", ncols=3, title=title, alignment="left")
    roles = [ROLES[group] for group in groups if group in GROUPS]
    lines = [Line2D([], [], color=r.colour, linestyle=r.line, linewidth=THIN, label=r.label) for r in roles]
    title = "full-model accuracy (right axis)"
    figure.legend(handles=lines, loc="outside lower left", ncols=3, title=title, alignment="left")
