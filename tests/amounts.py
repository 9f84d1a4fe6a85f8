"""How many of endlessly many cases a test tries: a share of them, or all that were meant, in the slow tier."""

import os

FULL = os.environ.get("HEURISTIC_CORE_TEST_FULL") == "1"
SHARE = 8  # one of so many


def amount(full: int) -> int:
    """`full`, where HEURISTIC_CORE_TEST_FULL=1 asks for all. A test that calls this bears the marker `sampled`."""
    return full if FULL else -(-full // SHARE)
