"""Figure 13: how many subnetworks keep each head, at both sparsities."""

import numpy as np
import pandas as pd

from heuristic_core.figures.heat import heat_map
from heuristic_core.figures.panels import panels, percent, seed_label
from heuristic_core.figures.rows import ft_seeds, some


def draw(tables, settings, context):
    """Rows: fine-tuning seeds. Columns: mid and high sparsity. Marks: one row per cell, with the row's rho and p."""
    frequency = tables["head_frequency"]
    heads = frequency[(frequency["step"] == context.last) & (frequency["kind"] == "head")]
    cells = {
        s: some(heads[heads["sparsity"] == s], f"heads at step {context.last}, sparsity {s:g}")
        for s in (context.mid, context.high)
    }
    seeds = ft_seeds(heads)
    marks = pd.concat(cells.values())
    layers, largest = marks["layer"].max() + 1, marks["n"].max()
    figure, axes = panels(settings, len(seeds), 2, len(seeds) * (0.42 + _map_height(settings, marks)) + 0.35)
    correlations = tables["rank_correlation"]
    correlations = correlations[correlations["step"] == context.last]
    for row, ft_seed in zip(axes, seeds, strict=True):
        for ax, (sparsity, cell) in zip(row, cells.items(), strict=True):
            of_panel = cell[cell["ft_seed"] == ft_seed]
            mesh = heat_map(ax, _grid(of_panel, layers), largest)
            ax.set_title(f"{percent(sparsity)} sparsity", loc="left")
            ax.set(xlabel="head", ylabel="layer")
            ax.spines[:].set_visible(False)
            ax.label_outer()
        rho = _correlation(correlations[correlations["ft_seed"] == ft_seed])
        row[0].set_title(f"{seed_label(ft_seed)}, {rho}\n{row[0].get_title(loc='left')}", loc="left")
    bar = figure.colorbar(mesh, ax=axes, fraction=0.03, pad=0.02, aspect=30)
    bar.set_label(f"subnetworks that keep the head (of {largest})")
    bar.outline.set_visible(False)
    marks = marks.merge(correlations[["ft_seed", "rho", "p"]], on="ft_seed", how="left")
    return figure, marks[["ft_seed", "step", "sparsity", "name", "layer", "head", "count", "n", "rho", "p"]]


def _map_height(settings, heads: pd.DataFrame) -> float:
    """Inches that a map takes when its cells are square and two maps stand side by side."""
    return (settings.width - 1.1) / 2 * (heads["layer"].max() + 1) / (heads["head"].max() + 1)


def _grid(heads: pd.DataFrame, layers: int) -> np.ndarray:
    """Counts [layer, head], null where there is no row."""
    grid = heads.pivot(index="layer", columns="head", values="count")
    return grid.reindex(range(layers)).to_numpy(dtype=float, na_value=np.nan)


def _correlation(rows: pd.DataFrame) -> str:
    """Spearman's rho and p as they are written in a title."""
    known = rows.dropna(subset=["rho", "p"])
    if known.empty:
        return "ρ undefined"
    rho, p = known[["rho", "p"]].iloc[0]
    if p >= 0.001:
        return f"Spearman's ρ = {rho:.2f}, p = {p:.2g}"
    mantissa, exponent = f"{p:.0e}".split("e")
    return rf"Spearman's ρ = {rho:.2f}, p = {mantissa}·10$^{{{int(exponent)}}}$"
