"""CPR and CMD over fine-tuning: how much of the model subnetworks of all sizes keep, without a threshold."""

import pandas as pd
from matplotlib.lines import Line2D

from heuristic_core.experiments.subnetworks.analysis.circuit_performance import GROUPS
from heuristic_core.experiments.subnetworks.analysis.size_states import UNDEFINED
from heuristic_core.experiments.subnetworks.figures.roles import COLOURS, ROLES
from heuristic_core.experiments.subnetworks.figures.rows import ft_seeds, reject_subsets, require_rows
from heuristic_core.figures.lines import draw_lines, legend_handles
from heuristic_core.figures.panels import make_wrapped_panels
from heuristic_core.figures.text import format_seed

GROUP_OFFSET = 0.012  # share of the range of steps between two groups, so that equal values do not overlap
SEED_STYLE = {"linestyle": "", "marker": "o", "markersize": 2.5, "alpha": 0.7}
LABELS = {"cpr": "CPR", "cmd": "CMD"}
COLUMNS = ["ft_seed", "measure", "group", "step", "seed", "value", "low", "high", "full_accuracy", "empty_accuracy"]


def draw(tables, settings, context):
    """Draw two panels for each fine-tuning seed, CPR and CMD.

    Args:
        tables: Data frames by schema name: "circuit_performance".
        settings: The target's ``config.figure.Figure``.
        context: The study's ``config.context.Context``.

    Returns:
        The figure and its marks, one row per point; `seed` is null for means.
    """
    reject_subsets(settings)
    rows = require_rows(tables["circuit_performance"], "rows in table circuit_performance")
    marks = pd.concat([_select_measure(rows, measure) for measure in LABELS], ignore_index=True)
    looks = {group: ROLES[group] for group in GROUPS if group in set(marks["group"])}
    offset = GROUP_OFFSET * (marks["step"].max() - marks["step"].min())
    place = {group: (k - (len(looks) - 1) / 2) * offset for k, group in enumerate(looks)}
    marks = marks.assign(x=marks["step"] + marks["group"].map(place))
    panel_keys = [(ft_seed, measure) for ft_seed in ft_seeds(marks) for measure in LABELS]
    figure, axes = make_wrapped_panels(settings, len(panel_keys), 2.5, sharex=True, sharey=True)
    for ax, (ft_seed, measure) in zip(axes, panel_keys, strict=True):
        _draw_panel(ax, marks[(marks["ft_seed"] == ft_seed) & (marks["measure"] == measure)], looks)
        ax.set_title(f"{format_seed(ft_seed)}: {LABELS[measure]}", loc="left")
        ax.set(xlabel="fine-tuning step", ylabel="CPR, CMD (%)")
        ax.label_outer()
        # An interval over two or three seeds may reach far beyond all values.
        ax.set_ylim(min(-3, marks["value"].min() - 5), max(103, marks["value"].max() + 5))
    entries = [
        *legend_handles(looks),
        Line2D([], [], color="0.3", **SEED_STYLE, label="pruning seeds"),
        Line2D([], [], color="0.3", marker="x", linestyle="", label="undefined: full model not clearly above empty"),
    ]
    title = f"mean of {len(context.curve_seeds)} pruning seeds, 95 % interval over seeds and pairs"
    figure.legend(handles=entries, loc="outside upper left", ncols=3, title=title, alignment="left")
    return figure, marks[[*COLUMNS, "n_seeds", "reason"]]


def _select_measure(rows: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the values and intervals of one measure, ordered by step."""
    names = {measure: "value", f"{measure}_low": "low", f"{measure}_high": "high"}
    return rows.rename(columns=names).assign(measure=measure).sort_values("step", kind="stable")


def _draw_panel(ax, marks: pd.DataFrame, looks: dict) -> None:
    """Draw means with intervals, pruning seeds, and crosses on the axis for undefined means."""
    means, seeds = marks[marks["seed"].isna()], marks[marks["seed"].notna()]
    draw_lines(ax, means, "x", "value", "group", looks)
    ax.vlines("x", "low", "high", colors=means["group"].map(COLOURS), linewidth=0.8, data=means)
    for group in looks:
        ax.plot("x", "value", color=COLOURS[group], **SEED_STYLE, data=seeds[seeds["group"] == group])
    undefined = means[means["reason"].str.startswith(UNDEFINED).fillna(False).astype(bool)].assign(y=0)
    ax.scatter("x", "y", c=undefined["group"].map(COLOURS), marker="x", s=25, linewidth=1.2, zorder=3, data=undefined)
