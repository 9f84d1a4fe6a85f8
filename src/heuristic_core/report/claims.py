"""Claims of a study for a page: study-wide verdicts, and verdicts of each fine-tuning seed."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from heuristic_core.report.render import is_number
from heuristic_core.stats.estimates import NOT_RUN, TOO_FEW
from heuristic_core.stats.verdicts import SUPPORTED, VERDICTS, is_test

ADJUSTED_LEVEL = 0.05
MARGIN = 0.06  # fraction of a plot's width that stays free at each side


class Claim(NamedTuple):
    """A claim with its verdicts.

    Attributes:
        name: Name in claims.yaml.
        sentence: What is claimed.
        paper: Where the paper says it.
        family: Claims whose p are adjusted together; None for a check.
        overall: Row of the study, or the only row.
        seeds: Rows by fine-tuning seed; empty if there is only `overall`.
        plot: Positions of these rows, see `_place_marks`.
    """

    name: str
    sentence: str
    paper: str | None
    family: str | None
    overall: dict
    seeds: list[dict]
    plot: dict | None

    @property
    def rows(self) -> list[dict]:
        """All rows: the study's, then those of the seeds."""
        return [self.overall, *self.seeds]

    @property
    def fails_adjusted(self) -> bool:
        """Whether the claim is supported, but not with a p adjusted for the other claims of its family."""
        adjusted = self.overall["p_holm"]
        return self.overall["verdict"] == SUPPORTED and is_number(adjusted) and adjusted >= ADJUSTED_LEVEL

    @property
    def is_decidable(self) -> bool:
        """Whether the study can decide the claim: it has what the claim rests on, and enough of it."""
        return self.overall["verdict"] not in (TOO_FEW, NOT_RUN)


def group_claims(rows: Sequence[dict]) -> list[Claim]:
    """Group the rows of table "claims" (nulls as None) by claim, in their order."""
    by_name: dict[str, list[dict]] = {}
    for row in rows:
        by_name.setdefault(row["claim"], []).append(row)
    return [_make_claim(name, claim_rows) for name, claim_rows in by_name.items()]


def _make_claim(name: str, rows: list[dict]) -> Claim:
    """Make a claim of its rows.

    The row of a single seed is left out, since it repeats the study's. The estimate of a test, the p-value of one tail,
    is replaced by the two-sided p-value that its verdict is based on.
    """
    rows = [row | {"estimate": row["p"]} if is_test(row["threshold"]) else row for row in rows]
    overall = next((row for row in rows if row["ft_seed"] is None), rows[0])
    seeds = sorted((row for row in rows if row is not overall), key=lambda row: row["ft_seed"])
    seeds = seeds if len(seeds) > 1 else []
    plot = _place_marks([overall, *seeds])
    return Claim(name, overall["sentence"], overall["paper"], overall["family"], overall, seeds, plot)


def count_verdicts(claims: Sequence[Claim]) -> dict[str, int]:
    """Return the number of claims with each study-wide verdict."""
    return _count_rows(claim.overall for claim in claims)


def count_verdicts_by_seed(claims: Sequence[Claim]) -> dict[int, dict[str, int]]:
    """Return the number of claims with each verdict, by fine-tuning seed."""
    by_seed: dict[int, list[dict]] = {}
    for row in (row for claim in claims for row in claim.seeds):
        by_seed.setdefault(row["ft_seed"], []).append(row)
    return {seed: _count_rows(rows) for seed, rows in by_seed.items()}


def _count_rows(rows: Iterable[dict]) -> dict[str, int]:
    """Return the number of rows with each verdict, in the order of `VERDICTS`."""
    counts = Counter(row["verdict"] for row in rows)
    return {verdict: counts[verdict] for verdict in VERDICTS}


def _place_marks(rows: Sequence[dict]) -> dict | None:
    """Return positions of estimates, interval ends and threshold in a plot, in percent of its width.

    The threshold is the first number in its column; None without a number.

    Returns:
        "threshold" and "marks", one per row; None without an estimate.
    """
    match = re.search(r"[-−]?\d+(\.\d+)?(e-?\d+)?", rows[0]["threshold"] or "")
    threshold = float(match[0].replace("−", "-")) if match else None
    values = [row[key] for row in rows for key in ("estimate", "low", "high")] + [threshold]
    values = [value for value in values if is_number(value)]
    if not any(is_number(row["estimate"]) for row in rows) or min(values) == max(values):
        return None
    start, width = min(values), max(values) - min(values)

    def position(value):
        return round(100 * (MARGIN + (1 - 2 * MARGIN) * (value - start) / width), 2) if is_number(value) else None

    marks = [{key: position(row[key]) for key in ("estimate", "low", "high")} | {"row": row} for row in rows]
    return {"threshold": position(threshold), "marks": marks}
