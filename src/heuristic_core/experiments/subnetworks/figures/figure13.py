"""Figure 13: how many subnetworks keep each head, at both sparsities."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.roles import CORE_COLOUR
from heuristic_core.experiments.subnetworks.figures.rows import ft_seeds, require_rows
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.heat import draw_heat_map
from heuristic_core.figures.panels import make_panels
from heuristic_core.figures.text import format_interval, format_number, format_percent, format_seed

OUTLINE = 2.0  # points
SEED_DIVISIONS = (
    "shared",
    "disjoint",
)  # how pruning seeds are divided between the sparsities, see table "rank_correlation"


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
    """Draw a row of maps for each fine-tuning seed: mid and high sparsity.

    Args:
        tables: Data frames by schema name: "head_frequency" and "rank_correlation".
        settings: The target's ``config.figure.Figure``.
        context: The study's ``config.context.Context``.

    Returns:
        The figure and its marks, one row per cell, with Spearman's rhos of its fine-tuning seed.
    """
    frequency = tables["head_frequency"]
    heads = frequency[(frequency["step"] == context.last) & (frequency["kind"] == "head")]
    cells = {
        s: require_rows(heads[heads["sparsity"] == s], f"heads at step {context.last}, sparsity {s:g}")
        for s in (context.mid, context.high)
    }
    seeds = ft_seeds(heads)
    marks = pd.concat(cells.values())
    layers, largest = marks["layer"].max() + 1, marks["n"].max()
    height = len(seeds) * (0.54 + _compute_map_height(settings, marks)) + 0.65
    figure, axes = make_panels(settings, len(seeds), 2, height)
    correlations = tables["rank_correlation"]
    correlations = correlations[correlations["step"] == context.last].drop_duplicates(["ft_seed", "seeds"])
    correlations = correlations.set_index(["seeds", "ft_seed"])[["rho", "low", "high"]]
    shared, disjoint = (correlations[correlations.index.get_level_values(0) == k].droplevel(0) for k in SEED_DIVISIONS)
    by_head = marks.assign(kept=marks["count"] == marks["n"]).groupby(["ft_seed", "layer", "head"])["kept"]
    core = by_head.all() & (by_head.size() == len(cells))
    for row, ft_seed in zip(axes, seeds, strict=True):
        for ax, (sparsity, cell) in zip(row, cells.items(), strict=True):
            panel_rows = cell[cell["ft_seed"] == ft_seed]
            grid = panel_rows.pivot(index="layer", columns="head", values="count").astype(float)
            mesh = draw_heat_map(ax, grid.reindex(range(layers)), largest)
            _outline_heads(ax, core[core].loc[[ft_seed]].index if ft_seed in core[core].index else ())
            ax.set_title(f"{format_percent(sparsity)} sparsity", loc="left")
            ax.label_outer()
        lines = [f"{format_seed(ft_seed)}: Spearman's {_format_rho(shared, ft_seed)}"]
        if ft_seed in disjoint.index:
            lines.append(f"disjoint halves of the pruning seeds: {_format_rho(disjoint, ft_seed)}")
        row[0].set_title("\n".join([*lines, row[0].get_title(loc="left")]), loc="left", parse_math=True)
    ticks = MaxNLocator(integer=True)  # counts, also of few subnetworks
    bar = figure.colorbar(mesh, ax=axes, fraction=0.03, pad=0.02, aspect=30, ticks=ticks)
    smallest = marks["n"].min()  # fewer where runs failed
    bar.set_label(f"kept by subnetworks (of {largest if smallest == largest else f'{smallest} to {largest}'})")
    bar.outline.set_visible(False)
    if core.any():
        handle = Patch(
            fill=False, edgecolor=CORE_COLOUR, linewidth=OUTLINE, label="core: kept by all, at both sparsities"
        )
        figure.legend(handles=[handle], loc="outside upper right", handlelength=1.2)
    disjoint = disjoint.add_suffix("_disjoint")
    marks = marks.join(shared, on="ft_seed").join(disjoint, on="ft_seed")
    columns = ["ft_seed", "step", "sparsity", "name", "layer", "head", "count", "n"]
    return figure, marks[[*columns, *shared.columns, *disjoint.columns]]


def _outline_heads(ax: Axes, heads) -> None:
    """Outline cells of a map; `heads` are triples of fine-tuning seed, layer and head."""
    for _, layer, head in heads:
        style = {"edgecolor": CORE_COLOUR, "linewidth": OUTLINE, "clip_on": False, "zorder": 4}
        ax.add_patch(Rectangle((head, layer), 1, 1, fill=False, **style))


def _compute_map_height(settings, heads: pd.DataFrame) -> float:
    """Return the height in inches of a map with square cells, two maps being side by side."""
    return (settings.width - 1.1) / 2 * (heads["layer"].max() + 1) / (heads["head"].max() + 1)


def _format_rho(correlations: pd.DataFrame, ft_seed: int) -> str:
    """Format Spearman's rho and its interval for a title."""
    if ft_seed not in correlations.index or pd.isna(rho := correlations.loc[ft_seed, "rho"]):
        return "ρ undefined"
    return f"ρ = {format_number(rho, 2)}{format_interval(*correlations.loc[ft_seed, ['low', 'high']], digits=2)}"
