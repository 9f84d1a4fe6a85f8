"""When heads enter subnetworks over fine-tuning: how often they are kept, with the full model's OOD accuracy."""

import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.accuracy import OOD
from heuristic_core.experiments.subnetworks.analysis.entry import CORE, COUNTER, MIN_SHARE, OTHER, compute_percents
from heuristic_core.experiments.subnetworks.figures.roles import ROLES
from heuristic_core.experiments.subnetworks.figures.rows import (
    average_subsets,
    ft_seeds,
    reject_subsets,
    require_rows,
)
from heuristic_core.figures.lines import draw_lines, legend_handles
from heuristic_core.figures.panels import make_wrapped_panels, set_percent_axis
from heuristic_core.figures.roles import Role
from heuristic_core.figures.text import format_percent, format_seed

LOOKS = {
    OTHER: Role("other heads", "0.6", "s", ":"),
    COUNTER: Role("counter-heuristic heads", "#E69F00", "v", "-."),
    CORE: Role("core heads", "black", "D", "-"),
}
HEAD_LOOKS = {group: look._replace(marker="", line="-") for group, look in LOOKS.items()}
MODEL_LOOK = {OOD: ROLES[OOD]._replace(label="full model's OOD accuracy", marker="")}
GUIDE_STYLE = {"color": "0.8", "linewidth": 0.8, "zorder": 0}
COLUMNS = ["ft_seed", "step", "group", "name", "percent", "n"]


def draw(tables, settings, context):
    """Draw a panel for each fine-tuning seed.

    Args:
        tables: Data frames by schema name: "entry_frequency" and "finetune_accuracy".
        settings: The target's ``config.figure.Figure``.
        context: The study's ``config.context.Context``.

    Returns:
        The figure and its marks, one row per point; `name` is null for means of groups and for OOD accuracy.
    """
    reject_subsets(settings)
    heads = require_rows(tables["entry_frequency"], "rows in table entry_frequency")
    heads = heads.assign(percent=compute_percents(heads)).sort_values(["group", "component", "step"])
    group_means = heads.groupby(["ft_seed", "step", "group"])["percent"].agg(percent="mean", n="size").reset_index()
    trace = tables["finetune_accuracy"]
    trace = trace[trace["subset"].notna() & (trace["group"] == OOD)]
    if context.subsets:
        trace = trace[trace["subset"].isin(list(context.subsets))]
    trace = average_subsets(trace, ["ft_seed", "step", "group"]).rename(columns={"accuracy": "percent", "subsets": "n"})
    points, seeds = pd.concat([heads, group_means, trace], ignore_index=True), ft_seeds(heads)
    points = points[points["ft_seed"].isin(seeds)]
    figure, axes = make_wrapped_panels(settings, len(seeds), 2.9, sharex=True, sharey=True)
    for ax, ft_seed in zip(axes, seeds, strict=True):
        _draw_panel(ax, points[points["ft_seed"] == ft_seed])
        ax.set_title(format_seed(ft_seed), loc="left")
        ax.set(
            xlabel="fine-tuning step",
            ylabel=f"subnetworks at {format_percent(context.mid)} sparsity\nthat keep a head (%)",
        )
        ax.label_outer()
    looks = {group: look for group, look in LOOKS.items() if (heads["group"] == group).any()}
    title = f"thin: single heads, bold: means; horizontal line: {MIN_SHARE:g} %, from which a head has entered"
    figure.legend(
        handles=legend_handles(looks | MODEL_LOOK), loc="outside upper center", ncols=len(looks) + 1, title=title
    )
    return figure, points[COLUMNS]


def _draw_panel(ax, points: pd.DataFrame) -> None:
    """Draw single heads as thin lines, means of groups as bold lines, and the full model's OOD accuracy."""
    ax.axhline(MIN_SHARE, **GUIDE_STYLE)
    single, group_means = points[points["name"].notna()], points[points["name"].isna()]
    draw_lines(ax, single, "step", "percent", "group", HEAD_LOOKS, unit="name", linewidth=0.5, alpha=0.6)
    draw_lines(ax, group_means, "step", "percent", "group", LOOKS, linewidth=2)
    draw_lines(ax, group_means, "step", "percent", "group", MODEL_LOOK, linewidth=1.2)
    set_percent_axis(ax.yaxis)
