"""QK and OV matrices over training as images for a slider: one image for each model and checkpoint."""

import io
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from PIL import Image

from heuristic_core.report.render import data_uri

MIN_SIDE = 150  # pixels of an enlarged map
GAP = 8  # pixels between maps
SHADES_PER_SIDE = 127  # on either side of white
BLUE, RED = (5, 48, 97), (103, 0, 31)


class Frame(NamedTuple):
    """The maps of all heads at one checkpoint: a row for each circuit, a column for each head.

    Attributes:
        step: Training step.
        image: PNG as a data URI.
        width: Width in pixels.
        height: Height in pixels.
    """

    step: int
    image: str
    width: int
    height: int


class Slider(NamedTuple):
    """The frames of one model.

    Attributes:
        condition: Name of the condition.
        seed: Training seed of the model.
        circuits: Circuits of the rows, from the top.
        heads: Heads of the columns.
        frames: Frames, ascending by step.
    """

    condition: str
    seed: int
    circuits: list[str]
    heads: list[int]
    frames: list[Frame]


def sliders(marks: Path) -> list[Slider]:
    """Return a slider for each model in the figure.

    Args:
        marks: Path of figure_circuits.csv: one row per row of a map, with the value that is drawn darkest.
    """
    rows = pd.read_csv(marks, dtype={"values": str})
    values = (np.array(text.split(), dtype=float) for text in rows["values"])
    rows["values"] = [row_values / unit for row_values, unit in zip(values, rows["unit"], strict=True)]
    models = rows.groupby(["condition", "seed"], sort=False)
    return [_slider(condition, int(seed), model_rows) for (condition, seed), model_rows in models]


def _slider(condition: str, seed: int, rows: pd.DataFrame) -> Slider:
    """Return the slider of one model."""
    circuits, heads = sorted(rows["circuit"].unique(), reverse=True), sorted(rows["head"].unique())
    frames = []
    for step, step_rows in rows.groupby("step"):
        maps = {key: np.stack(matrix_rows["values"]) for key, matrix_rows in step_rows.groupby(["circuit", "head"])}
        grid = [[maps[circuit, head] for head in heads] for circuit in circuits]
        frames.append(Frame(int(step), *_draw_grid(grid)))
    return Slider(condition, seed, [name.upper() for name in circuits], heads, frames)


def _draw_grid(grid: list[list[np.ndarray]]) -> tuple[str, int, int]:
    """Draw a PNG, and return it as a data URI with its size.

    Args:
        grid: Rows of square maps of one size, darkest at -1 and 1.
    """
    scale = -(-MIN_SIDE // len(grid[0][0]))
    pixel = np.ones((scale, scale))
    # A gap is above and to the left of every map; the outermost ones are cut off.
    maps = [[np.pad(np.kron(matrix, pixel), ((GAP, 0), (GAP, 0))) for matrix in line] for line in grid]
    shades = np.rint(np.clip(np.block(maps)[GAP:, GAP:], -1, 1) * SHADES_PER_SIDE) + SHADES_PER_SIDE
    image = Image.fromarray(shades.astype(np.uint8))
    image.putpalette(_palette())
    buffer = io.BytesIO()
    image.save(buffer, format="PNG", optimize=True)
    return data_uri(buffer.getvalue(), "image/png"), *image.size


def _palette() -> list[int]:
    """Return red, green and blue of every shade, from blue through white to red."""
    share = np.linspace(-1, 1, 2 * SHADES_PER_SIDE + 1)[:, None]
    dark = np.where(share < 0, BLUE, RED)
    return np.rint(255 + np.abs(share) * (dark - 255)).astype(int).ravel().tolist()
