"""Tables of a study, and ranks of its models by seed, as statistics read them."""

from typing import Any

import pandas as pd

from heuristic_core.stats.estimates import NotComputable
from heuristic_core.study.claims import Evidence as BaseEvidence

HOPS = "first", "second"
IMPLICATIONS, TEST_IMPLICATIONS = "implications", "test implications"


def by_hop(rows: pd.DataFrame, column: str) -> dict[str, pd.Series]:
    """Return a column by hop, indexed by seed; empty for a hop without rows.

    Args:
        rows: Columns hop, seed and `column`.
        column: Name of the column.
    """
    return {f"{hop} hop": rows[rows["hop"] == hop].set_index("seed")[column].astype(float) for hop in HOPS}


class Evidence(BaseEvidence):
    """The tables of a study, and what its statistics read in them."""

    def ranks(self, table: str, part: str, **where: Any) -> pd.Series:
        """Return the mean ranks of a part's questions, indexed by seed.

        Args:
            table: Schema name.
            part: Part of the questions.
            **where: Values of columns that select rows.

        Raises:
            NotComputable: If no row matches.
        """
        rows = self.table(table)
        for column, value in {"part": part, **where}.items():
            rows = rows[rows[column] == value]
        if rows.empty:
            raise NotComputable(f"{table} has no {part} where {', '.join(f'{k} is {v}' for k, v in where.items())}")
        return rows.set_index("seed")["rank"].astype(float).sort_index()

    def ranks_after_teaching(self, hop: str, corpus: str, part: str, epoch: int | None = None) -> pd.Series:
        """Return the ranks after teaching a hop's facts, indexed by seed.

        Args:
            hop: "first" or "second".
            corpus: Corpus of pre-training.
            part: Part of the questions.
            epoch: Number of epochs of teaching; default: all.

        Raises:
            NotComputable: If no model was pre-trained on the corpus.
        """
        curves = self.table("extractive_curves")
        if corpus not in set(curves["corpus"]):
            raise NotComputable(f"no model was pre-trained on the corpus {corpus}")
        last = curves["epoch"].max()
        return self.ranks("extractive_curves", part, hop=hop, corpus=corpus, epoch=last if epoch is None else epoch)

    def ranks_after_order(self, order: str) -> pd.Series:
        """Return the ranks of test names' implications at the end of an order, indexed by seed.

        Raises:
            NotComputable: If the order is missing from the table.
        """
        last = self._order_rows(order)["stage"].max()
        return self._ranks_after_stage(TEST_IMPLICATIONS, order, last)

    def ranks_of_taught(self, order: str, stage: int | None = None) -> dict[str, pd.Series]:
        """Return the ranks of what an order's stages taught, each at the end of its stage, indexed by seed.

        Args:
            order: Order of teaching.
            stage: A stage, from 0; default: all.

        Raises:
            NotComputable: If the order is missing from the table.
        """
        stages = self._order_rows(order)[["stage", "taught"]].drop_duplicates()
        return {
            part: self._ranks_after_stage(part, order, number)
            for number, taught in stages.itertuples(index=False)
            if stage is None or number == stage
            for part in taught.split(" and ")
        }

    def _order_rows(self, order: str) -> pd.DataFrame:
        rows = self.table("extractive_ordering")
        rows = rows[rows["order"] == order]
        if rows.empty:
            raise NotComputable(f"no order {order}")
        return rows

    def _ranks_after_stage(self, part: str, order: str, stage: int) -> pd.Series:
        last = self._order_rows(order)["epoch"].max()
        return self.ranks("extractive_ordering", part, order=order, stage=stage, epoch=last)
