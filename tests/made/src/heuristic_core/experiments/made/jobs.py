"""Jobs of the experiment."""

from heuristic_core.common.roles import Output
from heuristic_core.tables.parquet import write_table


def write_squares(largest: int, table: Output) -> None:
    """Write the squares of the first integers.

    Args:
        largest: The last of them.
        table: Where to write them (Parquet).
    """
    write_table("squares", [{"number": k, "square": k * k} for k in range(largest + 1)], table)
