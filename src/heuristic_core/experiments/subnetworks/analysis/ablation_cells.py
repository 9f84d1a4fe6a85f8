"""Read predictions of ablations model by model and subset by subset.

A study of the paper's size has forty million predictions. Files are therefore read one row group at a time, and about
seventeen bytes of each row are kept.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from pandas.api.typing import DataFrameGroupBy

from heuristic_core.tables.columns import ABLATION, RUN, STEP, SUBSET
from heuristic_core.tables.parquet import iter_categorical_groups

MODEL_KEYS = [*RUN, *STEP]
TEXT_COLUMNS = [*ABLATION, "template"]
NUMERIC_DTYPES = {
    "draw": np.int32,
    "example": np.int32,
    "correct": bool,
    "correct_merged": bool,
    "log_odds": np.float32,
}
Key = tuple  # values of the columns `MODEL_KEYS` and `SUBSET`


@dataclass(frozen=True)
class ModelPredictions:
    """Predictions of all ablations of one model.

    Attributes:
        frames: Predictions by (subset, group, family), with the columns `TEXT_COLUMNS` and `NUMERIC_DTYPES`.
        select: Function that returns the rows of a frame that count.
        drop_after_read: Whether to drop each frame when it is yielded, which frees its memory but allows only one
            iteration.
    """

    frames: dict[tuple, pd.DataFrame]
    select: Callable[[pd.DataFrame], pd.DataFrame] = lambda cell: cell
    drop_after_read: bool = False

    def __iter__(self) -> Iterator[tuple[tuple, pd.DataFrame]]:
        """Yield (subset, group, family) and the predictions on this subset.

        Raises:
            ValueError: If the frames were dropped by an earlier iteration.
        """
        if not self.frames:
            raise ValueError("predictions were already read, and dropped after reading")
        for key in list(self.frames):
            yield key, self.select(self.frames.pop(key) if self.drop_after_read else self.frames[key])

    @property
    def subsets(self) -> list[str]:
        """Names of the subsets, in the order of the file."""
        return list(dict.fromkeys(subset for subset, _, _ in self.frames))


def split_by_model(predictions: pd.DataFrame) -> dict[tuple, ModelPredictions]:
    """Split table "ablation_predictions" by the values of the columns `MODEL_KEYS`."""
    by = {"observed": True}
    return {
        model: ModelPredictions(dict(iter(rows.groupby([*SUBSET], dropna=False, **by))))
        for model, rows in predictions.groupby(MODEL_KEYS, **by)
    }


def read_by_model(path: str | Path) -> dict[tuple, ModelPredictions]:
    """Read a file of table "ablation_predictions", split by the values of the columns `MODEL_KEYS`.

    Subsets and categories of text columns are in the order of the file.
    """
    categories, counts = _scan(path)
    dtypes = {name: np.min_scalar_type(-len(values) - 1) for name, values in categories.items()} | NUMERIC_DTYPES
    arrays = {key: {name: np.empty(n, dtype) for name, dtype in dtypes.items()} for key, n in counts.items()}
    filled = Counter()
    for rows, by_key in _iter_row_groups(path, list(dtypes)):
        columns = {name: rows[name].cat.set_categories(list(values)).cat.codes for name, values in categories.items()}
        columns = {name: columns.get(name, rows[name]).to_numpy() for name in dtypes}
        for key, index in by_key.indices.items():
            for name, values in columns.items():
                arrays[key][name][filled[key] : filled[key] + len(index)] = values[index]
            filled[key] += len(index)
    frames: dict[tuple, dict[tuple, pd.DataFrame]] = {}
    for key, columns in arrays.items():
        columns |= {name: pd.Categorical.from_codes(columns[name], list(values)) for name, values in categories.items()}
        frames.setdefault(key[: len(MODEL_KEYS)], {})[key[len(MODEL_KEYS) :]] = pd.DataFrame(columns, copy=False)
    return {model: ModelPredictions(frames[model]) for model in sorted(frames)}


def _scan(path: str | Path) -> tuple[dict[str, dict[str, None]], dict[Key, int]]:
    """Return the values of each text column, in order, and the number of rows by key.

    With these numbers all arrays are allocated once at full size, which avoids fragmented memory.
    """
    categories, counts = {name: {} for name in TEXT_COLUMNS}, Counter()
    for rows, by_key in _iter_row_groups(path, TEXT_COLUMNS):
        for name, seen in categories.items():
            seen |= dict.fromkeys(rows[name].cat.categories)
        counts.update(by_key.size().to_dict())
    return categories, counts


def _iter_row_groups(path: str | Path, columns: Sequence[str]) -> Iterator[tuple[pd.DataFrame, DataFrameGroupBy]]:
    """Yield each row group of a file, and the same rows grouped by key."""
    for rows in iter_categorical_groups(path, [*MODEL_KEYS, *SUBSET, *columns]):
        yield rows, rows.groupby([*MODEL_KEYS, *SUBSET], dropna=False, sort=False, observed=True)
