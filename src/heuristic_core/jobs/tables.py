"""Jobs on tables that several experiments have: join the parts of a table, judge claims.

Each function here returns the job of one experiment: a typed function for :func:`heuristic_core.jobs.job.job`.
"""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Literal

import pandas as pd

from heuristic_core.common.roles import Input, Output
from heuristic_core.config.claims import load_claims
from heuristic_core.tables.parquet import read_table, write_joined, write_table


def make_concatenate_job(schemas: Collection[str]) -> Callable[..., None]:
    """Return the job that joins the parts of one table of an experiment.

    Args:
        schemas: Names of the experiment's tables.
    """

    def join_table(name: Literal[tuple(schemas)], parts: list[Input], table: Output) -> None:
        """Join the parts of one table.

        Args:
            name: Name of the table's schema.
            parts: Files of that schema.
            table: Where to write the joined table.
        """
        write_joined(name, parts, table)

    return join_table


def make_claims_job(judge: Callable[[str, Mapping[str, pd.DataFrame], list], pd.DataFrame]) -> Callable[..., None]:
    """Return the job that judges the claims of an experiment.

    Args:
        judge: Returns verdicts, from a study's name, its tables and claims.
    """

    def judge_claims(study: str, tables: list[Input], claims: Input, table: Output) -> None:
        """Judge claims on a study's tables.

        Args:
            study: Name of the study.
            tables: The study's tables (Parquet).
            claims: The claims (YAML).
            table: Where to write verdicts (Parquet).
        """
        write_table("claims", judge(study, read_by_name(tables), load_claims(claims)), table)

    return judge_claims


def read_by_name(paths: list[str]) -> dict[str, pd.DataFrame]:
    """Return the tables in files (Parquet), by the files' names without extension; parts of one name are joined."""
    parts: dict[str, list[pd.DataFrame]] = {}
    for path in paths:
        parts.setdefault(Path(path).stem, []).append(read_table(path))
    return {name: pd.concat(tables, ignore_index=True) if tables[1:] else tables[0] for name, tables in parts.items()}
