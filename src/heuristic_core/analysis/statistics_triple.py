"""Statistics of claims about the core's three strongest heads, tested on pairs that did not choose them."""

import pandas as pd

from heuristic_core.analysis.accuracy import OOD
from heuristic_core.analysis.estimates import CannotSay, Estimate, Evidence, some
from heuristic_core.analysis.triples import CONTROL, TRIPLE

LEAST = 20  # random sets, below which no p can be under 0.05
PAIRS = "pairs that did not choose, drawn by template where a subset has several"


def triple_cost(evidence: Evidence, group: str) -> Estimate:
    """p that the strongest three of a random set cost at least as much on a group; opposite: at most as much."""
    rows = _rows(evidence, group)
    own, controls = rows[rows["role"] == TRIPLE].iloc[0], rows.loc[rows["role"] == CONTROL, "change"]
    if len(controls) < LEAST:
        raise CannotSay(f"{len(controls)} random sets cannot decide, {LEAST} can: see analysis.control_draws")
    p, opposite = ((1 + int((sign * controls <= sign * own["change"]).sum())) / (1 + len(controls)) for sign in (1, -1))
    detail = (
        f"three heads of layers {own['layers']} {own['change']:+.1f} points, the strongest three of {len(controls)} "
        f"random sets {controls.mean():+.1f} on average, {controls.min():+.1f} at most, p = {p:.2g}"
    )
    return Estimate(p, None, None, len(controls), "random sets", detail, exact=True, opposite=opposite)


def triple_interaction(evidence: Evidence, group: str, of: str) -> Estimate:
    """Drop of the strongest three minus their single drops on a group: points, or nats of log odds.

    Where ablating them costs nothing there is no cost to compare.
    """
    row = _rows(evidence, group).set_index("role").loc[TRIPLE]
    if row["change"] > 0:
        raise CannotSay(f"ablating the three strongest heads gains {row['change']:.1f} points on {group}")
    column = "interaction" if of == "accuracy" else "log_odds_interaction"
    detail = f"three heads of layers {row['layers']}: {row['change']:+.1f} points together"
    return Estimate(row[column], row[f"{column}_low"], row[f"{column}_high"], int(row["n"]), PAIRS, detail)


def _rows(evidence: Evidence, group: str) -> pd.DataFrame:
    """The rows of a group, of the core's triple and its controls."""
    evidence.sound("mid", "high")
    rows = evidence.tables.get("triples")
    if rows is None or rows.empty:
        raise CannotSay("no three heads were chosen on half of the pairs: only of a core of more than three are some")
    rows = rows[rows["subset"].isna() & (rows["group"] == group)].dropna(subset="change")
    own = some(rows[rows["role"] == TRIPLE], f"{group} accuracy without the three strongest heads").iloc[0]
    margin = evidence.context.margin or 0.0
    if group == OOD and (own["accuracy"] <= margin or own["accuracy"] >= 100 - margin):
        where = "floor" if own["accuracy"] <= margin else "ceiling"
        raise CannotSay(f"OOD accuracy without the three strongest heads is at its {where}: {own['accuracy']:.1f} %")
    return rows


STATISTICS = {f.__name__: f for f in (triple_cost, triple_interaction)}
