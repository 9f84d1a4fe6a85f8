"""Rank correlations of heads' scores between relations, means over seeds."""

import numpy as np
import pandas as pd
import seaborn as sns

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.extractive_structures.figures.styles import SCORES
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.panels import make_wrapped_panels
from heuristic_core.figures.seeds import append_means
from heuristic_core.figures.style import SMALL_FONT_SIZE, contrast_colour
from heuristic_core.figures.text import format_number


def draw(tables: Tables, settings: Figure) -> Drawing:
    """Draw a panel for each score.

    Marks: one row per pair of relations, for every seed and for their mean; `value` is rho.
    """
    pairs = tables["extractive_transfer"].query("kind == 'head'").rename(columns={"rho": "value"})
    marks = append_means(pairs, ["score", "a", "b"])
    means = marks[marks["seed"].isna()]
    names = list(dict.fromkeys([*means["a"], *means["b"]]))
    figure, axes = make_wrapped_panels(settings, len(SCORES), 0.2 * len(names) + 0.9)
    for ax, (score, label) in zip(axes, SCORES.items(), strict=True):
        matrix = _fill_triangle(means[means["score"] == score], names)
        sns.heatmap(
            matrix, vmin=-1, vmax=1, cmap="RdBu", annot=matrix.map(lambda rho: format_number(rho, 2)), fmt="",
            annot_kws={"fontsize": SMALL_FONT_SIZE}, linewidths=0.3, cbar=False, ax=ax,
        )  # fmt: skip
        ax.set_title(f"heads: {label}", loc="left")
        ax.set(xlabel="", ylabel="")
        (cells,) = ax.collections
        for rho, background in zip(ax.texts, cells.get_facecolors()[matrix.notna().to_numpy().ravel()], strict=True):
            rho.set_color(contrast_colour(background))
        ax.tick_params(length=0)
        ax.set_xticks(ax.get_xticks(), [*matrix.columns], rotation=40, ha="right", rotation_mode="anchor")
        ax.tick_params(axis="y", rotation=0)
    return figure, marks


def _fill_triangle(pairs: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Return a matrix with every pair of relations once, below the diagonal."""
    matrix = pd.DataFrame(np.nan, index=names, columns=names)
    for pair in pairs.itertuples():
        first, second = sorted((pair.a, pair.b), key=names.index)
        matrix.loc[second, first] = pair.value
    return matrix.iloc[1:, :-1]
