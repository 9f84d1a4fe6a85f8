"""Stated claims judged on evidence: supported, not supported, undecided or not applicable."""

import inspect
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import pandas as pd

from heuristic_core.analysis.estimates import STATISTICS, CannotSay, Estimate
from heuristic_core.analysis.frames import frame
from heuristic_core.analysis.verdicts import NOT_APPLICABLE, NOT_SUPPORTED, UNDECIDED, over_seeds, verdict
from heuristic_core.common.errors import InputError
from heuristic_core.config.claims import Claim, Need


class Tables(Protocol):
    """The least that evidence must have; statistics may ask for more."""

    def table(self, name: str) -> pd.DataFrame:
        """The rows of a table. Raises CannotSay where it has none."""


class Judged(NamedTuple):
    """A verdict, the estimate that it is of, if there is one, and details."""

    verdict: str
    found: Estimate | None
    detail: str


def check(stated: Sequence[Claim]) -> None:
    """Raises InputError on an unknown statistic, and on options that a statistic does not have."""
    for claim in stated:
        for one in claim.statistics:
            _check(claim, one)


def judge(
    stated: Sequence[Claim], evidence: Sequence[Tables], whole: dict, seeds: Sequence[dict], unit: str
) -> pd.DataFrame:
    """Table "claims": for each claim a row for all evidence together, and one for each seed's evidence.

    stated: as :func:`check` wants them. evidence: of each seed. whole, seeds: identity columns of the rows of all
    together, and of each seed; without `seeds` there is only the row of all. unit: what seeds are, such as
    "fine-tuning seeds".
    """
    rows = []
    for claim in stated:
        by_seed = [_judged(claim, one) for one in evidence]
        judged = [_together(claim, by_seed, unit), *(by_seed if seeds else ())]
        rows += [about | _row(claim, *one) for about, one in zip([whole, *seeds], judged, strict=True)]
    return frame("claims", rows)


def _check(claim: Claim, one: Claim | Need) -> None:
    if one.statistic not in STATISTICS:
        known = ", ".join(sorted(STATISTICS))
        raise InputError(f"claim {claim.claim}: no statistic {one.statistic!r}; there are {known}")
    try:
        inspect.signature(STATISTICS[one.statistic]).bind(None, **one.options)
    except TypeError as error:
        raise InputError(f"claim {claim.claim}: options of statistic {one.statistic}: {error}") from None


def _judged(claim: Claim, evidence: Tables) -> Judged:
    """What the evidence of one seed says of a claim."""
    unsure = []
    for need in claim.needs:
        try:
            found = STATISTICS[need.statistic](evidence, **need.options)
        except CannotSay as reason:
            unsure.append(str(reason))
            continue
        if (kept := verdict(found, need.threshold)) == NOT_SUPPORTED:
            return Judged(NOT_APPLICABLE, None, found.detail)
        if kept == UNDECIDED:
            unsure.append(found.detail)
    if unsure:
        return Judged(UNDECIDED, None, f"unsure whether it applies: {'; '.join(dict.fromkeys(unsure))}")
    try:
        for table in claim.tables:
            evidence.table(table)
        found = STATISTICS[claim.statistic](evidence, **claim.options)
    except CannotSay as reason:
        return Judged(UNDECIDED, None, str(reason))
    no_interval = "no interval" if pd.isna(found.low) and not found.exact else ""
    return Judged(verdict(found, claim.threshold), found, "; ".join(filter(None, (found.detail, no_interval))))


def _row(claim: Claim, judged: str, found: Estimate | None, detail: str) -> dict:
    row = {"claim": claim.claim, "sentence": claim.sentence, "paper": claim.paper, "threshold": claim.threshold}
    row |= {"verdict": judged, "detail": detail}
    if found is not None:
        row |= {"estimate": found.value, "low": found.low, "high": found.high, "opposite": found.opposite}
        row |= {"n": found.n, "unit": found.unit}
    return row


def _together(claim: Claim, by_seed: list[Judged], unit: str) -> Judged:
    """What all evidence says. A single seed speaks for itself; several are judged as one, over the known values."""
    if len(by_seed) == 1:
        return by_seed[0]
    verdicts = [one.verdict for one in by_seed]
    said = [f"{verdicts.count(kind)} {kind}" for kind in dict.fromkeys(verdicts)]
    detail = f"{unit} by themselves: {', '.join(said)}"
    if set(verdicts) == {NOT_APPLICABLE}:
        return Judged(NOT_APPLICABLE, None, detail)
    known = [one.found for one in by_seed if one.found is not None and not pd.isna(one.found.value)]
    if len(known) < 2:
        return Judged(UNDECIDED, None, f"{detail}; a value is known of {len(known)}, and two are needed")
    if len(known) < len(by_seed):
        detail += f"; judged over the {len(known)} of {len(by_seed)} that have a value"
    together = over_seeds(known, claim.threshold, unit)
    return Judged(verdict(together, claim.threshold), together, detail)
