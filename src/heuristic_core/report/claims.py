"""The claims of a study as the page shows them: each under its study-wide verdict, with its fine-tuning seeds."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from heuristic_core.analysis.verdicts import VERDICTS
from heuristic_core.report.render import is_number

MARGIN = 0.06  # of the width of a plot, left free at each side


class Claim(NamedTuple):
    """A claim with its verdicts.

    Attributes:
        name: Name in table "claims", as are sentence, paper and family.
        whole: Row of the study, or the only row.
        seeds: Rows by fine-tuning seed; empty if there is only `whole`.
        plot: Positions of these rows, see `_plot`.
    """

    name: str
    sentence: str
    paper: str | None
    family: str | None
    whole: dict
    seeds: list[dict]
    plot: dict | None

    @property
    def rows(self) -> list[dict]:
        """All rows: the study's, then those of the seeds."""
        return [self.whole, *self.seeds]


def claims_of(rows: Sequence[dict]) -> list[Claim]:
    """The rows of table "claims" (nulls as None), gathered by claim, in their order."""
    by_name: dict[str, list[dict]] = {}
    for row in rows:
        by_name.setdefault(row["claim"], []).append(row)
    return [_claim(name, claim_rows) for name, claim_rows in by_name.items()]


def _claim(name: str, rows: list[dict]) -> Claim:
    whole = next((row for row in rows if row["ft_seed"] is None), rows[0])
    seeds = sorted((row for row in rows if row is not whole), key=lambda row: row["ft_seed"])
    seeds = seeds if len(seeds) > 1 else []  # a single run is the study
    return Claim(name, whole["sentence"], whole["paper"], whole["family"], whole, seeds, _plot([whole, *seeds]))


def tally(claims: Sequence[Claim]) -> dict[str, int]:
    """How many claims have each verdict, study-wide."""
    return _count_verdicts(claim.whole for claim in claims)


def tally_by_seed(claims: Sequence[Claim]) -> dict[int, dict[str, int]]:
    """The same for each of several fine-tuning seeds by itself."""
    by_seed: dict[int, list[dict]] = {}
    for row in (row for claim in claims for row in claim.seeds):
        by_seed.setdefault(row["ft_seed"], []).append(row)
    return {seed: _count_verdicts(rows) for seed, rows in by_seed.items()}


def _count_verdicts(rows: Iterable[dict]) -> dict[str, int]:
    counts = Counter(row["verdict"] for row in rows)
    return {verdict: counts[verdict] for verdict in VERDICTS}


def _plot(rows: Sequence[dict]) -> dict | None:
    """Where estimates, interval ends and the threshold are between the edges of a plot, 0-100; None without estimate.

    The threshold is the first number of the column that states it; None where that has no number.
    """
    match = re.search(r"[-−]?\d+(\.\d+)?(e-?\d+)?", rows[0]["threshold"] or "")
    threshold = float(match[0].replace("−", "-")) if match else None
    values = [row[key] for row in rows for key in ("estimate", "low", "high")] + [threshold]
    values = [value for value in values if is_number(value)]
    if not any(is_number(row["estimate"]) for row in rows) or min(values) == max(values):
        return None
    start, width = min(values), max(values) - min(values)

    def place(value):
        return round(100 * (MARGIN + (1 - 2 * MARGIN) * (value - start) / width), 2) if is_number(value) else None

    marks = [{key: place(row[key]) for key in ("estimate", "low", "high")} | {"row": row} for row in rows]
    return {"threshold": place(threshold), "marks": marks}
