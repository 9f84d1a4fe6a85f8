"""Predictions of ablations, model by model and subset by subset.

A study at the paper's size has forty million of them. So a file is read a row group at a time, some twenty bytes of a
row are kept, and one subset at a time becomes a frame.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from pandas.api.types import union_categoricals

from heuristic_core.tables.columns import ABLATION, RUN, STEP, SUBSET
from heuristic_core.tables.parquet import coded_groups

MODEL = [*RUN, *STEP]
CELL = [*ABLATION, "draw", "template", "example", "correct", "correct_merged", "log_odds"]
SMALL = {"draw": "Int16", "example": "int32"}  # a row of CELL takes some twenty bytes


@dataclass(frozen=True)
class Cells:
    """The predictions of all ablations of one model.

    parts: by subset, group and family the frames, of columns `CELL`, that the predictions on it are joined from.
    select: of a joined frame the rows that count.
    """

    parts: dict[tuple, list[pd.DataFrame]]
    select: Callable[[pd.DataFrame], pd.DataFrame] = lambda cell: cell

    def __iter__(self) -> Iterator[tuple[tuple, pd.DataFrame]]:
        """(subset, group, family), and the predictions on it."""
        for key, parts in self.parts.items():
            yield key, self.select(parts[0] if len(parts) == 1 else _joined(parts))

    @property
    def subsets(self) -> list[str]:
        return list(dict.fromkeys(subset for subset, _, _ in self.parts))


def cells_of(predictions: pd.DataFrame) -> dict[tuple, Cells]:
    """By values of `MODEL`, from table "ablation_predictions" as a frame."""
    by = {"observed": True}
    return {
        model: Cells({key: [cell] for key, cell in rows.groupby([*SUBSET], dropna=False, **by)})
        for model, rows in predictions.groupby(MODEL, **by)
    }


def read_cells(path: str | Path) -> dict[tuple, Cells]:
    """The same from a file of it. Subsets are in the order of the file."""
    found: dict[tuple, dict[tuple, list[pd.DataFrame]]] = {}
    templates: dict[str, None] = {}
    for rows in coded_groups(path, [*MODEL, *SUBSET, *CELL]):
        templates |= dict.fromkeys(rows["template"].cat.categories)
        rows["template"] = rows["template"].cat.set_categories(list(templates))  # in the order of the file
        for key, part in rows.groupby([*MODEL, *SUBSET], dropna=False, sort=False, observed=True):
            model, subset = key[: len(MODEL)], key[len(MODEL) :]
            found.setdefault(model, {}).setdefault(subset, []).append(part[CELL].astype(SMALL))
    return {model: Cells(found[model]) for model in sorted(found)}


def _joined(parts: list[pd.DataFrame]) -> pd.DataFrame:
    columns = {
        name: union_categoricals([part[name] for part in parts])
        if isinstance(parts[0][name].dtype, pd.CategoricalDtype)
        else pd.concat([part[name] for part in parts], ignore_index=True)
        for name in CELL
    }
    return pd.DataFrame(columns)
