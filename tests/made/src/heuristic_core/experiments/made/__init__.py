"""Squares of integers."""

from heuristic_core.tables.columns import INT
from heuristic_core.tables.schemas import SCHEMAS

SCHEMAS["squares"] = {"number": (INT, "from 0"), "square": (INT, "of the number")}
