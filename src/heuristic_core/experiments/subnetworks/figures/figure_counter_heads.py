"""The effect of each head in random subnetworks that contain the core: on OOD, ID and entailment subsets, and in J."""

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from heuristic_core.common.errors import format_count
from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis.accuracy import ENTAILMENT, ID, LABELS, OOD, J, select_subsets
from heuristic_core.experiments.subnetworks.analysis.mask_effects import ALPHA
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.rows import FAMILIES, ft_seeds, require_rows
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.panels import make_panels
from heuristic_core.figures.style import SMALL_FONT_SIZE, contrast_colour
from heuristic_core.figures.text import annotate_missing, format_number, format_seed

MAX_HEADS = 32  # for each fine-tuning seed; the cells of more heads would be too narrow for numbers
# Means and J below the OOD subsets, with the label of a blank row before some.
BLANK_ROWS = {LABELS[ID]: ("",), LABELS[ENTAILMENT]: (), LABELS[J]: (" ",)}
ROW_HEIGHT = 0.165  # inches
OUTLINE = {"fill": False, "edgecolor": "black", "linewidth": 1.3}  # of counter-heuristic cells
OUTLINE_LABEL = "counter-heuristic: raises accuracy and J, and ID stays within 1 point (90 % interval)"
MARKS = ["ft_seed", "name", "row", "included", "excluded", "beta", "low", "high", "p", "q", "counter", "reason"]


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
    """Draw a map for each fine-tuning seed: heads across; OOD subsets, ID, entailment and J down.

    A cell shows its number if q is below 0.05. Cells of ID always do, as counter-heuristic heads depend on them.

    Args:
        tables: Data frames by schema name: "counter_heads" and "mask_tests".
        settings: The target's ``config.figure.Figure``.
        context: The study's ``config.context.Context``.

    Returns:
        The figure and its marks, one row per cell.
    """
    seeds = ft_seeds(require_rows(tables["mask_tests"], "rows in table mask_tests"))
    marks = _order_rows(tables["counter_heads"], settings.subsets or context.subsets)
    names = list(dict.fromkeys(marks["row"]))
    height = len(seeds) * (ROW_HEIGHT * (len(names) + 1) + 0.75) + 0.9
    figure, axes = make_panels(settings, len(seeds), 1, height)
    largest = np.nanmax(np.abs([1.0, *marks["beta"].astype(float)]))
    mesh = None
    for ax, seed in zip(axes[:, 0], seeds, strict=True):
        seed_marks = marks[marks["ft_seed"] == seed]
        if seed_marks.empty:
            tests = tables["mask_tests"]
            annotate_missing(ax, tests.loc[tests["ft_seed"] == seed, "reason"].iloc[0])
            ax.set_title(format_seed(seed), loc="left")
            continue
        effects = seed_marks.groupby("component")["beta"].apply(lambda beta: np.abs(beta.astype(float)).max())
        largest_heads = effects.sort_values(ascending=False, kind="stable").index[:MAX_HEADS]
        mesh = _draw_map(ax, seed_marks[seed_marks["component"].isin(largest_heads)], names, largest)
        heads = format_count(len(effects), "head")
        heads = f"the {MAX_HEADS} of {heads}" if len(effects) > MAX_HEADS else heads
        mask_count = seed_marks[["included", "excluded"]].iloc[0].sum()
        none = "" if seed_marks["counter"].eq(True).any() else ", none counter-heuristic"
        ax.set_title(
            f"{format_seed(seed)}: {heads} outside the core, {mask_count} random subnetworks{none}",
            loc="left",
        )
    if mesh is not None:
        bar = figure.colorbar(mesh, ax=axes, location="bottom", shrink=0.6, aspect=45, pad=0.01)
        bar.set_label(f"with the head minus without it (points); numbers: q below {ALPHA:g}, on ID always")
        bar.outline.set_visible(False)
    if marks["counter"].eq(True).any():
        key = Rectangle((0, 0), 1, 1, label=OUTLINE_LABEL, **OUTLINE)
        figure.legend(handles=[key], loc="outside upper center", handlelength=1, handleheight=1)
    return figure, marks[MARKS]


def _order_rows(table: pd.DataFrame, subsets) -> pd.DataFrame:
    """Return rows in the order of display: OOD subsets by family, means of ID and entailment, J."""
    rows = table[table["subset"].notna()]
    rows = select_subsets(rows, subsets) if len(rows) else rows  # no run may have heads outside the core
    ood = rows[rows["group"] == OOD]
    order = list(subsets).index if subsets else lambda name: 0
    family_order = ood["family"].map({family: k for k, family in enumerate(FAMILIES)}).fillna(len(FAMILIES))
    ood = ood.assign(row=ood["subset"], first=ood["subset"].map(order), second=family_order)
    ood = ood.sort_values(["first", "second"], kind="stable")
    means = table[table["subset"].isna() & table["family"].isna()]
    return pd.concat(
        [ood, *(means[means["group"] == group].assign(row=LABELS[group]) for group in (ID, ENTAILMENT, J))]
    )


def _draw_map(ax: Axes, marks: pd.DataFrame, names: list[str], largest: float):
    """Draw one map, with blank rows before ID and J, and return its cells for a colour bar."""
    rows = [row for name in names for row in (*BLANK_ROWS.get(name, ()), name)]
    columns = marks.sort_values("component", kind="stable")["name"].unique()
    grids = {
        column: marks.pivot(index="row", columns="name", values=column).reindex(index=rows, columns=columns)
        for column in ("beta", "q", "counter")
    }
    beta, significant = grids["beta"].astype(float), grids["q"].astype(float) < ALPHA
    always_shown = (beta.index == LABELS[ID])[:, None] & beta.notna()
    texts = beta.map(_format_points).where(significant | always_shown, "")
    sns.heatmap(
        beta, vmin=-largest, vmax=largest, cmap="RdBu_r", annot=texts, fmt="", linewidths=0.5, cbar=False,
        annot_kws={"fontsize": SMALL_FONT_SIZE, "va": "center_baseline", "in_layout": False}, xticklabels=True,
        yticklabels=True, ax=ax,
    )  # fmt: skip
    (cells,) = ax.collections
    for text, background in zip(ax.texts, cells.get_facecolors()[beta.notna().to_numpy().ravel()], strict=True):
        text.set_color(contrast_colour(background))
    for row, column in zip(*np.nonzero((grids["counter"] == True).to_numpy()), strict=True):  # noqa: E712 (nulls)
        ax.add_patch(Rectangle((column, row), 1, 1, clip_on=False, **OUTLINE))
    ax.tick_params(length=0)
    ax.tick_params("x", rotation=90 if len(columns) > 20 else 0)
    ax.tick_params("y", rotation=0)
    ax.set(xlabel="head", ylabel="")
    return cells


def _format_points(value: float) -> str:
    """Format points without decimals or, below one, as in ".3": cells are narrow."""
    return format_number(value, 0) if abs(value) >= 0.95 else format_number(value, 1).replace("0.", ".")
