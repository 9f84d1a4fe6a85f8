"""Rank correlations of heads' scores between relations, means over seeds."""

import numpy as np
import pandas as pd
import seaborn as sns

from heuristic_core.experiments.extractive_structures.figures.looks import SCORES
from heuristic_core.figures.panels import wrapped
from heuristic_core.figures.seeds import with_means
from heuristic_core.figures.style import SMALL


def draw(tables, settings):
    """A panel for each score. Marks: one row per pair of relations, of every seed and of their mean; `value` is rho."""
    pairs = tables["extractive_transfer"].query("kind == 'head'").rename(columns={"rho": "value"})
    marks = with_means(pairs, ["score", "a", "b"])
    means = marks[marks["seed"].isna()]
    names = list(dict.fromkeys([*means["a"], *means["b"]]))
    figure, axes = wrapped(settings, len(SCORES), 0.3 * len(names) + 0.9)
    for ax, (score, words) in zip(axes, SCORES.items(), strict=True):
        sns.heatmap(
            _square(means[means["score"] == score], names), vmin=-1, vmax=1, cmap="RdBu", annot=True, fmt=".2f",
            annot_kws={"fontsize": SMALL}, linewidths=0.3, cbar=False, ax=ax,
        )  # fmt: skip
        ax.set_title(f"heads: {words}", loc="left")
        ax.set(xlabel="", ylabel="")
        ax.tick_params(length=0)
        ax.tick_params(axis="x", rotation=45)
        ax.tick_params(axis="y", rotation=0)
    return figure, marks


def _square(pairs: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Both halves of the matrix; its diagonal is unknown."""
    found = pd.DataFrame(np.nan, index=names, columns=names)
    for pair in pairs.itertuples():
        found.loc[pair.a, pair.b] = found.loc[pair.b, pair.a] = pair.value
    return found
