"""What table "runs" tells of pruning runs: how many failed, collapsed or missed their target, which, and where."""

from typing import NamedTuple

import pandas as pd

from heuristic_core.experiments.heuristic_core.analysis.accuracy import CELLS

NAMED = 12  # runs of a kind that are named before the rest is counted


class Outcome(NamedTuple):
    """The runs that did not go well in one way.

    kind: failed, collapsed or missed their target. count: how many of all `of` runs. named: the first, with reasons.
    """

    kind: str
    count: int
    of: int
    named: list[str]

    def __str__(self) -> str:
        more = [f"and {self.count - len(self.named)} more"] if self.count > len(self.named) else []
        return f"{self.count} of {self.of} pruning runs {self.kind}: {'. '.join([*self.named, *more])}"


def outcomes(rows: pd.DataFrame) -> list[Outcome]:
    """The kinds of faults in table "runs", as far as a run has them."""
    kinds = faults(rows)
    named = {kind: [_named(row) for row in rows[kinds[kind]].head(NAMED).itertuples()] for kind in kinds}
    return [Outcome(kind, int(kinds[kind].sum()), len(rows), named[kind]) for kind in kinds if named[kind]]


def faults(rows: pd.DataFrame) -> pd.DataFrame:
    """In which ways the runs of table "runs" did not go well: bool, a column for each kind."""
    return pd.DataFrame(
        {
            "failed": rows["actual_sparsity"].isna(),
            "collapsed": rows["collapsed"].fillna(False).astype(bool),
            "missed their target": rows["missed"].fillna(False).astype(bool),
        }
    )


def mostly_faulty(rows: pd.DataFrame) -> bool:
    """Whether more than half of these runs did not go well."""
    return 2 * faults(rows).any(axis="columns").sum() > len(rows)


def counted(kinds: pd.DataFrame) -> str:
    """For instance "2 failed, 7 collapsed", of what :func:`faults` gives."""
    return ", ".join(f"{count} {kind}" for kind, count in kinds.sum().items() if count)


class Troubled(NamedTuple):
    """The runs of one cell that did not go well.

    runs: how many the cell has. counts: of each kind. most: whether most runs did not go well.
    """

    ft_seed: int
    step: int
    sparsity: float
    runs: int
    counts: dict[str, int]
    most: bool


def troubled(rows: pd.DataFrame) -> list[Troubled]:
    """The cells of table "runs" in which a run did not go well."""
    found = []
    for cell, runs in rows.groupby(["ft_seed", "step", "sparsity"]):
        kinds = faults(runs)
        if kinds.to_numpy().any():
            counts = {kind: int(count) for kind, count in kinds.sum().items()}
            found.append(Troubled(*cell, len(runs), counts, mostly_faulty(runs)))
    return found


def warning(rows: pd.DataFrame) -> str | None:
    """What a reader of results must know of table "runs" first; None where all runs went well."""
    kinds = faults(rows)
    if not kinds.to_numpy().any():
        return None
    most, cells = sum(cell.most for cell in troubled(rows)), rows.groupby(["ft_seed", "step", "sparsity"]).ngroups
    said = f"Of {len(rows)} pruning runs, {counted(kinds)}."
    if most:
        said += f" In {most} of {cells} cells of the grid they are most runs; claims that rest on one are not judged."
    return said


def _named(row) -> str:
    again = f", run {row.repeat + 1}" if row.repeat else ""
    where = f"fine-tuning seed {row.ft_seed}, step {row.step}, sparsity {row.sparsity:g}, seed {row.seed}{again}"
    return f"{where}: {row.reason}"


def with_collapses(rows: pd.DataFrame, runs: pd.DataFrame | None) -> pd.DataFrame:
    """`rows` with a column "collapsed" (bool): whether the model's pruning run collapsed.

    rows: one row or more of each model, with the columns `CELLS`.
    runs: table "runs"; None where nothing was pruned, so that no run collapsed.
    """
    return _marked(rows, runs, "collapsed")


def well(rows: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """The rows of models whose pruning run neither failed nor collapsed nor missed its target; both as above."""
    found = _marked(rows, runs.assign(faulty=faults(runs).any(axis="columns")), "faulty")
    return found[~found["faulty"]].drop(columns="faulty")


def _marked(rows: pd.DataFrame, runs: pd.DataFrame | None, column: str) -> pd.DataFrame:
    """`rows` with a bool column of `runs`, False where it is not known."""
    if runs is None:
        return rows.assign(**{column: False})
    found = rows.merge(runs[[*CELLS, column]], on=CELLS, how="left")
    return found.assign(**{column: found[column].eq(True).fillna(False).astype(bool)})
