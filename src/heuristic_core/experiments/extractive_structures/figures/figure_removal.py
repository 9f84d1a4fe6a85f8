"""How well scores tell what taking components away costs, and what replacing their outputs does."""

import numpy as np
import pandas as pd

from heuristic_core.experiments.extractive_structures.correlations import to_z
from heuristic_core.experiments.extractive_structures.figures.looks import HOPS, KINDS, SCORES
from heuristic_core.experiments.extractive_structures.figures.points import fit, legend, points
from heuristic_core.figures.panels import noted, panels
from heuristic_core.figures.seeds import with_means

COLUMNS = {
    "restored": "r with removal of what was learned",
    "ablated": "r with ablation by the mean",
    "means": "r with full replacement",
}
NAMES = {name: words.replace(", ", ",\n") for name, words in SCORES.items()}


def draw(tables, settings):
    """Rows: hops; columns: what scores are held against. Marks: one row per mark. Means are of Fisher's z."""
    by = ["hop", "kind", "score", "against"]
    removal = tables["extractive_removal"].rename(columns={"effect": "against"})
    agreement = tables["extractive_agreement"].rename(columns={"over": "against"})
    of_z = with_means(pd.concat([removal, agreement]).assign(value=lambda rows: to_z(rows["r"])), by)
    marks = of_z.assign(**{name: np.tanh(of_z[name]) for name in ("value", "low", "high")})
    marks = marks[marks["against"].isin([*COLUMNS])]
    figure, axes = panels(settings, len(HOPS), len(COLUMNS), 4.2, sharex=True, sharey="col")
    for row, (hop, words) in zip(axes, HOPS.items(), strict=True):
        for ax, against in zip(row, COLUMNS, strict=True):
            of_panel = marks[(marks["hop"] == hop) & (marks["against"] == against)]
            points(ax, of_panel.assign(score=of_panel["score"].map(NAMES)), "score", [*NAMES.values()], "kind", KINDS)
            if of_panel["value"].isna().all():
                noted(ax, "not measured in a model of so many components")
            ax.tick_params(axis="x", rotation=90)
            ax.axhline(0, color="0.7", linewidth=0.6, zorder=0)
        row[0].set_ylabel(words)
    for column, (against, words) in zip(axes.T, COLUMNS.items(), strict=True):
        column[0].set_title(words, loc="left")
        fit(column, marks.loc[marks["against"] == against, "value"], -1, 1)
    figure.legend(handles=legend(KINDS), loc="outside upper center", ncols=3)
    return figure, marks
