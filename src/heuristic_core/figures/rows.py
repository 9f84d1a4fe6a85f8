"""Rows that a figure shows."""

import pandas as pd


def some(rows: pd.DataFrame, what: str) -> pd.DataFrame:
    """`rows`, of which there must be some. Raises ValueError that names `what` is missing."""
    if rows.empty:
        raise ValueError(f"no {what}")
    return rows
