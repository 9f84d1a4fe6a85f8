"""What a claim's statistic gives, and the ways in which statistics read a run's tables."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from heuristic_core.analysis.degenerate import unsound
from heuristic_core.config.context import Context
from heuristic_core.tables.schemas import RUN


class CannotSay(Exception):
    """A statistic cannot be computed; the message says what is missing."""


@dataclass(frozen=True)
class Estimate:
    """The value of a statistic. low, high: its 95 % interval, None without. n, unit: what the interval is over.

    exact: a count or a test's p, which has no interval and needs none. opposite: of a test the p of the other tail, of
    which a two-sided test has none.
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

    def sound(self, *cells: str) -> None:
        """Refuse cells that say nothing: "mid", "high", "early", "curve" or "sizes", see :mod:`.degenerate`.

        Nor do subnetworks of a full model that is at chance in-domain. Where the study has no table "runs", as
        published results, nothing is known, and nothing refused.
        """
        runs = self.tables.get("runs")
        if runs is None or runs.empty:
            return
        if found := list(unsound(runs, self.context, *cells)):
            more = f", and {len(found) - 1} more such cells" if len(found) > 1 else ""
            raise CannotSay(f"{found[0]}{more}")
        self.learned()

    def learned(self) -> None:
        """Refuse a full model that is at chance in-domain, where table "runs" tells what chance is."""
        chance = self.tables["runs"]["chance"].dropna() if "runs" in self.tables else ()
        if len(chance) and not (full := self.full("id"))["low"] > chance.max():
            raise CannotSay(
                f"the full model is at chance in-domain: {full['accuracy']:.1f} %, chance {chance.max():.1f} %"
            )

    def spread(self, table: str, group: str, sparsity: str) -> pd.DataFrame:
        """First runs of the spread's subnetworks on a group, rows of table "accuracy" or "group_accuracy"."""
        self.sound(sparsity)
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
