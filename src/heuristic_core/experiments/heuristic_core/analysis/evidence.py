"""What statistics read of a run: its tables, what is known of its study, and which of its cells are sound."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from heuristic_core.analysis.estimates import CannotSay, DoesNotApply, FailedRuns
from heuristic_core.experiments.heuristic_core.analysis.accuracy import ID, OOD, J, group_means
from heuristic_core.experiments.heuristic_core.analysis.degenerate import unsound
from heuristic_core.experiments.heuristic_core.analysis.outcomes import well
from heuristic_core.experiments.heuristic_core.config.context import Context
from heuristic_core.tables.columns import RUN


@dataclass(frozen=True)
class Evidence:
    """The tables of one fine-tuning run by schema name, and what to know of its study."""

    context: Context
    tables: dict[str, pd.DataFrame]

    def table(self, name: str) -> pd.DataFrame:
        """The rows of a table. Raises CannotSay where it has none."""
        if name not in self.tables or self.tables[name].empty:
            raise CannotSay(f"the study has no table {name}")
        return self.tables[name]

    def sparsity(self, name: str) -> float:
        """The sparsity that the study calls "mid" or "high"."""
        return getattr(self.context, name)

    def sound(self, *cells: str) -> None:
        """Refuse cells of the grid in which most pruning runs went wrong, and any of a full model at chance in-domain.

        cells: "mid", "high", "early", "curve", "sizes" or "entry", as :mod:`.degenerate` has them. A study without
        table "runs", such as published results, is not refused: nothing is known of its runs.
        """
        runs = self.tables.get("runs")
        if runs is None or runs.empty:
            return
        if found := list(unsound(runs, self.context, *cells)):
            more = f", and {len(found) - 1} more such cells" if len(found) > 1 else ""
            raise FailedRuns(f"{found[0]}{more}")
        self.learned()

    def chance(self) -> float | None:
        """In-domain accuracy of always giving the most frequent label, percent, as evaluation merges labels.

        None where it is not recorded, as of published results.
        """
        known = self.tables["runs"]["chance"].dropna() if "runs" in self.tables else ()
        return float(known.max()) if len(known) else None

    def above_chance(self, accuracy: float) -> float:
        """In-domain accuracy above chance, points. Raises CannotSay where chance is not recorded."""
        if (chance := self.chance()) is None:
            raise CannotSay("in-domain chance is not recorded, so that accuracy above it is not known")
        return accuracy - chance

    def share_of_best(self, accuracies: pd.Series, share: float) -> float:
        """`share` of the best in-domain accuracy, percent. Raises DoesNotApply where chance would reach it."""
        bound, chance = share * accuracies.max(), self.chance()
        if chance is not None and bound <= chance:
            raise DoesNotApply(
                f"{100 * share:g} % of the best in-domain accuracy is {bound:.1f} %, and chance is {chance:.1f} %"
            )
        return bound

    def learned(self) -> None:
        """Refuse a full model that is at chance in-domain, where chance is recorded."""
        chance = self.chance()
        if chance is not None and not (full := self.full(ID))["low"] > chance:
            raise FailedRuns(f"the full model is at chance in-domain: {full['accuracy']:.1f} %, chance {chance:.1f} %")

    def cell(self, table: str, sparsity: str) -> pd.DataFrame:
        """The rows of a table about the spread: the first runs of its pruning seeds at the last checkpoint.

        Runs that failed, collapsed or missed their target are left out. sparsity: "mid" or "high".
        """
        self.sound(sparsity)
        rows = self.table(table)
        here = (rows["step"] == self.context.last) & (rows["sparsity"] == self.sparsity(sparsity))
        rows = rows[here & (rows["repeat"] == 0) & rows["seed"].isin(list(self.context.seeds))]
        runs = self.tables.get("runs")
        return rows if runs is None or runs.empty else well(rows, runs)

    def measured(self, group: str, rows: pd.DataFrame | None = None) -> str:
        """`group`, or OOD instead of J of published results without it, as the paper's.

        rows: of table "group_accuracy"; default: all. Raises CannotSay where a study without an entailment class is
        asked for J: a model that rejects every pair has 100 % OOD, and with merged labels guesses are half right.
        """
        rows = self.tables.get("group_accuracy") if rows is None else rows
        without = rows is not None and not rows.loc[rows["group"] == J, "accuracy"].notna().any()
        if group != J or not without:
            return group
        if self.chance() is not None:
            raise CannotSay("no ood-entailment subset was evaluated, and without it there is no J")
        return OOD

    def spread(self, table: str, group: str, sparsity: str) -> pd.DataFrame:
        """The same of table "accuracy" or "group_accuracy": the known accuracies on a group."""
        rows, group = self.cell(table, sparsity), self.measured(group)
        rows = self.analysed(rows[rows["group"] == group]).dropna(subset="accuracy")
        return some(rows, f"{group} accuracy at {sparsity} sparsity")

    def full(self, group: str) -> pd.Series:
        """The full model's row of table "group_accuracy" at the last checkpoint."""
        rows, group = self.table("group_accuracy"), self.measured(group)
        here = (rows["step"] == self.context.last) & rows["seed"].isna() & (rows["group"] == group)
        return some(rows[here].dropna(subset="accuracy"), f"{group} accuracy of the full model").iloc[0]

    def analysed(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Rows of the subsets that enter group means."""
        if self.context.subsets is None or "subset" not in rows:
            return rows
        return rows[rows["subset"].isna() | rows["subset"].isin(list(self.context.subsets))]

    def over_steps(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Mean accuracy by step and group, percent, of models over fine-tuning: [steps, groups]."""
        return group_means(self.analysed(rows)).pivot(index="step", columns="group", values="accuracy")


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
    """`rows`, of which there must be some. Raises CannotSay that names `what` is missing."""
    if rows.empty:
        raise CannotSay(f"no {what}")
    return rows
