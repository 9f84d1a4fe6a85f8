"""QK and OV matrices of every head over training, as strips of heat maps."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.list_sorting.figures.styles import condition_names, select_end_seeds
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.panels import make_panels

CIRCUITS = {"qk": "QK: score of a key", "ov": "OV: logit of a number, relative to its checkpoint"}
COLOURS = "RdBu_r"
DARKEST_PERCENTILE = 99  # of absolute values; larger ones have the darkest colours
COLORBAR = {"location": "bottom", "panchor": False, "fraction": 0.02, "pad": 0.01, "shrink": 0.7, "aspect": 40}
COLORBAR_HEIGHT = 0.55  # inches of a colour bar with its label
MARGINS = 0.4, 0.55  # inches beside a strip, for names of heads, and above and below it, for texts
GAP = 0.06  # between maps, as a share of their width
DIGITS = 4  # significant digits in the CSV; all digits would be tens of megabytes
COLUMNS = ["condition", "seed", "step", "circuit", "head", "row", "unit", "values"]


def draw(tables: Tables, settings: Figure) -> Drawing:
    """Draw a strip for the first and the last seed of each condition: rows are QK of every head, then OV.

    Columns of a strip are checkpoints.

    Returns:
        The figure, and marks: one row per row of a map; `values`: values of its columns, separated by spaces; `unit`:
        the value that is drawn darkest.
    """
    rows = _with_units(_center_rows(select_end_seeds(tables["sorting_matrices"])))
    by_condition = {name: rows[rows["condition"] == name].groupby("seed") for name in condition_names(rows)}
    strips = {name: [Strip(seed_rows) for _, seed_rows in seeds] for name, seeds in by_condition.items()}
    columns = max(map(len, strips.values()))
    ratios = [max(strip.image.shape[0] / strip.image.shape[1] for strip in row) for row in strips.values()]
    width = settings.width / columns - MARGINS[0]
    height = width * sum(ratios) + MARGINS[1] * len(strips) + COLORBAR_HEIGHT * (1 + columns % 2)
    figure, axes = make_panels(settings, len(strips), columns, height, height_ratios=ratios)
    for axes_row, (name, row) in zip(axes, strips.items(), strict=True):
        for ax, strip in zip(axes_row, row, strict=False):
            strip.draw(ax)
            ax.set_title(f"{name}, seed {strip.seed}", loc="left")
            ax.set_xlabel("training step", labelpad=1)
        for ax in axes_row[len(row) :]:
            ax.set_axis_off()
    limits = {"qk": rows.loc[rows["circuit"] == "qk", "unit"].max(), "ov": 1.0}
    for k, (circuit, label) in enumerate(CIRCUITS.items()):
        colours = ScalarMappable(Normalize(-limits[circuit], limits[circuit]), COLOURS)
        bar = figure.colorbar(colours, ax=axes[:, k % columns], label=label, extend="both", **COLORBAR)
        bar.outline.set_visible(False)
    texts = [" ".join(f"{value:.{DIGITS}g}" for value in values) for values in rows["values"]]
    return figure, rows.assign(values=texts)[COLUMNS]


def _center_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Subtract the mean of each row, a constant that neither softmax sees."""
    values = (np.asarray(row, dtype=float) for row in rows["values"])
    return rows.assign(values=[row - row.mean() for row in values])


def _with_units(rows: pd.DataFrame) -> pd.DataFrame:
    """Add column `unit`, the value of the darkest colours.

    All of QK has one unit. OV has one for each model and checkpoint, because the final LayerNorm removes a scale that
    its heads share.
    """
    model = rows["condition"] + " " + rows["seed"].astype(str) + " " + rows["step"].astype(str)
    shared = model.where(rows["circuit"] == "ov", "")
    units = {key: _scale(group) for key, group in rows["values"].groupby(shared)}
    return rows.assign(unit=shared.map(units))


def _scale(values: pd.Series) -> float:
    """Return the 99th percentile of absolute values; 1 if it is zero."""
    return float(np.percentile(np.abs(np.concatenate(values.tolist())), DARKEST_PERCENTILE)) or 1.0


class Strip:
    """The maps of one model as one image.

    Attributes:
        seed: Training seed of the model.
        image: Values over their units, NaN between maps.
    """

    def __init__(self, rows: pd.DataFrame):
        heads, self._steps = sorted(rows["head"].unique()), sorted(rows["step"].unique())
        self.seed = rows["seed"].iloc[0]
        self._lines = [(circuit, head) for circuit in CIRCUITS for head in heads]
        rows = rows.assign(values=rows["values"] / rows["unit"])
        maps = {key: np.stack(map_rows["values"]) for key, map_rows in rows.groupby(["circuit", "head", "step"])}
        size = len(next(iter(maps.values())))
        pitch = size + max(1, round(GAP * size))
        self._starts = [pitch * k for k in range(max(len(self._lines), len(self._steps)))]
        self._middle = (size - 1) / 2
        self.image = np.full((pitch * len(self._lines), pitch * len(self._steps)), np.nan)
        for y, (circuit, head) in zip(self._starts, self._lines, strict=False):
            for x, step in zip(self._starts, self._steps, strict=False):
                self.image[y : y + size, x : x + size] = maps[circuit, head, step]

    def draw(self, ax: Axes) -> None:
        """Draw the image, with steps and heads as ticks."""
        ax.imshow(self.image, cmap=COLOURS, vmin=-1, vmax=1, interpolation="none")  # square maps
        middles = [start + self._middle for start in self._starts]
        ax.set_xticks(middles[: len(self._steps)], [str(step) for step in self._steps])
        ax.set_yticks(middles[: len(self._lines)], [f"{circuit.upper()} {head}" for circuit, head in self._lines])
        ax.tick_params(length=0)
        ax.set_anchor("N")
        ax.spines[:].set_visible(False)
