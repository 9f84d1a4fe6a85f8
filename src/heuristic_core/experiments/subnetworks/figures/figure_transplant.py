"""Subnetworks of each checkpoint with the weights of each checkpoint: does the mask or the weights generalise?"""

import pandas as pd
from matplotlib.patches import Rectangle

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis.outcomes import mark_faults
from heuristic_core.experiments.subnetworks.analysis.transplant import MASK_KEYS
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.roles import ROLES
from heuristic_core.experiments.subnetworks.figures.rows import ft_seeds, reject_subsets, require_rows
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.heat import draw_heat_map
from heuristic_core.figures.panels import make_panels
from heuristic_core.figures.text import format_percent, format_seed

GROUPS = {"id": "accuracy (%)", "j": "points"}
OUTLINE = {"fill": False, "edgecolor": "black", "linewidth": 1.3}  # of subnetworks with their own weights
FULL_MODEL = "full model"
COLUMNS = ["ft_seed", "mask_step", "step", "group", "accuracy", "n", "left_out"]


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
    """Draw a row for each fine-tuning seed and a column each for ID and J.

    Means leave out pruning runs that failed, collapsed or missed their target.

    Args:
        tables: Data frames by schema name: "transplant", and "runs" if the study has it.
        settings: The target's ``config.figure.Figure``.
        context: The study's ``config.context.Context``.

    Returns:
        The figure and its marks, one row per cell; `mask_step` is null for the full model.
    """
    reject_subsets(settings)
    rows = require_rows(tables["transplant"], "rows in table transplant")
    group_rows = rows["subset"].isna() & rows["family"].isna() & rows["group"].isin(list(GROUPS))
    marks = _average_masks(_mark_sound(rows[group_rows], tables.get("runs")))
    seeds = ft_seeds(marks)
    # Two fine-tuning seeds are beside each other.
    columns, height = (2, 2.0) if len(seeds) > 1 else (1, 3.1)
    rows = -(-len(seeds) // columns)
    figure, axes = make_panels(settings, rows, columns * len(GROUPS), rows * height + 0.3)
    axes = axes.reshape(-1, len(GROUPS))
    for unused in axes[len(seeds) :].flat:
        unused.remove()
    for row, ft_seed in zip(axes, seeds, strict=False):
        for ax, (group, unit) in zip(row, GROUPS.items(), strict=True):
            panel_cells = marks[(marks["ft_seed"] == ft_seed) & (marks["group"] == group)]
            _draw_panel(ax, panel_cells)
            ax.set_title(f"{ROLES[group].label}, {unit}", loc="left")
            ax.set(xlabel="weights of step", ylabel="")
        row[1].set_yticklabels([])
        row[0].set_ylabel(f"{format_seed(ft_seed)}\nmask of step ({format_percent(context.mid)} sparsity)")
    handle = Rectangle((0, 0), 1, 1, label="mask and weights of one checkpoint", **OUTLINE)
    figure.legend(handles=[handle], loc="outside upper center", handlelength=1, handleheight=1)
    return figure, marks[COLUMNS]


def _mark_sound(rows: pd.DataFrame, runs: pd.DataFrame | None) -> pd.DataFrame:
    """Add the column `sound`: by table "runs", the pruning run neither failed, collapsed nor missed its target."""
    rows = rows.assign(sound=rows["accuracy"].notna())
    if runs is None or runs.empty:
        return rows
    runs = runs[runs["repeat"] == 0]
    faulty = runs.assign(mask_step=runs["step"], faulty=mark_faults(runs).any(axis="columns"))[[*MASK_KEYS, "faulty"]]
    merged = rows.merge(faulty, on=MASK_KEYS, how="left")
    return merged.assign(sound=merged["sound"] & ~merged["faulty"].eq(True).fillna(False).astype(bool))


def _average_masks(rows: pd.DataFrame) -> pd.DataFrame:
    """Average accuracy over sound masks by cell; `n` counts sound masks, `left_out` the others."""
    rows = rows.assign(value=rows["accuracy"].where(rows["sound"]), other=~rows["sound"])
    cells = rows.groupby(["ft_seed", "mask_step", "step", "group"], dropna=False)
    return cells.agg(accuracy=("value", "mean"), n=("sound", "sum"), left_out=("other", "sum")).reset_index()


def _draw_panel(ax, cells: pd.DataFrame) -> None:
    """Draw the cells of one panel: steps ascend from the bottom, the full model is on top."""
    masks = cells.drop_duplicates("mask_step").sort_values("mask_step", na_position="last", kind="stable")
    names = [_row_label(mask) for mask in masks.itertuples()]
    grid = cells.pivot(index="mask_step", columns="step", values="accuracy").astype(float)
    grid = grid.reindex([*masks["mask_step"]]).round() + 0.0  # no minus zero
    grid.index, grid.columns.name = names, None
    draw_heat_map(ax, grid, 100)
    for y, step in enumerate(masks["mask_step"]):
        if pd.notna(step) and step in grid.columns:
            ax.add_patch(Rectangle((grid.columns.get_loc(step), y), 1, 1, clip_on=False, **OUTLINE))


def _row_label(mask) -> str:
    """Return the label of a row: its step, and how many masks count if some are left out."""
    if pd.isna(mask.mask_step):
        return FULL_MODEL
    return f"{mask.mask_step}" + (f"\n({mask.n} of {mask.n + mask.left_out})" if mask.left_out else "")
