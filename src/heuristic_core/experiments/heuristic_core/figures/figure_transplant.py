"""Subnetworks of every checkpoint on the weights of every checkpoint: which of the two carries generalisation."""

import pandas as pd

from heuristic_core.experiments.heuristic_core.analysis.outcomes import faults
from heuristic_core.experiments.heuristic_core.analysis.transplant import RUN_OF_MASK
from heuristic_core.experiments.heuristic_core.figures.roles import ROLES
from heuristic_core.experiments.heuristic_core.figures.rows import ft_seeds, groups_alone, some
from heuristic_core.figures.heat import heat_map
from heuristic_core.figures.panels import panels
from heuristic_core.figures.text import percent, seed_label

GROUPS = {"id": "accuracy (%)", "j": "points"}
FULL = "full model"
COLUMNS = ["ft_seed", "mask_step", "step", "group", "accuracy", "n", "left_out"]


def draw(tables, settings, context):
    """Rows: fine-tuning seeds. Columns: ID and J. Marks: one row per cell; mask_step is null for the full model.

    Runs of pruning that failed, collapsed or missed their target are left out of means.
    """
    groups_alone(settings)
    rows = some(tables["transplant"], "rows in table transplant")
    whole = rows["subset"].isna() & rows["family"].isna() & rows["group"].isin(list(GROUPS))
    marks = _means(_sound(rows[whole], tables.get("runs")))
    seeds = ft_seeds(marks)
    figure, axes = panels(settings, len(seeds), len(GROUPS), 3.1 * len(seeds) + 0.3)
    for row, ft_seed in zip(axes, seeds, strict=True):
        for ax, (group, unit) in zip(row, GROUPS.items(), strict=True):
            of_panel = marks[(marks["ft_seed"] == ft_seed) & (marks["group"] == group)]
            _panel(ax, of_panel)
            ax.set_title(f"{seed_label(ft_seed)}: {ROLES[group].label}, {unit}", loc="left")
            ax.set_xlabel("weights and means of step")
        row[0].set_ylabel(f"mask found at step\n({percent(context.mid)} sparsity)")
        row[1].set_ylabel("")
    return figure, marks[COLUMNS]


def _sound(rows: pd.DataFrame, runs: pd.DataFrame | None) -> pd.DataFrame:
    """`rows` with the column `sound`: whether the pruning run behind a mask went well, as far as table "runs" tells."""
    rows = rows.assign(sound=rows["accuracy"].notna())
    if runs is None or runs.empty:
        return rows
    runs = runs[runs["repeat"] == 0]
    faulty = runs.assign(mask_step=runs["step"], faulty=faults(runs).any(axis="columns"))[[*RUN_OF_MASK, "faulty"]]
    found = rows.merge(faulty, on=RUN_OF_MASK, how="left")
    return found.assign(sound=found["sound"] & ~found["faulty"].eq(True).fillna(False).astype(bool))


def _means(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean accuracy over sound masks by cell; null where there is none. n: sound masks. left_out: others."""
    rows = rows.assign(value=rows["accuracy"].where(rows["sound"]), other=~rows["sound"])
    cells = rows.groupby(["ft_seed", "mask_step", "step", "group"], dropna=False)
    return cells.agg(accuracy=("value", "mean"), n=("sound", "sum"), left_out=("other", "sum")).reset_index()


def _panel(ax, cells: pd.DataFrame) -> None:
    """cells: one row of `_means` for each cell of a panel. Steps ascend from the bottom, the full model is on top."""
    masks = cells.drop_duplicates("mask_step").sort_values("mask_step", na_position="last", kind="stable")
    names = [_name(mask) for mask in masks.itertuples()]
    grid = cells.pivot(index="mask_step", columns="step", values="accuracy").astype(float)
    grid = grid.reindex([*masks["mask_step"]]).round() + 0.0  # no minus zero
    grid.index, grid.columns.name = names, None
    heat_map(ax, grid, 100)


def _name(mask) -> str:
    """The label of a row: its step, and how many masks count where some do not."""
    if pd.isna(mask.mask_step):
        return FULL
    return f"{mask.mask_step}" + (f"\n({mask.n} of {mask.n + mask.left_out})" if mask.left_out else "")
