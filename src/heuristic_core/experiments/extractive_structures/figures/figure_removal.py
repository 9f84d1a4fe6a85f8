"""Correlations of scores with the effects of removing components, and of replacing their outputs."""

import numpy as np
import pandas as pd

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.extractive_structures.correlations import to_z
from heuristic_core.experiments.extractive_structures.figures.points import draw_points, fit_limits, make_legend_handles
from heuristic_core.experiments.extractive_structures.figures.styles import HOPS, KINDS, SCORES
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.panels import annotate_empty, make_panels
from heuristic_core.figures.seeds import append_means, drop_few_seeds

COLUMNS = {
    "restored": "r with removal of what was learned",
    "ablated": "r with ablation by the mean",
    "means": "r with full replacement",
}
SCORE_LABELS = {name: label.replace(", ", ",\n") for name, label in SCORES.items()}


def draw(tables: Tables, settings: Figure) -> Drawing:
    """Draw the figure. Rows: hops; columns: what scores are compared with.

    Marks: one row per mark. Means are computed on Fisher's z scale.
    """
    group_columns = ["hop", "kind", "score", "against"]
    removal = tables["extractive_removal"].rename(columns={"effect": "against"})
    agreement = tables["extractive_agreement"].rename(columns={"over": "against"})
    rows = pd.concat([removal, agreement])
    z_marks = drop_few_seeds(append_means(rows.assign(value=to_z(rows["r"])), group_columns))
    marks = z_marks.assign(**{name: np.tanh(z_marks[name]) for name in ("value", "low", "high")})
    marks = marks[marks["against"].isin([*COLUMNS])]
    figure, axes = make_panels(settings, len(HOPS), len(COLUMNS), 3.9, sharex=True, sharey="col")
    for row, (hop, hop_label) in zip(axes, HOPS.items(), strict=True):
        for ax, against in zip(row, COLUMNS, strict=True):
            panel_marks = marks[(marks["hop"] == hop) & (marks["against"] == against)]
            draw_points(
                ax,
                panel_marks.assign(score=panel_marks["score"].map(SCORE_LABELS)),
                "score",
                [*SCORE_LABELS.values()],
                "kind",
                KINDS,
            )
            if panel_marks["value"].isna().all():
                annotate_empty(ax, "not measured in a model of so many components")
            ax.axhline(0, color="0.7", linewidth=0.6, zorder=0)
        row[0].set_ylabel(f"{hop_label}: r")
    for ax in axes[-1]:
        ax.set_xticks(ax.get_xticks(), [*SCORE_LABELS.values()], rotation=40, ha="right", rotation_mode="anchor")
    for column, (against, title) in zip(axes.T, COLUMNS.items(), strict=True):
        column[0].set_title(title, loc="left")
        fit_limits(column, marks.loc[marks["against"] == against, "value"], -1, 1)
    figure.legend(handles=make_legend_handles(KINDS), loc="outside upper center", ncols=3)
    return figure, marks
