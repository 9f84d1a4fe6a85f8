"""Tables of a fine-tuning run, facts about its study, and checks of its cells, for the statistics of claims."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.accuracy import ID, LABELS, J, compute_group_means
from heuristic_core.experiments.subnetworks.analysis.degenerate import describe_unsound_cells, iterate_identical_cells
from heuristic_core.experiments.subnetworks.analysis.outcomes import select_sound, with_collapses
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.stats.estimates import DoesNotApply, FailedRuns, NotComputable, TooFewUnits
from heuristic_core.tables.columns import RUN


@dataclass(frozen=True)
class Evidence:
    """Results of a fine-tuning run.

    Attributes:
        context: Facts about the study.
        tables: Tables of the run by schema name.
    """

    context: Context
    tables: dict[str, pd.DataFrame]

    def table(self, name: str) -> pd.DataFrame:
        """Return a table.

        Args:
            name: Schema name of the table.

        Raises:
            NotComputable: If the study lacks the table, or the table has no rows for this run.
        """
        if name not in self.tables or self.tables[name].empty:
            raise NotComputable(f"the study has no table {name}")
        return self.tables[name]

    def sparsity(self, name: str) -> float:
        """Return the target sparsity, a share.

        Args:
            name: "mid" or "high".
        """
        return getattr(self.context, name)

    def require_sound(self, *cells: str) -> None:
        """Check that the pruning runs of cells can be analysed and that the full model is above chance in-domain.

        A study without table "runs", such as published results, passes, because nothing is known about its runs.

        Args:
            cells: Names of :func:`.degenerate.list_cells`.

        Raises:
            FailedRuns: If at least half of the runs of a cell failed, collapsed or missed their target, or if the full
                model is at chance.
            TooFewUnits: If all subnetworks of a cell are identical, so that there is only a single mask.
        """
        runs = self.tables.get("runs")
        if runs is None or runs.empty:
            return
        if problems := list(describe_unsound_cells(runs, self.context, *cells)):
            more = f", and {len(problems) - 1} more such cells" if len(problems) > 1 else ""
            raise FailedRuns(f"{problems[0]}{more}")
        self.require_learned()
        if (components := self.tables.get("components")) is not None and not components.empty:
            for number, cell in iterate_identical_cells(components, runs, self.context, *cells):
                raise TooFewUnits(f"all {number} pruning seeds gave the same subnetwork at {cell}")

    def chance(self) -> float | None:
        """Return the in-domain accuracy, percent, of always predicting the most frequent label after merging.

        Returns:
            Accuracy, or None if it is not recorded, as in published results.
        """
        values = self.tables["runs"]["chance"].dropna() if "runs" in self.tables else ()
        return float(values.max()) if len(values) else None

    def above_chance(self, accuracy: float) -> float:
        """Return in-domain accuracy above chance, in points.

        Args:
            accuracy: In-domain accuracy, percent.

        Raises:
            NotComputable: If chance is not recorded.
        """
        if (chance := self.chance()) is None:
            raise NotComputable("in-domain chance is not recorded, so that accuracy above it is not known")
        return accuracy - chance

    def share_of_best(self, accuracies: pd.Series, share: float) -> float:
        """Return in-domain chance plus `share` of the best in-domain accuracy above chance, in percent.

        Args:
            accuracies: In-domain accuracies, percent.
            share: Share of the best accuracy above chance, 0 to 1.

        Raises:
            NotComputable: If chance is not recorded.
            DoesNotApply: If the best accuracy is not above chance.
        """
        above = self.above_chance(best := accuracies.max())
        if above <= 0:
            raise DoesNotApply(f"the best in-domain accuracy is {best:.1f} %, and chance is {best - above:.1f} %")
        return best - (1 - share) * above

    def require_learned(self) -> None:
        """Check that the full model is above chance in-domain, if chance is recorded.

        Raises:
            FailedRuns: If the lower end of the full model's interval is not above chance.
        """
        chance = self.chance()
        if chance is not None and not (full := self.full(ID))["low"] > chance:
            raise FailedRuns(f"the full model is at chance in-domain: {full['accuracy']:.1f} %, chance {chance:.1f} %")

    def cell(self, table: str, sparsity: str) -> pd.DataFrame:
        """Return the rows of a table about the first runs of the spread's pruning seeds at the last checkpoint.

        Runs that failed, collapsed or missed their target are left out.

        Args:
            table: Name of the table.
            sparsity: "mid" or "high".

        Raises:
            NotComputable: If the table is missing.
            FailedRuns: If the cell is not sound, see :meth:`require_sound`.
        """
        self.require_sound(sparsity)
        rows = self.table(table)
        in_cell = (rows["step"] == self.context.last) & (rows["sparsity"] == self.sparsity(sparsity))
        rows = rows[in_cell & (rows["repeat"] == 0) & rows["seed"].isin(list(self.context.seeds))]
        runs = self.tables.get("runs")
        return rows if runs is None or runs.empty else select_sound(rows, runs)

    def spread(self, table: str, group: str, sparsity: str) -> pd.DataFrame:
        """Return the rows of a :meth:`cell` with known accuracy on a group.

        Args:
            table: "accuracy" or "group_accuracy".
            group: A group, or J.
            sparsity: "mid" or "high".

        Raises:
            NotComputable: If there are no such rows.
            FailedRuns: If the cell is not sound, see :meth:`require_sound`.
        """
        rows = self.cell(table, sparsity)
        rows = self.select_analysed(rows[rows["group"] == group]).dropna(subset="accuracy")
        return require_rows(rows, f"{_describe(group)} at {sparsity} sparsity")

    def spread_with_collapses(self, table: str, group: str, sparsity: str) -> pd.DataFrame:
        """Return the rows of a :meth:`spread` with those of collapsed runs, marked in a bool column "collapsed".

        Args:
            table: "accuracy" or "group_accuracy".
            group: A group, or J.
            sparsity: "mid" or "high".

        Raises:
            NotComputable: If there are no such rows.
            FailedRuns: If at least half of the runs failed or missed their target.
        """
        if (runs := self.tables.get("runs")) is None:
            return with_collapses(self.spread(table, group, sparsity), runs)
        tolerant = replace(self, tables=self.tables | {"runs": runs.assign(collapsed=False)})
        return with_collapses(tolerant.spread(table, group, sparsity), runs)

    def full(self, group: str, step: int | None = None) -> pd.Series:
        """Return the full model's row of table "group_accuracy".

        Args:
            group: A group, or J.
            step: Step of the checkpoint; default: the last one.

        Raises:
            NotComputable: If the row is missing.
        """
        rows = self.table("group_accuracy")
        step = self.context.last if step is None else step
        is_full = (rows["step"] == step) & rows["seed"].isna() & (rows["group"] == group)
        return require_rows(rows[is_full].dropna(subset="accuracy"), f"{_describe(group)} of the full model").iloc[0]

    def select_analysed(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Select the rows of groups and of the subsets that enter group means.

        Args:
            rows: Rows of a table, with or without column subset.
        """
        if self.context.subsets is None or "subset" not in rows:
            return rows
        return rows[rows["subset"].isna() | rows["subset"].isin(list(self.context.subsets))]

    def average_by_step(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return mean accuracy, percent, by step of fine-tuning and group.

        Args:
            rows: Rows of a table of accuracies over fine-tuning.

        Returns:
            Means, [steps, groups].
        """
        rows = self.select_analysed(rows[rows["subset"].notna()])
        return compute_group_means(rows).pivot(index="step", columns="group", values="accuracy")


def _describe(group: str) -> str:
    """Return the label of a group, and which subsets J needs."""
    return f"{LABELS[group]} (which needs ood-entailment subsets)" if group == J else LABELS[group]


def select_run(tables: dict[str, pd.DataFrame], run: dict) -> dict[str, pd.DataFrame]:
    """Select the rows of a fine-tuning run in all tables.

    Args:
        tables: Tables by schema name.
        run: Identity columns of the run, by name.

    Returns:
        Selected rows by schema name.
    """
    selected = {}
    for name, table in tables.items():
        in_run = np.logical_and.reduce([(table[column] == value).fillna(False) for column, value in run.items()])
        selected[name] = table[in_run]
    return selected


def reason_without_p(tables: dict[str, pd.DataFrame], context: Context, run: dict, *cells: str) -> str | None:
    """Return why masks of cells have no p-value.

    Args:
        tables: Tables with all rows, by schema name.
        context: Facts about the study.
        run: Identity columns of a fine-tuning run, by name.
        cells: Names of :func:`.degenerate.list_cells`.

    Returns:
        Reason (model at chance, unsound or identical subnetworks), or None if there is none.
    """
    try:
        Evidence(context, select_run(tables, {name: run[name] for name in RUN})).require_sound(*cells)
    except NotComputable as reason:
        return str(reason)
    return None


def list_runs(tables: dict[str, pd.DataFrame]) -> list[dict]:
    """Return the identity columns of all fine-tuning runs in the tables, in ascending order.

    Args:
        tables: Tables by schema name.
    """
    identities = pd.concat([t[[*RUN]] for t in tables.values() if len(t)]).dropna().drop_duplicates()
    return identities.sort_values([*RUN]).to_dict("records")


def require_rows(rows: pd.DataFrame, description: str) -> pd.DataFrame:
    """Return `rows` if there are any.

    Args:
        rows: Rows of a table.
        description: Name of the rows, for the message.

    Raises:
        NotComputable: If there are no rows.
    """
    if rows.empty:
        raise NotComputable(f"no {description}")
    return rows
