"""Copy suppression against calibration and loss: the effect of ablating a head, by how much it suppresses."""

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.list_sorting.figures.costs import ALL_HEADS, MEASURES, ablation_costs
from heuristic_core.experiments.list_sorting.figures.styles import HEADS, KINDS, assign_markers, condition_names
from heuristic_core.experiments.list_sorting.modes import OTHER
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.lines import legend_handles
from heuristic_core.figures.panels import make_panels
from heuristic_core.figures.roles import Role

DRAWN_MEASURES = ("loss", "entropy", "calibration_error")
LABELS = {role: look.label.removeprefix("head ") for role, look in HEADS.items()} | {OTHER: "other"}
COLUMNS = ["condition", "seed", "ablated", "role", "kind", "copying", "suppression", *DRAWN_MEASURES]


def draw(tables: Tables, settings: Figure) -> Drawing:
    """Draw a row for each kind of ablation, and a column for each measure; colours are roles, shapes conditions.

    Returns:
        The figure, and marks: one row per head and row of panels, a point in every column; measures are changes,
        ablated minus whole model.
    """
    rows = ablation_costs(tables)
    rows = rows[rows["role"] != ALL_HEADS]
    markers = assign_markers(condition_names(rows))
    present = {role: look for role, look in HEADS.items() if (rows["role"] == role).any()}
    figure, axes = make_panels(
        settings, len(KINDS), len(DRAWN_MEASURES), 1.6 * len(KINDS) + 0.8, sharex=True, sharey="col"
    )
    for row, kind in zip(axes, KINDS, strict=True):
        kind_rows = rows[rows["kind"] == kind]
        for ax, measure in zip(row, DRAWN_MEASURES, strict=True):
            ax.axhline(0, color="0.7", linewidth=0.6, zorder=0)
            for (name, role), heads in kind_rows.groupby(["condition", "role"], sort=False):
                look = {"color": present[role].colour, "markeredgecolor": "white", "markeredgewidth": 0.3}
                ax.plot(heads["suppression"], heads[measure], markers[name], markersize=4.5, alpha=0.85, **look)
        row[0].set_ylabel(f"{KINDS[kind].label} in its place")
    for ax, measure in zip(axes[0], DRAWN_MEASURES, strict=True):
        ax.set_title(f"change in {MEASURES[measure]}", loc="left")
    for ax in axes[-1]:
        ax.set_xlabel("suppression of the head (0-1)")
    roles = {role: look._replace(marker="o", line="", label=LABELS[role]) for role, look in present.items()}
    shapes = {name: Role(name, "0.4", marker, "") for name, marker in markers.items()}
    figure.legend(handles=legend_handles(roles), loc="outside upper left", title="head")
    figure.legend(handles=legend_handles(shapes), loc="outside upper right", title="model's condition", ncols=4)
    return figure, rows[COLUMNS]
