"""How many heads all subnetworks of a set share, and how many would by chance."""

import pandas as pd

from heuristic_core.analysis.estimates import CannotSay
from heuristic_core.experiments.heuristic_core.analysis.core import SETS
from heuristic_core.experiments.heuristic_core.analysis.evidence import Evidence, of_run
from heuristic_core.experiments.heuristic_core.figures.rows import ft_seeds, some
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.text import number, seed_label
from heuristic_core.tables.columns import RUN

COLUMNS = ["ft_seed", "set", "n", "seeds", "observed", "expected", "expected_over_all", "p", "permutations", "reason"]
HEADS = [
    *("subnetworks", "their number", "pruning seeds", "heads in all", "expected within layers"),
    *("expected over all heads (the paper's)", "p"),
]


def draw(tables, settings, context):
    """No figure. Marks: one row per set of subnetworks; without p where claims do not rest on them, for a reason."""
    rows = some(tables["core_null"], "rows in table core_null")
    reasons = [_reason(tables, context, row) for row in rows.to_dict("records")]
    rows = rows.assign(reason=reasons, p=rows["p"].where([reason is None for reason in reasons]))
    # The archive of an older version lacks the paper's expectation.
    return None, rows.reindex(columns=COLUMNS)


def _reason(tables, context, row: dict) -> str | None:
    """Why the set of a row of table "core_null" has no p: its model is at chance, or most runs of a cell went wrong."""
    try:
        Evidence(context, of_run(tables, {name: row[name] for name in RUN})).sound(*SETS[row["set"]])
    except CannotSay as reason:
        return str(reason)
    return None


def sheets(marks: pd.DataFrame) -> list[Sheet]:
    """A table for each fine-tuning seed."""
    found = []
    for seed in ft_seeds(marks):
        rows = marks[marks["ft_seed"] == seed]
        cells, heads, reasons = [_cells(row) for row in rows.itertuples()], HEADS, rows["reason"]
        if reasons.notna().any():
            heads = [*HEADS, "why there is no p"]
            cells = [[*row, "" if pd.isna(why) else why] for row, why in zip(cells, reasons, strict=True)]
        found.append(Sheet(seed_label(seed).capitalize(), heads, cells))
    return found


def _cells(row) -> list[str]:
    least = None if pd.isna(row.p) else 1 / (1 + row.permutations)
    p = f"≤ {least:.1g}" if least and row.p <= least else number(row.p, 4)
    expected = [number(row.expected, 4), "" if pd.isna(row.expected_over_all) else f"{row.expected_over_all:.2g}"]
    return [row.set, f"{row.n}", f"{row.seeds}", number(row.observed, 0), *expected, p]
