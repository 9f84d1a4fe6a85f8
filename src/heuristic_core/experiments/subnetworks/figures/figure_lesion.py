"""Fine-tuning without the heads that attend to the repeated word before it, beside fine-tuning without random ones."""

import pandas as pd
from matplotlib.axes import Axes

from heuristic_core.common.errors import format_count
from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis.accuracy import select_subsets
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.config.lesion import OVERLAP
from heuristic_core.experiments.subnetworks.figures.heads import RANDOM_COLOUR
from heuristic_core.experiments.subnetworks.figures.roles import ROLES
from heuristic_core.experiments.subnetworks.figures.rows import (
    GROUPS,
    average_subsets,
    ft_seeds,
    require_rows,
    resolve_subsets,
)
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.lines import draw_bands, draw_lines, legend_handles
from heuristic_core.figures.panels import make_panels, set_percent_axis
from heuristic_core.figures.roles import Role
from heuristic_core.figures.text import format_seed

NO_LESION, RANDOM = "none", "random"
# Okabe and Ito's palette, without the colours of groups of subsets.
RANDOM_LOOKS = {RANDOM: Role("without as many random heads, a line for each set", RANDOM_COLOUR)}
MAIN_LOOKS = {NO_LESION: Role("all heads", "black"), OVERLAP: Role("without overlap heads", "#CC79A7", line="--")}
LOOKS_AND_WIDTHS = (RANDOM_LOOKS, 0.7), (MAIN_LOOKS, 1.6)  # lowest lines first


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
    """Draw a row for each fine-tuning seed and a column for each group of subsets.

    Args:
        tables: Data frames by schema name: "finetune_accuracy" and "lesion_accuracy".
        settings: The target's ``config.figure.Figure``.
        context: The study's ``config.context.Context``.

    Returns:
        The figure and its marks: one row per point, the unweighted mean over subsets, with an interval computed from
        the subsets' intervals. `lesion` is "none" for the model with all heads, `size` the number of heads removed.
    """
    unlesioned = require_rows(tables["finetune_accuracy"], "rows in table finetune_accuracy").assign(
        lesion=NO_LESION, size=0
    )
    rows = pd.concat([unlesioned, tables.get("lesion_accuracy")])
    rows = select_subsets(rows[rows["subset"].notna()], resolve_subsets(settings, context))
    points = average_subsets(rows[rows["group"].isin(GROUPS)], ["ft_seed", "lesion", "size", "step", "group"])
    seeds = ft_seeds(points)
    figure, axes = make_panels(settings, len(seeds), len(GROUPS), 1.9 * len(seeds) + 0.5, sharex=True, sharey=True)
    for row, ft_seed in zip(axes, seeds, strict=True):
        seed_points = points[points["ft_seed"] == ft_seed]
        for ax, group in zip(row, GROUPS, strict=True):
            _draw_panel(ax, seed_points[seed_points["group"] == group])
            ax.set_title(ROLES[group].label, loc="left")
            ax.set(xlabel="fine-tuning step", ylabel="accuracy (%)")
            ax.label_outer()
        row[0].set_ylabel(f"{format_seed(ft_seed)}\n{_describe_size(seed_points)}\naccuracy (%)")
    entries = [line for looks, width in reversed(LOOKS_AND_WIDTHS) for line in legend_handles(looks, linewidth=width)]
    figure.legend(handles=entries, loc="outside upper center", ncols=len(entries))
    return figure, points


def _describe_size(points: pd.DataFrame) -> str:
    """Describe, for a label, how many heads were removed."""
    sizes = points.loc[points["lesion"] == OVERLAP, "size"]
    return format_count(int(sizes.iloc[0]), "overlap head") if len(sizes) else "no overlap heads"


def _draw_panel(ax: Axes, points: pd.DataFrame) -> None:
    """Draw accuracy over fine-tuning by lesion."""
    points = points.assign(kind=points["lesion"].str.rstrip("0123456789"))
    draw_bands(ax, points, "step", "kind", MAIN_LOOKS, alpha=0.15)
    for looks, width in LOOKS_AND_WIDTHS:
        draw_lines(ax, points, "step", "accuracy", "kind", looks, unit="lesion", linewidth=width)
    set_percent_axis(ax.yaxis)
