"""Data frames with the columns and types of a table's schema."""

import pandas as pd
import pyarrow as pa

from heuristic_core.tables.parquet import as_frame
from heuristic_core.tables.schemas import get_schema


def make_frame(name: str, rows: pd.DataFrame | list[dict]) -> pd.DataFrame:
    """Return `rows` with exactly the columns and types that `read_table` gives for a table.

    Args:
        name: Name of the table.
        rows: Rows. Columns that are missing become null; columns that are not in the schema are dropped.
    """
    wanted = get_schema(name)
    rows = pd.DataFrame(rows, columns=wanted.names)
    return as_frame(pa.Table.from_pandas(rows, schema=wanted, preserve_index=False))
