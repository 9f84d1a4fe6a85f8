"""What a claim's statistic gives, and the ways in which statistics read a run's tables."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from heuristic_core.config.context import Context
from heuristic_core.tables.schemas import RUN


class CannotSay(Exception):
    """A statistic cannot be computed; the message says what is missing."""


@dataclass(frozen=True)
class Estimate:
    """The value of a statistic. low, high: its 95 % interval, None without. n, unit: what the interval is over.

    exact: a count or a test's p, which has no interval and needs none. opposite: p of the test's other tail, None where
    the test has two sides.
    """

    value: float
    low: float | None = None
    high: float | None = None
    n: int | None = None
    unit: str | None = None
    detail: str = ""
    exact: bool = False
    opposite: float | None = None


@dataclass(frozen=True)
class Evidence:
    """The tables of one fine-tuning run by schema name, and what to know of its study."""

    context: Context
    tables: dict[str, pd.DataFrame]

    def table(self, name: str) -> pd.DataFrame:
        if name not in self.tables or self.tables[name].empty:
            raise CannotSay(f"the study has no table {name}")
        return self.tables[name]

    def sparsity(self, name: str) -> float:
        """The sparsity that the study calls "mid" or "high"."""
        return getattr(self.context, name)

    def spread(self, table: str, group: str, sparsity: str) -> pd.DataFrame:
        """First runs of the spread's subnetworks on a group, rows of table "accuracy" or "group_accuracy"."""
        rows = self.table(table)
        here = (
            (rows["step"] == self.context.last) & (rows["sparsity"] == self.sparsity(sparsity)) & (rows["repeat"] == 0)
        )
        rows = rows[here & (rows["group"] == group) & rows["seed"].isin(list(self.context.seeds))]
        return some(self.analysed(rows).dropna(subset="accuracy"), f"{group} accuracy at {sparsity} sparsity")

    def full(self, group: str) -> pd.Series:
        """The full model's row of table "group_accuracy" at the last checkpoint."""
        rows = self.table("group_accuracy")
        here = (rows["step"] == self.context.last) & rows["seed"].isna() & (rows["group"] == group)
        return some(rows[here].dropna(subset="accuracy"), f"{group} accuracy of the full model").iloc[0]

    def analysed(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Rows of the subsets that enter group means."""
        if self.context.subsets is None or "subset" not in rows:
            return rows
        return rows[rows["subset"].isna() | rows["subset"].isin(list(self.context.subsets))]


def of_run(tables: dict[str, pd.DataFrame], run: dict) -> dict[str, pd.DataFrame]:
    """The rows of one fine-tuning run in every table."""
    found = {}
    for name, table in tables.items():
        here = np.logical_and.reduce([(table[column] == value).fillna(False) for column, value in run.items()])
        found[name] = table[here]
    return found


def runs(tables: dict[str, pd.DataFrame]) -> list[dict]:
    """The fine-tuning runs that any table knows, ascending."""
    identities = pd.concat([t[[*RUN]] for t in tables.values() if len(t)]).dropna().drop_duplicates()
    return identities.sort_values([*RUN]).to_dict("records")


def some(rows: pd.DataFrame, what: str) -> pd.DataFrame:
    """`rows`, of which there must be some."""
    if rows.empty:
        raise CannotSay(f"no {what}")
    return rows
