"""Copy suppression against calibration and loss: the effect of ablating a head, by how much it suppresses."""

from heuristic_core.experiments.list_sorting.figures.costs import ALL_HEADS, MEASURES, ablation_costs
from heuristic_core.experiments.list_sorting.figures.looks import KINDS, assign_looks, condition_names
from heuristic_core.figures.lines import legend_handles
from heuristic_core.figures.panels import make_panels

DRAWN_MEASURES = ("loss", "entropy", "calibration_error")
COLUMNS = ["condition", "seed", "ablated", "role", "kind", "copying", "suppression", *DRAWN_MEASURES]


def draw(tables, settings):
    """Draw a row for each kind of ablation, and a column for each measure.

    Returns:
        The figure, and marks: one row per head and row of panels, a point in every column; measures are changes,
        ablated minus whole model.
    """
    rows = ablation_costs(tables)
    rows = rows[rows["role"] != ALL_HEADS]
    looks = assign_looks(condition_names(rows))
    figure, axes = make_panels(
        settings, len(KINDS), len(DRAWN_MEASURES), 1.6 * len(KINDS) + 0.6, sharex=True, sharey="col"
    )
    for row, kind in zip(axes, KINDS, strict=True):
        kind_rows = rows[rows["kind"] == kind]
        for ax, measure in zip(row, DRAWN_MEASURES, strict=True):
            ax.axhline(0, color="0.7", linewidth=0.6, zorder=0)
            for name, look in looks.items():
                condition_rows = kind_rows[kind_rows["condition"] == name]
                ax.plot(
                    condition_rows["suppression"],
                    condition_rows[measure],
                    look.marker,
                    color=look.colour,
                    markersize=4,
                    alpha=0.8,
                )
        row[0].set_ylabel(f"{kind} in its place")
    for ax, measure in zip(axes[0], DRAWN_MEASURES, strict=True):
        ax.set_title(f"change in {MEASURES[measure]}", loc="left")
    for ax in axes[-1]:
        ax.set_xlabel("suppression of the head (0-1)")
    figure.legend(handles=legend_handles(looks), loc="outside upper center", ncols=min(len(looks), 5))
    return figure, rows[COLUMNS]
