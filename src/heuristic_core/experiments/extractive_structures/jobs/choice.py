"""The choice of a learning rate and a number of epochs."""

from heuristic_core.common.roles import Input, Output
from heuristic_core.experiments.extractive_structures.choice import choice_rows
from heuristic_core.tables.parquet import read_table, write_table


def choose_settings(table: Input, study: str, choice: Output) -> None:
    """Choose the learning rate and number of epochs that teach a hop's facts best.

    Args:
        table: Table extractive_sweep (Parquet).
        study: Name of the study.
        choice: Where to write table extractive_choice.
    """
    rows = choice_rows(read_table(table))
    write_table("extractive_choice", [{"study": study} | row for row in rows], choice)
