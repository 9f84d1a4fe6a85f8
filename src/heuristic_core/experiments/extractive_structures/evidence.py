"""What statistics read of a study of extractive structures: its tables, and ranks of its models by seed."""

from dataclasses import dataclass

import pandas as pd

from heuristic_core.analysis.estimates import CannotSay

HOPS = "first", "second"
IMPLICATIONS, TESTED, TEST_FACTS = "implications", "test implications", "test facts"


def by_hop(rows: pd.DataFrame, column: str) -> dict[str, pd.Series]:
    """A column of both hops by seed; empty where a hop has no rows."""
    return {f"{hop} hop": rows[rows["hop"] == hop].set_index("seed")[column].astype(float) for hop in HOPS}


@dataclass(frozen=True)
class Evidence:
    """The tables of a study by schema name."""

    tables: dict[str, pd.DataFrame]

    def table(self, name: str) -> pd.DataFrame:
        """The rows of a table. Raises CannotSay where it has none."""
        if name not in self.tables or self.tables[name].empty:
            raise CannotSay(f"the study has no table {name}")
        return self.tables[name]

    def ranks(self, table: str, part: str, **where) -> pd.Series:
        """Mean ranks of a part's questions by seed, of the rows where columns have these values.

        Raises CannotSay where there are none.
        """
        rows = self.table(table)
        for column, value in {"part": part, **where}.items():
            rows = rows[rows[column] == value]
        if rows.empty:
            raise CannotSay(f"{table} has no {part} where {', '.join(f'{k} is {v}' for k, v in where.items())}")
        return rows.set_index("seed")["rank"].astype(float).sort_index()

    def taught(self, hop: str, corpus: str, part: str, epoch: int | None = None) -> pd.Series:
        """Ranks after an epoch of teaching a hop's facts; None: after the last one.

        Raises CannotSay where no model was pre-trained on the corpus.
        """
        curves = self.table("extractive_curves")
        if corpus not in set(curves["corpus"]):
            raise CannotSay(f"no model was pre-trained on the corpus {corpus}")
        last = curves["epoch"].max()
        return self.ranks("extractive_curves", part, hop=hop, corpus=corpus, epoch=last if epoch is None else epoch)

    def ordered(self, order: str, part: str = TESTED) -> pd.Series:
        """Ranks at the end of an order's last stage."""
        rows = self.table("extractive_ordering")
        own = rows[rows["order"] == order]
        if own.empty:
            raise CannotSay(f"no order {order}")
        return self.ranks("extractive_ordering", part, order=order, stage=own["stage"].max(), epoch=rows["epoch"].max())
