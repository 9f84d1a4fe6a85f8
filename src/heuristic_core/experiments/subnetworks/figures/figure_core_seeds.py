"""The number of heads that all subnetworks share, against the number of subnetworks: does the core converge?"""

import pandas as pd

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.roles import CORE_COLOUR, SPARSITY_COLOURS
from heuristic_core.experiments.subnetworks.figures.rows import ft_seeds, require_rows
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.lines import draw_bands, draw_lines, legend_handles
from heuristic_core.figures.panels import make_wrapped_panels
from heuristic_core.figures.roles import Role
from heuristic_core.figures.text import format_seed

SETS = {
    "high": Role("high sparsity", SPARSITY_COLOURS["high"], "v"),
    "mid": Role("mid sparsity", SPARSITY_COLOURS["mid"], "o"),
    "mid+high": Role("both (core)", CORE_COLOUR, "D"),
}
BY_CHANCE = {name: Role("", role.colour, line="--") for name, role in SETS.items()}
COLUMNS = ["ft_seed", "set", "seeds", "heads", "sd", "expected", "choices"]


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
    """Draw a panel for each fine-tuning seed.

    Args:
        tables: Data frames by schema name: "core_seeds".
        settings: The target's ``config.figure.Figure``.
        context: Not used; every target takes it.

    Returns:
        The figure and its marks, one row per point.
    """
    points = require_rows(tables["core_seeds"], "rows in table core_seeds").sort_values(["ft_seed", "set", "seeds"])
    seeds = ft_seeds(points)
    figure, axes = make_wrapped_panels(settings, len(seeds), 2.6, sharex=True, sharey=True)
    for ax, ft_seed in zip(axes, seeds, strict=True):
        _draw_panel(ax, points[points["ft_seed"] == ft_seed])
        ax.set_title(format_seed(ft_seed), loc="left")
        ax.set(xlabel="pruning seeds whose subnetworks are compared", ylabel="heads kept by all of them")
        ax.label_outer()
    axes[0].set_ylim(bottom=0)
    for axis in (axes[0].xaxis, axes[0].yaxis):
        axis.get_major_locator().set_params(integer=True)
    title = "mean over choices of seeds, band: standard deviation over choices; dashed: heads permuted within layers"
    figure.legend(handles=legend_handles(SETS), loc="outside upper center", ncols=len(SETS), title=title)
    return figure, points[COLUMNS]


def _draw_panel(ax, points: pd.DataFrame) -> None:
    """Draw means with bands of one standard deviation, and dashed lines by chance."""
    ends = points.assign(low=points["heads"] - points["sd"], high=points["heads"] + points["sd"])
    draw_bands(ax, ends, "seeds", "set", SETS)
    draw_lines(ax, points, "seeds", "heads", "set", SETS)
    draw_lines(ax, points, "seeds", "expected", "set", BY_CHANCE, linewidth=0.9)
