"""Figure 5: how many heads occur in how many subnetworks of the two sparsities."""

import pandas as pd
from matplotlib.patches import Rectangle

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.roles import CORE_COLOUR
from heuristic_core.experiments.subnetworks.figures.rows import ft_seeds, require_rows
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.heat import draw_heat_map
from heuristic_core.figures.panels import make_wrapped_panels
from heuristic_core.figures.text import format_percent, format_seed

PANEL_WIDTH = 4.2  # inches, since panels are square


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
    """Draw a panel for each fine-tuning seed.

    Args:
        tables: Data frames by schema name: "core".
        settings: The target's ``config.figure.Figure``.
        context: The study's ``config.context.Context``.

    Returns:
        The figure and its marks, one row per filled cell.

    Raises:
        ValueError: If a head is kept by more subnetworks than there are.
    """
    core = require_rows(tables["core"], "rows in table core")
    heads = require_rows(core[core["kind"] == "head"].dropna(subset=["mid", "high"]), "heads in table core")
    if (heads["mid"] > heads["n_mid"]).any() or (heads["high"] > heads["n_high"]).any():
        raise ValueError("a head is kept by more subnetworks than there are")
    cells = heads.groupby(["ft_seed", "high", "mid", "n_high", "n_mid"]).size().rename("heads").reset_index()
    seeds = ft_seeds(cells)
    width = min(settings.width, PANEL_WIDTH * len(seeds))
    figure, axes = make_wrapped_panels(settings.model_copy(update={"width": width}), len(seeds), 3.6)
    for ax, ft_seed in zip(axes, seeds, strict=True):
        seed_cells = cells[cells["ft_seed"] == ft_seed]
        n_mid, n_high = seed_cells[["n_mid", "n_high"]].iloc[0].astype(int)
        grid = seed_cells.pivot(index="high", columns="mid", values="heads").astype(float)
        _draw_panel(ax, grid.reindex(index=range(n_high + 1), columns=range(n_mid + 1)), largest=cells["heads"].max())
        ax.set_title(f"{format_seed(ft_seed)}, {seed_cells['heads'].sum()} heads", loc="left")
        ax.set_xlabel(f"subnetworks at {format_percent(context.mid)} sparsity\nthat keep the head (of {n_mid})")
        ax.set_ylabel(f"subnetworks at {format_percent(context.high)} sparsity\nthat keep the head (of {n_high})")
    return figure, cells[["ft_seed", "high", "mid", "heads"]]


def _draw_panel(ax, grid: pd.DataFrame, largest: int) -> None:
    """Draw one panel; `grid` has the number of heads by [high, mid] count, null for none."""
    draw_heat_map(ax, grid, largest)
    ax.spines[["left", "bottom"]].set_visible(True)  # most cells are blank
    high, mid = grid.index[-1], grid.columns[-1]
    ax.add_patch(
        Rectangle((mid, high), 1, 1, fill=False, edgecolor=CORE_COLOUR, linewidth=2.4, clip_on=False, zorder=4)
    )
    # The title is above the core's cell, the only place that no other cell can cover.
    ax.set_title("core" if grid.loc[high, mid] > 0 else "no core head", loc="right", weight="bold")
