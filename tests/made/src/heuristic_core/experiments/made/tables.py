"""Tables of the experiment."""

from heuristic_core.study.table import Table, register_tables
from heuristic_core.tables.columns import INT

TABLES = {
    "squares": Table({"number": (INT, "from 0"), "square": (INT, "of the number")}),
}
register_tables(TABLES)
