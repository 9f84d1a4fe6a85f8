"""Rank correlations of heads' scores between relations, means over seeds."""

import numpy as np
import pandas as pd
import seaborn as sns

from heuristic_core.experiments.extractive_structures.figures.looks import SCORES
from heuristic_core.figures.panels import make_wrapped_panels
from heuristic_core.figures.seeds import append_means
from heuristic_core.figures.style import SMALL_FONT_SIZE


def draw(tables, settings):
    """Draw a panel for each score.

    Marks: one row per pair of relations, for every seed and for their mean; `value` is rho.
    """
    pairs = tables["extractive_transfer"].query("kind == 'head'").rename(columns={"rho": "value"})
    marks = append_means(pairs, ["score", "a", "b"])
    means = marks[marks["seed"].isna()]
    names = list(dict.fromkeys([*means["a"], *means["b"]]))
    figure, axes = make_wrapped_panels(settings, len(SCORES), 0.3 * len(names) + 0.9)
    for ax, (score, label) in zip(axes, SCORES.items(), strict=True):
        sns.heatmap(
            _fill_matrix(means[means["score"] == score], names), vmin=-1, vmax=1, cmap="RdBu", annot=True, fmt=".2f",
            annot_kws={"fontsize": SMALL_FONT_SIZE}, linewidths=0.3, cbar=False, ax=ax,
        )  # fmt: skip
        ax.set_title(f"heads: {label}", loc="left")
        ax.set(xlabel="", ylabel="")
        ax.tick_params(length=0)
        ax.tick_params(axis="x", rotation=45)
        ax.tick_params(axis="y", rotation=0)
    return figure, marks


def _fill_matrix(pairs: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Return the symmetric matrix of all relations; its diagonal is NaN."""
    matrix = pd.DataFrame(np.nan, index=names, columns=names)
    for pair in pairs.itertuples():
        matrix.loc[pair.a, pair.b] = matrix.loc[pair.b, pair.a] = pair.value
    return matrix
