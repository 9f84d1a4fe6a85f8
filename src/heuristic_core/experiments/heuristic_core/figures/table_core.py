"""How many heads all subnetworks of a set share, and how many would by chance."""

import pandas as pd

from heuristic_core.experiments.heuristic_core.figures.rows import ft_seeds, some
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.text import number, seed_label

COLUMNS = ["ft_seed", "set", "n", "seeds", "observed", "expected", "expected_over_all", "p", "permutations"]
HEADS = [
    *("subnetworks", "their number", "pruning seeds", "heads in all", "expected within layers"),
    *("expected over all heads (the paper's)", "p"),
]


def draw(tables, settings, context):
    """No figure. Marks: one row per set of subnetworks."""
    # The archive of an older version lacks the paper's expectation.
    return None, some(tables["core_null"], "rows in table core_null").reindex(columns=COLUMNS)


def sheets(marks: pd.DataFrame) -> list[Sheet]:
    """A table for each fine-tuning seed."""
    return [
        Sheet(
            seed_label(seed).capitalize(), HEADS, [_cells(row) for row in marks[marks["ft_seed"] == seed].itertuples()]
        )
        for seed in ft_seeds(marks)
    ]


def _cells(row) -> list[str]:
    least = None if pd.isna(row.p) else 1 / (1 + row.permutations)
    p = f"≤ {least:.1g}" if least and row.p <= least else number(row.p, 4)
    expected = [number(row.expected, 4), "" if pd.isna(row.expected_over_all) else f"{row.expected_over_all:.2g}"]
    return [row.set, f"{row.n}", f"{row.seeds}", number(row.observed, 0), *expected, p]
