"""Predictions of ablations, model by model and subset by subset.

A study at the paper's size has forty million of them. So a file is read a row group at a time, and some seventeen
bytes of a row are kept.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from pandas.api.typing import DataFrameGroupBy

from heuristic_core.tables.columns import ABLATION, RUN, STEP, SUBSET
from heuristic_core.tables.parquet import coded_groups

MODEL = [*RUN, *STEP]
NAMES = [*ABLATION, "template"]  # columns of text
NUMBERS = {"draw": np.int32, "example": np.int32, "correct": bool, "correct_merged": bool, "log_odds": np.float32}
Key = tuple  # of columns of `MODEL` and `SUBSET`


@dataclass(frozen=True)
class Cells:
    """The predictions of all ablations of one model.

    frames: by subset, group and family the predictions on it, with columns `NAMES` and `NUMBERS`. select: of a frame
    the rows that count. once: whether a frame is dropped as soon as it is given, so that nobody reads it again.
    """

    frames: dict[tuple, pd.DataFrame]
    select: Callable[[pd.DataFrame], pd.DataFrame] = lambda cell: cell
    once: bool = False

    def __iter__(self) -> Iterator[tuple[tuple, pd.DataFrame]]:
        """(subset, group, family), and the predictions on it. Raises ValueError where they were dropped."""
        if not self.frames:
            raise ValueError("these predictions were read once before, and dropped")
        for key in list(self.frames):
            yield key, self.select(self.frames.pop(key) if self.once else self.frames[key])

    @property
    def subsets(self) -> list[str]:
        return list(dict.fromkeys(subset for subset, _, _ in self.frames))


def cells_of(predictions: pd.DataFrame) -> dict[tuple, Cells]:
    """By values of `MODEL`, from table "ablation_predictions" as a frame."""
    by = {"observed": True}
    return {
        model: Cells(dict(iter(rows.groupby([*SUBSET], dropna=False, **by))))
        for model, rows in predictions.groupby(MODEL, **by)
    }


def read_cells(path: str | Path) -> dict[tuple, Cells]:
    """The same from a file of it. Subsets, and names as categories, are in the order of the file."""
    names, counts = _surveyed(path)
    dtypes = {name: np.min_scalar_type(-len(of) - 1) for name, of in names.items()} | NUMBERS
    held = {key: {name: np.empty(n, dtype) for name, dtype in dtypes.items()} for key, n in counts.items()}
    filled = Counter()
    for rows, by_key in _grouped(path, list(dtypes)):
        columns = {name: rows[name].cat.set_categories(list(of)).cat.codes for name, of in names.items()}
        columns = {name: columns.get(name, rows[name]).to_numpy() for name in dtypes}
        for key, index in by_key.indices.items():
            for name, values in columns.items():
                held[key][name][filled[key] : filled[key] + len(index)] = values[index]
            filled[key] += len(index)
    found: dict[tuple, dict[tuple, pd.DataFrame]] = {}
    for key, columns in held.items():
        columns |= {name: pd.Categorical.from_codes(columns[name], list(of)) for name, of in names.items()}
        found.setdefault(key[: len(MODEL)], {})[key[len(MODEL) :]] = pd.DataFrame(columns, copy=False)
    return {model: Cells(found[model]) for model in sorted(found)}


def _surveyed(path: str | Path) -> tuple[dict[str, dict[str, None]], dict[Key, int]]:
    """The names in each column of `NAMES`, and the number of rows by key: so arrays have their sizes from the start,
    and memory is not left in pieces."""
    names, counts = {name: {} for name in NAMES}, Counter()
    for rows, by_key in _grouped(path, NAMES):
        for name, seen in names.items():
            seen |= dict.fromkeys(rows[name].cat.categories)
        counts.update(by_key.size().to_dict())
    return names, counts


def _grouped(path: str | Path, columns: Sequence[str]) -> Iterator[tuple[pd.DataFrame, DataFrameGroupBy]]:
    """Row groups of a file, and each of them by key."""
    for rows in coded_groups(path, [*MODEL, *SUBSET, *columns]):
        yield rows, rows.groupby([*MODEL, *SUBSET], dropna=False, sort=False, observed=True)
