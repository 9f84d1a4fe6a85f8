"""Loss, modes of heads and local learning coefficients over training, with the stages that their curves define."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from heuristic_core.experiments.list_sorting.figures.looks import condition_names
from heuristic_core.experiments.list_sorting.modes import add_suppression
from heuristic_core.experiments.list_sorting.stages import LEARNING, OVERLAP, SPECIALISATION
from heuristic_core.figures.lines import legend_handles
from heuristic_core.figures.panels import annotate_empty, make_panels
from heuristic_core.figures.roles import Role
from heuristic_core.figures.seeds import MEAN_LINE_STYLE, SEED_LINE_STYLE, append_means, draw_seed_lines

LLC = "LLC"  # local learning coefficient
# Columns of panels -> their curves. Okabe and Ito's palette.
CURVES = {
    "loss (nats)": {"loss": Role("loss", "black")},
    "soft overlap": {"soft_overlap": Role("soft overlap", "black")},
    "share of numbers": {
        "splitting": Role("splitting", "#0072B2"),
        "suppression": Role("suppression", "#D55E00", line="--"),
    },
    LLC: {
        "raw": Role("LLC raw", "black", "o"),
        "scaled": Role("LLC scaled", "#E69F00", "s", "--"),
        "tilted": Role("LLC tilted", "#009E73", "^", "-."),
    },
}
SHARES = ("soft overlap", "share of numbers")
MEASURES = {name: panel for panel, curves in CURVES.items() for name in curves if panel != LLC}
SHADES = {LEARNING: "#56B4E9", OVERLAP: "#F0E442", SPECIALISATION: "#CC79A7"}
ALPHA = 0.25
COLUMNS = ["condition", "panel", "curve", "seed", "step", "value", "low", "high", "seeds", "reason"]


def draw(tables, settings):
    """Draw a row for each condition, and a column for each measure, without step 0 on the logarithmic axis.

    Returns:
        The figure, and marks: one row per point and per end of a stage.
    """
    models = tables["sorting_models"]
    points = _with_reasons(append_means(_curves(tables), ["condition", "panel", "curve", "step"]), tables)
    stages, names = tables["sorting_stages"], condition_names(models)
    height = 1.3 * len(names) + 0.8
    figure, axes = make_panels(settings, len(names), len(CURVES), height, sharex=True, sharey="col")
    for row, name in zip(axes, names, strict=True):
        condition_points = points[points["condition"] == name]
        for ax, (panel, looks) in zip(row, CURVES.items(), strict=True):
            _panel(ax, condition_points[condition_points["panel"] == panel], looks)
            _shade(ax, stages[stages["condition"] == name])
        row[0].set_ylabel(name)
    for ax, panel in zip(axes[0], CURVES, strict=True):
        ax.set_title(panel, loc="left")
        if panel in SHARES:
            ax.set_ylim(-0.04, 1.04)
    axes[0, 0].set(xscale="log", yscale="log")
    for ax in axes.flat:
        ax.tick_params(which="minor", length=1.5)
    for ax in axes[-1]:
        ax.set_xlabel("training step")
    figure.legend(handles=_handles(points, stages), loc="outside upper center", ncols=5)
    return figure, pd.concat([points, _ends(stages)], ignore_index=True).reindex(columns=COLUMNS)


def _curves(tables) -> pd.DataFrame:
    """Return condition, panel, curve, seed, step and value of every seed's curves."""
    models = add_suppression(tables["sorting_models"], tables["sorting_heads"])
    curves = models.melt(["condition", "seed", "step"], list(MEASURES), "curve", "value")
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
    """Draw the curves of a panel, or say why there are none."""
    if points["value"].notna().any():
        draw_seed_lines(ax, points, "step", "curve", looks)
    elif points.empty:
        annotate_empty(ax, "not sampled in this condition")
    else:
        annotate_empty(ax, "no checkpoint has a value")
    ax.set(xlabel="", ylabel="")


def _shade(ax: Axes, stages: pd.DataFrame) -> None:
    """Shade the stages."""
    ends = stages.pivot(index="stage", columns="point", values="step").dropna()
    for stage, row in ends.iterrows():
        ax.axvspan(row["start"], row["end"], color=SHADES[stage], alpha=ALPHA, linewidth=0, zorder=0)


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
    shades = [
        Patch(color=SHADES[stage], alpha=ALPHA, linewidth=0, label=stage) for stage in SHADES if stage in present_stages
    ]
    return [*widths, *legend_handles(looks, **MEAN_LINE_STYLE), *shades]
