"""Faults of pruning runs, from table "runs": how many runs failed, collapsed or missed their target, and which."""

from typing import NamedTuple

import pandas as pd

from heuristic_core.experiments.subnetworks.analysis.accuracy import CELL_KEYS

MAX_LISTED_RUNS = 12  # runs listed for each kind of fault; the rest are only counted


class Outcome(NamedTuple):
    """The runs with one kind of fault.

    Attributes:
        kind: "failed", "collapsed" or "missed their target".
        count: Number of runs with this fault.
        total: Number of all runs.
        descriptions: Descriptions of the first `MAX_LISTED_RUNS` of them, with reasons.
    """

    kind: str
    count: int
    total: int
    descriptions: list[str]

    def __str__(self) -> str:
        """Return a sentence with the count and the runs."""
        more = [f"and {self.count - len(self.descriptions)} more"] if self.count > len(self.descriptions) else []
        return f"{self.count} of {self.total} pruning runs {self.kind}: {'. '.join([*self.descriptions, *more])}"


def list_outcomes(rows: pd.DataFrame) -> list[Outcome]:
    """List the kinds of faults that occur in table "runs"."""
    kinds = mark_faults(rows)
    descriptions = {
        kind: [_describe(row) for row in rows[kinds[kind]].head(MAX_LISTED_RUNS).itertuples()] for kind in kinds
    }
    return [
        Outcome(kind, int(kinds[kind].sum()), len(rows), descriptions[kind]) for kind in kinds if descriptions[kind]
    ]


def mark_faults(rows: pd.DataFrame) -> pd.DataFrame:
    """Mark the faults of each run of table "runs": bool, a column for each kind."""
    return pd.DataFrame(
        {
            "failed": rows["actual_sparsity"].isna(),
            "collapsed": rows["collapsed"].fillna(False).astype(bool),
            "missed their target": rows["missed"].fillna(False).astype(bool),
        }
    )


def mostly_faulty(rows: pd.DataFrame) -> bool:
    """Return whether at least half of the runs have a fault."""
    return len(rows) > 0 and 2 * mark_faults(rows).any(axis="columns").sum() >= len(rows)


def format_counts(kinds: pd.DataFrame) -> str:
    """Format counts of faults from :func:`mark_faults`, for instance "2 failed, 7 collapsed"."""
    return ", ".join(f"{count} {kind}" for kind, count in kinds.sum().items() if count)


class FaultyCell(NamedTuple):
    """A cell of the grid in which at least one run has a fault.

    Attributes:
        ft_seed: Fine-tuning seed.
        step: Step of the checkpoint.
        sparsity: Target sparsity.
        runs: Number of runs in the cell.
        counts: Number of runs with each kind of fault.
        mostly_faulty: Whether at least half of the runs have a fault.
    """

    ft_seed: int
    step: int
    sparsity: float
    runs: int
    counts: dict[str, int]
    mostly_faulty: bool


def find_faulty_cells(rows: pd.DataFrame) -> list[FaultyCell]:
    """List the cells of table "runs" in which at least one run has a fault."""
    cells = []
    for cell, runs in rows.groupby(["ft_seed", "step", "sparsity"]):
        kinds = mark_faults(runs)
        if kinds.to_numpy().any():
            counts = {kind: int(count) for kind, count in kinds.sum().items()}
            cells.append(FaultyCell(*cell, len(runs), counts, mostly_faulty(runs)))
    return cells


def format_warning(rows: pd.DataFrame) -> str | None:
    """Return a warning about the faults in table "runs"; None if all runs went well."""
    kinds = mark_faults(rows)
    if not kinds.to_numpy().any():
        return None
    bad_cells, cells = (
        sum(cell.mostly_faulty for cell in find_faulty_cells(rows)),
        rows.groupby(["ft_seed", "step", "sparsity"]).ngroups,
    )
    text = f"Of {len(rows)} pruning runs, {format_counts(kinds)}."
    if bad_cells:
        text += (
            f" For {bad_cells} of {cells} combinations of fine-tuning seed, checkpoint and sparsity at least half of "
            "the runs have such a fault; claims that rest on one are not judged."
        )
    return text


def _describe(row) -> str:
    """Describe one run and its fault."""
    repeat = f", run {row.repeat + 1}" if row.repeat else ""
    run = f"fine-tuning seed {row.ft_seed}, step {row.step}, sparsity {row.sparsity:g}, seed {row.seed}{repeat}"
    return f"{run}: {row.reason}"


def with_collapses(rows: pd.DataFrame, runs: pd.DataFrame | None) -> pd.DataFrame:
    """Add a bool column "collapsed": whether the pruning run of the model collapsed.

    Args:
        rows: One or more rows for each model, with the columns `CELL_KEYS`.
        runs: Table "runs"; None if nothing was pruned, so that no run collapsed.

    Returns:
        `rows` with the new column.
    """
    return _mark(rows, runs, "collapsed")


def with_misses(rows: pd.DataFrame, runs: pd.DataFrame | None) -> pd.DataFrame:
    """Add a bool column "missed": whether the pruning run of the model missed its target.

    Args:
        rows: One or more rows for each model, with the columns `CELL_KEYS`.
        runs: Table "runs"; None if nothing was pruned, so that no run missed its target.

    Returns:
        `rows` with the new column.
    """
    return _mark(rows, runs, "missed")


def with_actual_sparsity(rows: pd.DataFrame, runs: pd.DataFrame | None) -> pd.DataFrame:
    """Add a column "actual_sparsity": the share of components that each subnetwork lacks, the target where unknown.

    Args:
        rows: One or more rows for each model, with the columns `CELL_KEYS`.
        runs: Table "runs"; None if unknown.

    Returns:
        `rows` with the new column.
    """
    if runs is None:
        return rows.assign(actual_sparsity=rows["sparsity"])
    merged = rows.merge(runs[[*CELL_KEYS, "actual_sparsity"]], on=CELL_KEYS, how="left")
    return merged.assign(actual_sparsity=merged["actual_sparsity"].fillna(merged["sparsity"]))


def select_sound(rows: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Select the models whose pruning run neither failed nor collapsed nor missed its target.

    Args:
        rows: One or more rows for each model, with the columns `CELL_KEYS`.
        runs: Table "runs".

    Returns:
        A subset of `rows`.
    """
    marked = _mark(rows, runs.assign(faulty=mark_faults(runs).any(axis="columns")), "faulty")
    return marked[~marked["faulty"]].drop(columns="faulty")


def _mark(rows: pd.DataFrame, runs: pd.DataFrame | None, column: str) -> pd.DataFrame:
    """Add a bool column of `runs` to `rows`, False where it is unknown."""
    if runs is None:
        return rows.assign(**{column: False})
    merged = rows.merge(runs[[*CELL_KEYS, column]], on=CELL_KEYS, how="left")
    return merged.assign(**{column: merged[column].eq(True).fillna(False).astype(bool)})
