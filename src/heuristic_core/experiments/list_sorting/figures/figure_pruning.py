"""Effective size in halves of heads over training, beside the local learning coefficient and what pruning keeps."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.list_sorting.figures.figure_development import CURVES, LLC
from heuristic_core.experiments.list_sorting.figures.styles import HEADS, condition_names, label_lowest
from heuristic_core.experiments.list_sorting.modes import COPIES, OTHER, SUPPRESSES, assign_roles
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.lines import legend_handles
from heuristic_core.figures.panels import annotate_empty, make_panels, set_percent_axis
from heuristic_core.figures.roles import Role
from heuristic_core.figures.rows import require_rows
from heuristic_core.figures.seeds import SEED_LINE_STYLE, append_means, draw_seed_lines

SIZE, KEPT = "effective size (%)", "learned subsets with a half (%)"
SIZES = {"accuracy": Role("by accuracy", "black"), "kl": Role("by KL", "0.5", line="--")}
HALVES = {
    f"{role} {half}": Role(f"{half.upper()} of {words}", colour, marker, line)
    for role, words, colour in (
        (COPIES, "copying head", HEADS[COPIES].colour),
        (SUPPRESSES, "suppressing head", HEADS[SUPPRESSES].colour),
        (OTHER, "other heads, mean", HEADS[OTHER].colour),
    )
    for half, marker, line in (("qk", "o", "-"), ("ov", "s", "--"))
}
LLCS = {name: look._replace(label=look.label.removeprefix("LLC ")) for name, look in CURVES[LLC].items()}
LOOKS = {SIZE: SIZES, LLC: LLCS, KEPT: HALVES}  # columns of panels
COLUMNS = ["condition", "panel", "curve", "step", "seed", "value", "seeds"]


def draw(tables: Tables, settings: Figure) -> Drawing:
    """Draw a row for each condition, and a column for each measure, without step 0 on the logarithmic axis.

    Coefficients have no column if the study lacks them.

    Returns:
        The figure, and marks: one row per point.
    """
    curves = pd.concat([_sizes(tables), _llc(tables), _kept(tables)], ignore_index=True)
    points = append_means(curves[curves["step"] > 0], ["condition", "panel", "curve", "step"])
    names, present = condition_names(points), set(points["panel"])
    panel_looks = {panel: looks for panel, looks in LOOKS.items() if panel in present}
    figure, axes = make_panels(
        settings, len(names), len(panel_looks), 1.5 * len(names) + 1.0, sharex=True, sharey="col"
    )
    for row, name in zip(axes, names, strict=True):
        condition_points = points[points["condition"] == name]
        for ax, (panel, looks) in zip(row, panel_looks.items(), strict=True):
            _panel(ax, condition_points[condition_points["panel"] == panel], looks)
            ax.set(xlabel="", ylabel="")
        row[0].set_ylabel(name)
    seed = Line2D([], [], color="black", label="one seed", **SEED_LINE_STYLE)
    drawn = set(points["curve"])
    for column, (panel, looks) in zip(axes.T, panel_looks.items(), strict=True):
        present_looks = {curve: look for curve, look in looks.items() if curve in drawn}
        column[0].set_title(panel, loc="left")
        legend = {"loc": "lower left", "bbox_to_anchor": (-0.02, 1.13), "borderpad": 0, "handlelength": 2.2}
        handles = legend_handles(present_looks)
        column[0].legend(handles=handles if column[0] is not axes[0, 0] else [seed, *handles], **legend)
        label_lowest(column, "training step")
    for ax in axes[:, [0, -1]].flat:
        set_percent_axis(ax.yaxis)
    axes[0, 0].set_xscale("log")
    return figure, points[COLUMNS]


def _panel(ax: Axes, points: pd.DataFrame, looks: dict[str, Role]) -> None:
    """Draw the curves of a panel, or say that no checkpoint has a value; leave it blank if nothing was sampled."""
    if points["value"].notna().any():
        draw_seed_lines(ax, points, "step", "curve", looks)
    else:
        ax.set_axis_off()
        if len(points):
            annotate_empty(ax, "no checkpoint has a value")


def _sizes(tables) -> pd.DataFrame:
    """Return effective sizes, in halves."""
    sizes = require_rows(tables["sorting_sizes"], "rows in table sorting_sizes")
    sizes = sizes[sizes["unit"] == "half"].assign(panel=SIZE)
    return _points(sizes, "criterion", "effective_size")


def _llc(tables) -> pd.DataFrame:
    """Return coefficients of the conditions that are pruned; no rows if the study lacks them."""
    if "sorting_llc" not in tables:
        return pd.DataFrame()
    llc = tables["sorting_llc"]
    pruned = llc["condition"].isin(condition_names(tables["sorting_sizes"]))
    return _points(llc[pruned].assign(panel=LLC), "estimator", "value")


def _kept(tables) -> pd.DataFrame:
    """Return the share of learned subsets that keep a half, by the role of its head; other heads are averaged."""
    core = tables["sorting_core"]
    head_keys = ["condition", "seed", "step", "head"]
    rows = core.merge(
        assign_roles(core[core["half"] == "qk"])[[*head_keys, "role"]], on=head_keys, validate="many_to_one"
    )
    rows["share"] = 100 * rows["kept_by"].astype(float) / rows["of"].astype(float).where(rows["of"] > 0)
    rows = rows.assign(panel=KEPT, curve=rows["role"] + " " + rows["half"])
    keys = ["condition", "panel", "curve", "seed", "step"]
    return _points(rows.groupby(keys, sort=False, as_index=False)["share"].mean(), "curve", "share")


def _points(rows: pd.DataFrame, curve: str, value: str) -> pd.DataFrame:
    """Return the columns that all panels share."""
    renamed = rows.rename(columns={curve: "curve", value: "value"})
    return renamed[["condition", "panel", "curve", "seed", "step", "value"]].astype({"value": float})
