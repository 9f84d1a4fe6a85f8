"""Job that writes the provenance records of a study as one table."""

from heuristic_core.common.roles import Folder, Output
from heuristic_core.provenance.record import provenance_rows
from heuristic_core.tables.parquet import write_table


def collect_records(root: Folder, table: Output) -> None:
    """Collect the provenance records of a study's results: one row for each job.

    Args:
        root: The study's folder.
        table: Where to write the table.
    """
    write_table("provenance", provenance_rows(root), table)
