"""Loss, modes of heads and local learning coefficients over training, with the stages that their curves define."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.list_sorting.figures.styles import condition_names, label_lowest
from heuristic_core.experiments.list_sorting.stages import LEARNING, OVERLAP, SPECIALISATION
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.lines import legend_handles
from heuristic_core.figures.panels import annotate_empty, make_panels
from heuristic_core.figures.roles import Role
from heuristic_core.figures.seeds import MEAN_LINE_STYLE, SEED_LINE_STYLE, append_means, draw_seed_lines

LLC = "LLC"  # local learning coefficient
# Columns of panels -> their curves. Okabe and Ito's palette.
CURVES = {
    "loss (nats)": {"loss": Role("loss", "black")},
    "modes": {
        "overlap": Role("overlap", "black", line=":"),
        "splitting": Role("splitting", "#0072B2"),
        "suppression": Role("suppression", "#D55E00", line="--"),
    },
    LLC: {
        "raw": Role("LLC raw", "black", "o"),
        "scaled": Role("LLC scaled", "0.35", "s", "--"),
        "tilted": Role("LLC tilted", "0.6", "^", "-."),
    },
}
MEASURES = {name: panel for panel, curves in CURVES.items() for name in curves if panel != LLC}
STAGES = {LEARNING: "#56B4E9", OVERLAP: "#F0E442", SPECIALISATION: "#332288"}
BAR_SPACING, BARS_TOP = 0.05, 0.98  # height of a stage's bar with its gap, and top of the bars, as shares of a panel
CURVE_HEIGHT = 1 - (len(STAGES) + 0.5) * BAR_SPACING  # share of a panel's height, below the bars
COLUMNS = ["condition", "panel", "curve", "seed", "step", "value", "low", "high", "seeds", "reason"]


def draw(tables: Tables, settings: Figure) -> Drawing:
    """Draw a row for each condition, and a column for each kind of curves, without step 0 on the logarithmic axis.

    Where LLCs were sampled, only their conditions have a row.

    Returns:
        The figure, and marks: one row per point and per end of a stage.
    """
    points = _with_reasons(append_means(_curves(tables), ["condition", "panel", "curve", "step"]), tables)
    if (sampled := points["panel"] == LLC).any():
        points = points[points["condition"].isin(points.loc[sampled, "condition"])]
    names, panels = condition_names(points), set(points["panel"])
    columns = {panel: looks for panel, looks in CURVES.items() if panel in panels}
    stages = tables["sorting_stages"]
    stages = stages[stages["condition"].isin(names)]
    figure, axes = make_panels(settings, len(names), len(columns), 1.3 * len(names) + 0.8, sharex=True, sharey="col")
    for row, name in zip(axes, names, strict=True):
        condition_points = points[points["condition"] == name]
        for ax, (panel, looks) in zip(row, columns.items(), strict=True):
            _panel(ax, condition_points[condition_points["panel"] == panel], looks)
            if ax.lines:
                _draw_stages(ax, stages[stages["condition"] == name])
        row[0].set_ylabel(name)
    highest = points.loc[points["panel"] == "modes", "value"].max()
    for ax, panel in zip(axes[0], columns, strict=True):
        ax.set_title(panel, loc="left")
        if panel == LLC:
            ax.set_yscale("symlog", linthresh=1.0)
        if panel == "modes":
            ax.set(ylim=(-0.04, max(1.0, highest) + 0.04), yticks=np.linspace(0, 1, 5))
    axes[0, 0].set(xscale="log", yscale="log")
    for column in axes.T:
        _make_room(column[0])
        label_lowest(column, "training step")
    for ax in axes.flat:
        ax.tick_params(which="minor", length=1.5)
    figure.legend(handles=_handles(points, stages), loc="outside upper center", ncols=5)
    return figure, pd.concat([points, _ends(stages)], ignore_index=True).reindex(columns=COLUMNS)


def _curves(tables) -> pd.DataFrame:
    """Return condition, panel, curve, seed, step and value of every seed's curves."""
    curves = tables["sorting_models"].melt(["condition", "seed", "step"], list(MEASURES), "curve", "value")
    curves["panel"] = curves["curve"].map(MEASURES)
    if "sorting_llc" in tables:
        llc = tables["sorting_llc"].rename(columns={"estimator": "curve"})
        curves = pd.concat([curves, llc[["condition", "seed", "step", "curve", "value"]].assign(panel=LLC)])
    return curves[curves["step"] > 0]


def _with_reasons(points: pd.DataFrame, tables) -> pd.DataFrame:
    """Add the reasons of missing LLCs to `points`."""
    if "sorting_llc" not in tables:
        return points
    reasons = tables["sorting_llc"].rename(columns={"estimator": "curve"}).astype({"seed": "Int64"})
    keys = ["condition", "curve", "seed", "step"]
    return points.merge(reasons[[*keys, "reason"]], on=keys, how="left")


def _panel(ax: Axes, points: pd.DataFrame, looks: dict[str, Role]) -> None:
    """Draw the curves of a panel, or say that no checkpoint has a value."""
    if points["value"].notna().any():
        draw_seed_lines(ax, points, "step", "curve", looks)
    else:
        ax.set_axis_off()
        annotate_empty(ax, "no checkpoint has a value")
    ax.set(xlabel="", ylabel="")


def _draw_stages(ax: Axes, stages: pd.DataFrame) -> None:
    """Draw stages as bars, each at its own height at the top, since they may overlap."""
    ends = stages.pivot(index="stage", columns="point", values="step").dropna()
    for number, (stage, colour) in enumerate(STAGES.items()):
        if stage in ends.index:
            start, end = ends.loc[stage, ["start", "end"]]
            top = BARS_TOP - number * BAR_SPACING
            ax.axvspan(start, end, top - 0.7 * BAR_SPACING, top, color=colour, linewidth=0)


def _make_room(ax: Axes) -> None:
    """Raise the upper limit of a column's panels, so that the bars of stages are above the curves."""
    transform = ax.yaxis.get_transform()
    low, high = transform.transform(np.array(ax.get_ylim()))
    ax.set_ylim(top=transform.inverted().transform(np.array([low + (high - low) / CURVE_HEIGHT]))[0])


def _ends(stages: pd.DataFrame) -> pd.DataFrame:
    """Return the ends of stages as marks; low and high are steps, too."""
    ends = stages.assign(panel="stage", curve=stages["stage"] + " " + stages["point"])
    return ends[["condition", "panel", "curve", "step", "low", "high", "seeds", "reason"]]


def _handles(points: pd.DataFrame, stages: pd.DataFrame) -> list:
    """Return the entries of the legend."""
    drawn = set(points["curve"])
    multiple = [looks for looks in CURVES.values() if len(looks) > 1]  # the title names a single curve
    looks = {name: look for panel in multiple for name, look in panel.items() if name in drawn}
    widths = [
        Line2D([], [], color="black", label=label, **width)
        for label, width in (("one seed", SEED_LINE_STYLE), ("mean over seeds", MEAN_LINE_STYLE))
    ]
    present_stages = set(stages.loc[stages["step"].notna(), "stage"])
    bars = [Patch(color=STAGES[stage], linewidth=0, label=stage) for stage in STAGES if stage in present_stages]
    return [*widths, *legend_handles(looks, **MEAN_LINE_STYLE), *bars]
