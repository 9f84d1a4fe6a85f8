"""Table for reading: on how many training seeds each claim holds."""

import pandas as pd

from heuristic_core.common.roles import Folder, Input, Output
from heuristic_core.figures.save import save
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.text import format_interval, format_number
from heuristic_core.stats.replicates import count_replicates
from heuristic_core.tables.parquet import read_table

COLUMN_NAMES = [
    "claim",
    "holds on",
    "share, %",
    "contradicted on",
    "too few",
    "by model",
    "mean over models",
    "threshold",
]


def draw_replicates(target: str, claims: list[Input], folder: Folder, files: list[Output] = ()) -> None:
    """Count on how many training seeds each claim holds, over studies that differ only in their pre-trained model.

    Args:
        target: Name of the table.
        claims: Table "claims" of every study (Parquet).
        folder: Where to write tables/.
        files: The files that are written there, for the record.
    """
    table = count_replicates([read_table(path) for path in claims])
    save(folder, target, None, table, None, "On how many training seeds each claim holds", sheets(table))


def sheets(table: pd.DataFrame) -> list[Sheet]:
    """Return the tables for reading: claims, checks, and what no seed can decide."""
    decided = table[table["seeds"] > 0]
    claims, checks = (decided[decided["family"].isna() == check] for check in (False, True))
    limit = "the interval of a share is of these pre-trained models alone"
    parts = [(f"Claims; {limit}", claims), (f"Checks; {limit}", checks)]
    parts += [("Claims and checks that no seed decides", table[table["seeds"] == 0])]
    return [
        Sheet(title, COLUMN_NAMES, [_cells(row) for row in part.itertuples()]) for title, part in parts if len(part)
    ]


def _cells(row) -> list[str]:
    """Return the cells of one claim."""
    share = (
        f"{100 * row.supported / row.seeds:.0f}{format_interval(100 * row.low, 100 * row.high, 0)}" if row.seeds else ""
    )
    mean = (
        ""
        if pd.isna(row.mean)
        else f"{format_number(row.mean)} ({format_number(row.mean_lowest)} to {format_number(row.mean_highest)})"
    )
    supported, contradicted = f"{row.supported} of {row.seeds}", f"{row.contradicted} of {row.seeds}"
    counts = [supported, share, contradicted, str(row.too_few), row.by_model]
    return [f"{row.claim}: {row.sentence}", *counts, mean, row.threshold]
