"""Check of the rows that a figure shows."""

import pandas as pd


def require_rows(rows: pd.DataFrame, description: str) -> pd.DataFrame:
    """Return rows if there are any.

    Args:
        rows: The rows.
        description: What is missing without them, for the message of the error.

    Raises:
        ValueError: If there are none; the message contains `description`.
    """
    if rows.empty:
        raise ValueError(f"no {description}")
    return rows
