"""CPR and CMD over fine-tuning: how much of the model subnetworks of all sizes keep, without a threshold."""

import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis.circuit_performance import GROUPS
from heuristic_core.experiments.subnetworks.analysis.size_states import UNDEFINED
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.roles import ROLES
from heuristic_core.experiments.subnetworks.figures.rows import ft_seeds, reject_subsets, require_rows
from heuristic_core.experiments.subnetworks.figures.seed_points import (
    HATCH,
    MEAN_STYLE,
    SEED_STYLE,
    hatch_undefined,
    mark_checkpoints,
    space_groups,
    spread_seeds,
)
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.lines import draw_lines
from heuristic_core.figures.panels import make_wrapped_panels
from heuristic_core.figures.text import format_seed

LABELS = {"cpr": "CPR: share of the full model kept", "cmd": "CMD: distance from the full model"}
COLUMNS = ["ft_seed", "measure", "group", "step", "seed", "value", "full_accuracy", "empty_accuracy"]


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
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
    looks = {group: ROLES[group]._replace(marker="_", line="-") for group in GROUPS if group in set(marks["group"])}
    spacing = space_groups(marks["step"].max() - marks["step"].min(), marks["step"])
    place = {group: (k - (len(looks) - 1) / 2) * spacing for k, group in enumerate(looks)}
    marks = marks.assign(x=marks["step"] + marks["group"].map(place))
    panel_keys = [(ft_seed, measure) for ft_seed in ft_seeds(marks) for measure in LABELS]
    figure, axes = make_wrapped_panels(settings, len(panel_keys), 2.3, sharex=True, sharey=True)
    for ax, (ft_seed, measure) in zip(axes, panel_keys, strict=True):
        _draw_panel(ax, marks[(marks["ft_seed"] == ft_seed) & (marks["measure"] == measure)], looks, spacing)
        ax.set_title(f"{format_seed(ft_seed)}, {LABELS[measure]}", loc="left")
        ax.set(xlabel="fine-tuning step", ylabel="CPR, CMD (%)")
        ax.label_outer()
        ax.set_ylim(min(-3, marks["value"].min() - 5), max(103, marks["value"].max() + 5))
    grey = {"color": "0.3"}
    undefined = "undefined: full model not above the empty circuit"
    entries = [
        *(Patch(color=look.colour, label=look.label) for look in looks.values()),
        Line2D([], [], **grey, **MEAN_STYLE, label=f"mean of {len(context.curve_seeds)}"),
        Line2D([], [], **grey, **SEED_STYLE, label="pruning seed"),
        Patch(fill=False, hatch=HATCH, edgecolor="0.3", linewidth=0, label=undefined),
    ]
    figure.legend(handles=entries, loc="outside upper center", ncols=len(entries), handlelength=1.4, columnspacing=1.1)
    return figure, marks[[*COLUMNS, "n_seeds", "reason"]]


def _select_measure(rows: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the values of one measure, ordered by step."""
    return rows.rename(columns={measure: "value"}).assign(measure=measure).sort_values("step", kind="stable")


def _draw_panel(ax, marks: pd.DataFrame, looks: dict, spacing: float) -> None:
    """Draw means, pruning seeds beside each other, and hatches for undefined means."""
    mark_checkpoints(ax, marks["step"])
    means, seeds = marks[marks["seed"].isna()], marks[marks["seed"].notna()]
    is_undefined = means["reason"].str.startswith(UNDEFINED).fillna(False).astype(bool)
    for group, look in looks.items():
        hatch_undefined(ax, means.loc[is_undefined & (means["group"] == group), "x"], spacing, look.colour)
        single = seeds[seeds["group"] == group]
        ax.plot(spread_seeds(single, spacing), single["value"], color=look.colour, **SEED_STYLE, zorder=3)
    draw_lines(ax, means, "x", "value", "group", looks, **MEAN_STYLE)
