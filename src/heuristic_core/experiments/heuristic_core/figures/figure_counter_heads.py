"""What each head adds to random subnetworks that contain the core: on OOD subsets, ID, entailment subsets and in J."""

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from heuristic_core.experiments.heuristic_core.analysis.accuracy import ENTAILMENT, ID, LABELS, OOD, J, chosen
from heuristic_core.experiments.heuristic_core.analysis.mask_effects import LEVEL
from heuristic_core.experiments.heuristic_core.analysis.names import subset_label
from heuristic_core.experiments.heuristic_core.figures.rows import FAMILIES, ft_seeds, some
from heuristic_core.figures.panels import panels
from heuristic_core.figures.style import SMALL, ink
from heuristic_core.figures.text import number, seed_label, told

HEADS = 32  # at most, for each fine-tuning seed; more cells would be too narrow for numbers
# Means and J below the OOD subsets, with the label of a blank row before some.
BELOW = {LABELS[ID]: ("",), LABELS[ENTAILMENT]: (), LABELS[J]: (" ",)}
ROW, COUNTER = 0.165, "#009E73"  # inches of a row; the outline of counter-heuristic cells
LEAST = 3.2  # inches of the figure, for the label of the colour bar
KEY = (
    "counter-heuristic: raises accuracy and J, and ID stays within 1 point (90 % interval).\n"
    "Numbers: false discovery rate below 5 %; on ID always"
)
MARKS = ["ft_seed", "name", "row", "included", "excluded", "beta", "low", "high", "p", "q", "counter", "reason"]


def draw(tables, settings, context):
    """A map for each fine-tuning seed: heads across, OOD subsets, ID, entailment and J down. Marks: one row per cell.

    A cell has its number where q is below 0.05. All cells of ID have theirs, as which heads are counter-heuristic
    rests on them, too.
    """
    seeds = ft_seeds(some(tables["mask_tests"], "rows in table mask_tests"))
    marks = _rows(tables["counter_heads"], settings.subsets or context.subsets)
    names = list(dict.fromkeys(marks["row"]))
    height = len(seeds) * (ROW * (len(names) + 1) + 0.75) + 0.3
    figure, axes = panels(settings, len(seeds), 1, max(height, LEAST))
    largest = np.nanmax(np.abs([1.0, *marks["beta"].astype(float)]))
    mesh = None
    for ax, seed in zip(axes[:, 0], seeds, strict=True):
        of_seed = marks[marks["ft_seed"] == seed]
        if of_seed.empty:
            tests = tables["mask_tests"]
            told(ax, tests.loc[tests["ft_seed"] == seed, "reason"].iloc[0])
            ax.set_title(seed_label(seed), loc="left")
            continue
        heads = of_seed.groupby("component")["beta"].apply(lambda beta: np.abs(beta.astype(float)).max())
        shown = heads.sort_values(ascending=False, kind="stable").index[:HEADS]
        mesh = _map(ax, of_seed[of_seed["component"].isin(shown)], names, largest)
        many = f"the {HEADS} of {len(heads)}" if len(heads) > HEADS else f"{len(heads)}"
        masks = of_seed[["included", "excluded"]].iloc[0].sum()
        ax.set_title(f"{seed_label(seed)}: {many} heads outside the core, {masks} random subnetworks", loc="left")
    if mesh is not None:
        bar = figure.colorbar(mesh, ax=axes, fraction=0.03, pad=0.01, aspect=40)
        bar.set_label("with the head minus without it (points)")
        bar.outline.set_visible(False)
    key = Rectangle((0, 0), 1, 1, fill=False, edgecolor=COUNTER, linewidth=1.4, label=KEY)
    figure.legend(handles=[key], loc="outside upper center", handlelength=1.2)
    return figure, marks[MARKS]


def _rows(table: pd.DataFrame, subsets) -> pd.DataFrame:
    """The rows that are shown, in the order of display: OOD subsets by family, means of ID and entailment, J."""
    rows = table[table["subset"].notna()]
    rows = chosen(rows, subsets) if len(rows) else rows  # no run may have heads outside the core
    ood = rows[rows["group"] == OOD]
    order = list(subsets).index if subsets else lambda name: 0
    by_family = ood["family"].map({family: k for k, family in enumerate(FAMILIES)}).fillna(len(FAMILIES))
    ood = ood.assign(row=ood["subset"].map(subset_label), first=ood["subset"].map(order), second=by_family)
    ood = ood.sort_values(["first", "second"], kind="stable")
    whole = table[table["subset"].isna() & table["family"].isna()]
    return pd.concat(
        [ood, *(whole[whole["group"] == group].assign(row=LABELS[group]) for group in (ID, ENTAILMENT, J))]
    )


def _map(ax: Axes, marks: pd.DataFrame, names: list[str], largest: float):
    """One map, blank rows before ID and J. Returns its cells, for a colour bar."""
    rows = [row for name in names for row in (*BELOW.get(name, ()), name)]
    columns = marks.sort_values("component", kind="stable")["name"].unique()
    grids = {
        column: marks.pivot(index="row", columns="name", values=column).reindex(index=rows, columns=columns)
        for column in ("beta", "q", "counter")
    }
    beta, known = grids["beta"].astype(float), grids["q"].astype(float) < LEVEL
    always = (beta.index == LABELS[ID])[:, None] & beta.notna()
    texts = beta.map(_text).where(known | always, "")
    sns.heatmap(
        beta, vmin=-largest, vmax=largest, cmap="RdBu_r", annot=texts, fmt="", linewidths=0.5, cbar=False,
        annot_kws={"fontsize": SMALL, "va": "center_baseline", "in_layout": False}, xticklabels=True,
        yticklabels=True, ax=ax,
    )  # fmt: skip
    (cells,) = ax.collections
    for text, ground in zip(ax.texts, cells.get_facecolors()[beta.notna().to_numpy().ravel()], strict=True):
        text.set_color(ink(ground))
    for row, column in zip(*np.nonzero((grids["counter"] == True).to_numpy()), strict=True):  # noqa: E712 (nulls)
        ax.add_patch(Rectangle((column, row), 1, 1, fill=False, edgecolor=COUNTER, linewidth=1.4, clip_on=False))
    ax.tick_params(length=0)
    ax.tick_params("x", rotation=90 if len(columns) > 20 else 0)
    ax.tick_params("y", rotation=0)
    ax.set(xlabel="head", ylabel="")
    return cells


def _text(value: float) -> str:
    """Points without decimals; less than one with one decimal and no zero before, for cells are narrow."""
    return number(value, 0) if abs(value) >= 0.95 else number(value, 1).replace("0.", ".")
