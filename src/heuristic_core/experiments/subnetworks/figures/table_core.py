"""Heads that all subnetworks of a set share and heads that are stable over pruning seeds, with chance levels."""

import pandas as pd

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis.core import SETS
from heuristic_core.experiments.subnetworks.analysis.evidence import reason_without_p
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures.rows import ft_seeds, require_rows
from heuristic_core.figures.drawing import Drawing, Tables
from heuristic_core.figures.sheets import Sheet
from heuristic_core.figures.text import format_number, format_seed

CORE, STABLE = "mid+high", "stable core"
STABILITY_COLUMNS = ["least", "bound", "names", "reason"]
COLUMNS = [
    "ft_seed",
    "set",
    "n",
    "seeds",
    "observed",
    "expected",
    "expected_over_all",
    "p",
    "permutations",
    *STABILITY_COLUMNS,
]
SET_HEADINGS = [
    *("subnetworks", "their number", "pruning seeds", "heads in all", "expected within layers"),
    *("expected over all heads (the paper's)", "p"),
]
STABLE_HEADINGS = [
    *("set", "pruning seeds that keep a head, at least", "heads", "expected within layers"),
    *("wrongly selected, at most (bound)", "p", "names (share of pruning seeds; 95 % interval)"),
]


def draw(tables: Tables, settings: Figure, context: Context) -> Drawing:
    """Collect the rows of the table.

    Args:
        tables: Data frames by schema name: "core_null", and "core", "stable_core", "runs" and "group_accuracy" if the
            study has them.
        settings: Not used; every target takes it.
        context: The study's ``config.context.Context``.

    Returns:
        No figure, and the marks: one row per set of subnetworks, and one for the stable core. `names` lists the heads,
        in the stable core with their share of pruning seeds. `reason` says why a set has no p, or why there is no
        stable core.
    """
    rows = _add_reasons(require_rows(tables["core_null"], "rows in table core_null"), tables, context)
    # Archives of older versions lack the paper's expectation and the stable core; published results lack masks.
    parts = [rows.assign(names=_head_names(rows, tables.get("core"), "in_core").where(rows["set"] == CORE))]
    if (stable := tables.get("stable_core")) is not None:
        stable = _add_reasons(stable.assign(set=CORE), tables, context)
        parts.append(stable.assign(set=STABLE, names=_head_names(stable, tables.get("core"), "in_stable_core")))
    return None, pd.concat([part.reindex(columns=COLUMNS) for part in parts], ignore_index=True)


def _add_reasons(rows: pd.DataFrame, tables, context) -> pd.DataFrame:
    """Set a reason and remove p in rows whose set has runs that claims exclude."""
    reasons = [reason_without_p(tables, context, row, *SETS[row["set"]]) for row in rows.to_dict("records")]
    reasons = pd.Series(reasons, rows.index, dtype=object)
    stated_reasons = rows["reason"] if "reason" in rows else pd.Series(None, rows.index, dtype=object)
    return rows.assign(reason=reasons.fillna(stated_reasons), p=rows["p"].where(reasons.isna()))


def _head_names(rows: pd.DataFrame, core: pd.DataFrame | None, column: str) -> pd.Series:
    """Return the names of the heads that `column` of table "core" selects, by fine-tuning seed; null without it."""
    if core is None or column not in core:
        return pd.Series(None, rows.index, dtype=object)
    selected = core[core[column].fillna(False).astype(bool)]
    texts = [head.name + (_format_share(head) if column == "in_stable_core" else "") for head in selected.itertuples()]
    return rows["ft_seed"].map(selected.assign(text=texts).groupby("ft_seed")["text"].agg(", ".join))


def _format_share(head) -> str:
    """Format a head's share of pruning seeds, such as " (92 %; 65 to 99)"."""
    share, low, high = (f"{100 * end:.0f}" for end in (head.seed_share, head.seed_share_low, head.seed_share_high))
    return f" ({share} %; {low} to {high})"


def sheets(marks: pd.DataFrame) -> list[Sheet]:
    """Return, for each fine-tuning seed, a table of the sets and a table of the core beside the stable core."""
    sheet_list = []
    for seed in ft_seeds(marks):
        rows, title = marks[marks["ft_seed"] == seed], format_seed(seed).capitalize()
        sheet_list.append(_make_set_sheet(title, rows[rows["set"] != STABLE]))
        if (rows["set"] == STABLE).any():
            both = rows[rows["set"].isin([CORE, STABLE])]
            sheet_list.append(
                Sheet(f"{title}: core and stable core", STABLE_HEADINGS, [*map(_stability_cells, both.itertuples())])
            )
    return sheet_list


def _make_set_sheet(title: str, rows: pd.DataFrame) -> Sheet:
    """Return the table of the sets, with a column of reasons if a set has no p."""
    cells, headings, reasons = [_set_cells(row) for row in rows.itertuples()], SET_HEADINGS, rows["reason"]
    if reasons.notna().any():
        headings = [*SET_HEADINGS, "why there is no p"]
        cells = [[*row, "" if pd.isna(reason) else reason] for row, reason in zip(cells, reasons, strict=True)]
    return Sheet(title, headings, cells)


def _set_cells(row) -> list[str]:
    """Return the cells of one set."""
    expected = [
        format_number(row.expected, 4),
        "" if pd.isna(row.expected_over_all) else f"{row.expected_over_all:.2g}",
    ]
    return [row.set, f"{row.n}", f"{row.seeds}", format_number(row.observed, 0), *expected, _format_p(row)]


def _stability_cells(row) -> list[str]:
    """Return the cells of the core, which all seeds keep, or of the stable core."""
    name, min_seeds = ("core", row.seeds) if row.set == CORE else (row.set, row.least)
    threshold = "" if pd.isna(min_seeds) else f"{min_seeds:.0f} of {row.seeds}"
    names = row.reason if pd.isna(row.names) else row.names
    observed, bound = format_number(row.observed, 0), format_number(row.bound)
    return [
        name,
        threshold,
        observed,
        format_number(row.expected, 2),
        bound,
        _format_p(row),
        "" if pd.isna(names) else names,
    ]


def _format_p(row) -> str:
    """Format p, with "≤" for the smallest p that the number of permutations allows."""
    smallest = None if pd.isna(row.p) else 1 / (1 + row.permutations)
    return f"≤ {smallest:.1g}" if smallest and row.p <= smallest else format_number(row.p, 4)
