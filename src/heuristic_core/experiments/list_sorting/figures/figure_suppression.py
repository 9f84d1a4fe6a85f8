"""Copy suppression against calibration and loss: what removing a head does, by how much this head suppresses."""

from heuristic_core.experiments.list_sorting.figures.costs import ALL, MEASURES, costs
from heuristic_core.experiments.list_sorting.figures.looks import KINDS, conditions, told_apart
from heuristic_core.figures.lines import handles
from heuristic_core.figures.panels import panels

SHOWN = ("loss", "entropy", "calibration_error")
COLUMNS = ["condition", "seed", "ablated", "role", "kind", "copying", "suppression", *SHOWN]


def draw(tables, settings):
    """Rows: what takes the head's place; columns: measures. Marks: one row per head and row of panels, a point in every
    column; measures are changes, ablated less whole model."""
    rows = costs(tables)
    rows = rows[rows["role"] != ALL]
    looks = told_apart(conditions(rows))
    figure, axes = panels(settings, len(KINDS), len(SHOWN), 1.6 * len(KINDS) + 0.6, sharex=True, sharey="col")
    for line, kind in zip(axes, KINDS, strict=True):
        of_kind = rows[rows["kind"] == kind]
        for ax, measure in zip(line, SHOWN, strict=True):
            ax.axhline(0, color="0.7", linewidth=0.6, zorder=0)
            for name, look in looks.items():
                own = of_kind[of_kind["condition"] == name]
                ax.plot(own["suppression"], own[measure], look.marker, color=look.colour, markersize=4, alpha=0.8)
        line[0].set_ylabel(f"{kind} in its place")
    for ax, measure in zip(axes[0], SHOWN, strict=True):
        ax.set_title(f"change in {MEASURES[measure]}", loc="left")
    for ax in axes[-1]:
        ax.set_xlabel("suppression of the head (0-1)")
    figure.legend(handles=handles(looks), loc="outside upper center", ncols=min(len(looks), 5))
    return figure, rows[COLUMNS]
