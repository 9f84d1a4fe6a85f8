"""How many heads all subnetworks of a set share, which heads are stable over pruning seeds, and how many by chance."""

import pandas as pd

from heuristic_core.analysis.estimates import CannotSay
from heuristic_core.experiments.heuristic_core.analysis.core import SETS
from heuristic_core.experiments.heuristic_core.analysis.evidence import Evidence, of_run
from heuristic_core.experiments.heuristic_core.figures.rows import ft_seeds, some
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.text import number, seed_label
from heuristic_core.tables.columns import RUN

CORE, STABLE = "mid+high", "stable core"
STABILITY = ["least", "bound", "names", "reason"]
COLUMNS = ["ft_seed", "set", "n", "seeds", "observed", "expected", "expected_over_all", "p", "permutations", *STABILITY]
HEADS = [
    *("subnetworks", "their number", "pruning seeds", "heads in all", "expected within layers"),
    *("expected over all heads (the paper's)", "p"),
]
STABLE_HEADS = [
    *("set", "pruning seeds that keep a head, at least", "heads", "expected within layers"),
    *("wrongly selected, at most (bound)", "p", "names (share of pruning seeds; 95 % interval)"),
]


def draw(tables, settings, context):
    """No figure. Marks: one row per set of subnetworks, and one of the stable core.

    names: of the heads that are observed, with their share of pruning seeds in the stable core. reason: why a set has
    no p, as claims do not rest on it, or why there is no stable core.
    """
    rows = _judged(some(tables["core_null"], "rows in table core_null"), tables, context)
    # The archive of an older version lacks the paper's expectation and the stable core, published results lack masks.
    parts = [rows.assign(names=_names(rows, tables.get("core"), "in_core").where(rows["set"] == CORE))]
    if (stable := tables.get("stable_core")) is not None:
        stable = _judged(stable.assign(set=CORE), tables, context)
        parts.append(stable.assign(set=STABLE, names=_names(stable, tables.get("core"), "in_stable_core")))
    return None, pd.concat([part.reindex(columns=COLUMNS) for part in parts], ignore_index=True)


def _judged(rows: pd.DataFrame, tables, context) -> pd.DataFrame:
    """`rows` with a reason and without p where claims do not rest on the runs of their set."""
    reasons = pd.Series([_reason(tables, context, row) for row in rows.to_dict("records")], rows.index, dtype=object)
    stated = rows["reason"] if "reason" in rows else pd.Series(None, rows.index, dtype=object)
    return rows.assign(reason=reasons.fillna(stated), p=rows["p"].where(reasons.isna()))


def _reason(tables, context, row: dict) -> str | None:
    """Why the set of a row of table "core_null" has no p: its model is at chance, or most runs of a cell went wrong."""
    try:
        Evidence(context, of_run(tables, {name: row[name] for name in RUN})).sound(*SETS[row["set"]])
    except CannotSay as reason:
        return str(reason)
    return None


def _names(rows: pd.DataFrame, core: pd.DataFrame | None, column: str) -> pd.Series:
    """The names of the heads that `column` of table "core" selects, by fine-tuning seed; null without this column."""
    if core is None or column not in core:
        return pd.Series(None, rows.index, dtype=object)
    selected = core[core[column].fillna(False).astype(bool)]
    texts = [head.name + (_share(head) if column == "in_stable_core" else "") for head in selected.itertuples()]
    return rows["ft_seed"].map(selected.assign(text=texts).groupby("ft_seed")["text"].agg(", ".join))


def _share(head) -> str:
    """For instance " (92 %; 65 to 99)"."""
    share, low, high = (f"{100 * end:.0f}" for end in (head.seed_share, head.seed_share_low, head.seed_share_high))
    return f" ({share} %; {low} to {high})"


def sheets(marks: pd.DataFrame) -> list[Sheet]:
    """For each fine-tuning seed a table of the sets, and one of the core beside the stable core."""
    parts = []
    for seed in ft_seeds(marks):
        rows, title = marks[marks["ft_seed"] == seed], seed_label(seed).capitalize()
        parts.append(_sets(title, rows[rows["set"] != STABLE]))
        if (rows["set"] == STABLE).any():
            both = rows[rows["set"].isin([CORE, STABLE])]
            parts.append(Sheet(f"{title}: core and stable core", STABLE_HEADS, [*map(_stability, both.itertuples())]))
    return parts


def _sets(title: str, rows: pd.DataFrame) -> Sheet:
    cells, heads, reasons = [_cells(row) for row in rows.itertuples()], HEADS, rows["reason"]
    if reasons.notna().any():
        heads = [*HEADS, "why there is no p"]
        cells = [[*row, "" if pd.isna(why) else why] for row, why in zip(cells, reasons, strict=True)]
    return Sheet(title, heads, cells)


def _cells(row) -> list[str]:
    expected = [number(row.expected, 4), "" if pd.isna(row.expected_over_all) else f"{row.expected_over_all:.2g}"]
    return [row.set, f"{row.n}", f"{row.seeds}", number(row.observed, 0), *expected, _p(row)]


def _stability(row) -> list[str]:
    """The cells of the core, which all seeds keep, or of the stable core."""
    name, least = ("core", row.seeds) if row.set == CORE else (row.set, row.least)
    kept = "" if pd.isna(least) else f"{least:.0f} of {row.seeds}"
    names = row.reason if pd.isna(row.names) else row.names
    observed, bound = number(row.observed, 0), number(row.bound)
    return [name, kept, observed, number(row.expected, 2), bound, _p(row), "" if pd.isna(names) else names]


def _p(row) -> str:
    least = None if pd.isna(row.p) else 1 / (1 + row.permutations)
    return f"≤ {least:.1g}" if least and row.p <= least else number(row.p, 4)
