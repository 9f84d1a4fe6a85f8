"""What is drawn from the synthetic tables of figure_tables.py, and ways to look at it."""

from figure_tables import CONTEXT, build

from heuristic_core.config.analysis import Figure
from heuristic_core.figures import draw

TABLES = build()


class Drawn(dict):
    """Name -> (figure, marks), each drawn once, when it is first asked for."""

    def __missing__(self, name):
        self[name] = draw(name, TABLES, settings(name), CONTEXT)
        return self[name]


def settings(name):
    return SHORT if name in ("figure03", "table3") else Figure()


def only(rows, **values):
    for column, value in values.items():
        rows = rows[rows[column].isna() if value is None else rows[column] == value]
    return rows


SHORT = Figure(subsets=["in_domain", "ln_prep", "cn_if"])
