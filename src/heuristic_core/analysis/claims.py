"""The paper's claims, judged on a study: supported, not supported, undecided or not applicable."""

import inspect

import pandas as pd

from heuristic_core.analysis import (  # noqa: F401  each registers its statistics
    statistics_accuracy,
    statistics_heads,
    statistics_masks,
    statistics_needs,
    statistics_overlap,
    statistics_single_heads,
    statistics_sizes,
    statistics_sparsity,
)
from heuristic_core.analysis.estimates import STATISTICS, CannotSay, Estimate
from heuristic_core.analysis.evidence import Evidence, of_run, runs
from heuristic_core.analysis.frames import frame
from heuristic_core.analysis.verdicts import NOT_APPLICABLE, NOT_SUPPORTED, UNDECIDED, over_seeds, verdict
from heuristic_core.common.errors import InputError
from heuristic_core.config.claims import Claim, Need
from heuristic_core.config.context import Context


def claims(context: Context, tables: dict[str, pd.DataFrame], stated: list[Claim]) -> pd.DataFrame:
    """Table "claims": a row for each claim of the study, and one for each of its fine-tuning runs.

    tables: pandas frames by schema name, those that the study has.
    Raises InputError on an unknown statistic, and on options that a statistic does not have.
    """
    for claim in stated:
        for one in claim.statistics:
            _check(claim, one)
    evidence = [(run, Evidence(context, of_run(tables, run))) for run in runs(tables)]
    rows = []
    for claim in stated:
        of_claim = [(run, *_judged(claim, found)) for run, found in evidence]
        by_run = [_row(claim, *judged) | run for run, *judged in of_claim]
        rows += [_as_a_whole(claim, by_run, [found for _, _, found, _ in of_claim]), *by_run]
    return frame("claims", rows)


def _check(claim: Claim, one: Claim | Need) -> None:
    if one.statistic not in STATISTICS:
        known = ", ".join(sorted(STATISTICS))
        raise InputError(f"claim {claim.claim}: no statistic {one.statistic!r}; there are {known}")
    try:
        inspect.signature(STATISTICS[one.statistic]).bind(None, **one.options)
    except TypeError as error:
        raise InputError(f"claim {claim.claim}: options of statistic {one.statistic}: {error}") from None


def _judged(claim: Claim, evidence: Evidence) -> tuple[str, Estimate | None, str]:
    """What one run says of a claim: verdict, estimate if there is one, and details."""
    unsure = []
    for need in claim.needs:
        try:
            found = STATISTICS[need.statistic](evidence, **need.options)
        except CannotSay as reason:
            unsure.append(str(reason))
            continue
        if (kept := verdict(found, need.threshold)) == NOT_SUPPORTED:
            return NOT_APPLICABLE, None, found.detail
        if kept == UNDECIDED:
            unsure.append(found.detail)
    if unsure:
        return UNDECIDED, None, f"unsure whether it applies: {'; '.join(dict.fromkeys(unsure))}"
    try:
        for table in claim.tables:
            evidence.table(table)
        found = STATISTICS[claim.statistic](evidence, **claim.options)
    except CannotSay as reason:
        return UNDECIDED, None, str(reason)
    no_interval = "no interval" if pd.isna(found.low) and not found.exact else ""
    return verdict(found, claim.threshold), found, "; ".join(filter(None, (found.detail, no_interval)))


def _row(claim: Claim, judged: str, found: Estimate | None, detail: str) -> dict:
    row = {"claim": claim.claim, "sentence": claim.sentence, "paper": claim.paper, "threshold": claim.threshold}
    row |= {"verdict": judged, "detail": detail}
    if found is not None:
        row |= {"estimate": found.value, "low": found.low, "high": found.high, "opposite": found.opposite}
        row |= {"n": found.n, "unit": found.unit}
    return row


def _as_a_whole(claim: Claim, rows: list[dict], found: list[Estimate | None]) -> dict:
    """What a study says: a single run speaks for itself; several are judged as one, over those that have a value."""
    run = {name: rows[0][name] for name in ("study", "model", "task")} | {"ft_seed": None}
    if len(rows) == 1:
        return rows[0] | run
    verdicts = [row["verdict"] for row in rows]
    known = [one for one in found if one is not None and not pd.isna(one.value)]
    said = [f"{verdicts.count(kind)} {kind}" for kind in dict.fromkeys(verdicts)]
    detail = f"fine-tuning seeds by themselves: {', '.join(said)}"
    if set(verdicts) == {NOT_APPLICABLE}:
        return _row(claim, NOT_APPLICABLE, None, detail) | run
    if len(known) < 2:
        return _row(claim, UNDECIDED, None, f"{detail}; a value is known of {len(known)}, and two are needed") | run
    if len(known) < len(rows):
        detail += f"; judged over the {len(known)} of {len(rows)} that have a value"
    together = over_seeds(known, claim.threshold)
    return _row(claim, verdict(together, claim.threshold), together, detail) | run
