"""QK and OV matrices over training as images for a slider: for each condition one image at each checkpoint."""

import io
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from PIL import Image

from heuristic_core.report.render import data_uri

SIDE = 150  # pixels that a map is enlarged to, at least
GAP = 8  # pixels between maps
SHADES = 127  # on either side of white
BLUE, RED = (5, 48, 97), (103, 0, 31)


class Frame(NamedTuple):
    """The maps of all heads at one checkpoint: a line for each circuit, a column for each head."""

    step: int
    image: str
    width: int
    height: int


class Slider(NamedTuple):
    """One condition's frames, ascending by step. circuits: of the lines, from the top. heads: of the columns."""

    condition: str
    seed: int
    circuits: list[str]
    heads: list[int]
    frames: list[Frame]


def sliders(marks: Path) -> list[Slider]:
    """A slider for each condition. marks: figure_circuits.csv, one row per row of a map, and the value that
    is drawn darkest."""
    rows = pd.read_csv(marks, dtype={"values": str})
    values = (np.array(text.split(), dtype=float) for text in rows["values"])
    rows["values"] = [one / unit for one, unit in zip(values, rows["unit"], strict=True)]
    return [_slider(name, of_it) for name, of_it in rows.groupby("condition", sort=False)]


def _slider(condition: str, rows: pd.DataFrame) -> Slider:
    circuits, heads = sorted(rows["circuit"].unique(), reverse=True), sorted(rows["head"].unique())
    frames = []
    for step, at_step in rows.groupby("step"):
        maps = {key: np.stack(one["values"]) for key, one in at_step.groupby(["circuit", "head"])}
        grid = [[maps[circuit, head] for head in heads] for circuit in circuits]
        frames.append(Frame(int(step), *_drawn(grid)))
    return Slider(condition, int(rows["seed"].iloc[0]), [name.upper() for name in circuits], heads, frames)


def _drawn(grid: list[list[np.ndarray]]) -> tuple[str, int, int]:
    """A PNG as an address that holds it, and its size. grid: lines of square maps of one size, darkest at -1 and 1."""
    times = -(-SIDE // len(grid[0][0]))
    larger = np.ones((times, times))
    # A gap is above and to the left of every map; the outermost ones are cut off.
    maps = [[np.pad(np.kron(one, larger), ((GAP, 0), (GAP, 0))) for one in line] for line in grid]
    shades = np.rint(np.clip(np.block(maps)[GAP:, GAP:], -1, 1) * SHADES) + SHADES
    image = Image.fromarray(shades.astype(np.uint8))
    image.putpalette(_palette())
    file = io.BytesIO()
    image.save(file, format="PNG", optimize=True)
    return data_uri(file.getvalue(), "image/png"), *image.size


def _palette() -> list[int]:
    """Red, green and blue of every shade, from blue through white to red."""
    share = np.linspace(-1, 1, 2 * SHADES + 1)[:, None]
    dark = np.where(share < 0, BLUE, RED)
    return np.rint(255 + np.abs(share) * (dark - 255)).astype(int).ravel().tolist()
