"""The paper's claims, judged on a study: supported, not supported, undecided or not applicable."""

import inspect
from typing import NamedTuple

import pandas as pd

from heuristic_core.analysis.estimates import STATISTICS, CannotSay, Estimate
from heuristic_core.analysis.frames import frame
from heuristic_core.analysis.verdicts import NOT_APPLICABLE, NOT_SUPPORTED, UNDECIDED, over_seeds, verdict
from heuristic_core.common.errors import InputError
from heuristic_core.config.claims import Claim, Need
from heuristic_core.experiments.heuristic_core.analysis import (  # noqa: F401  each registers its statistics
    statistics_accuracy,
    statistics_further_runs,
    statistics_heads,
    statistics_learned_masks,
    statistics_mediation,
    statistics_needs,
    statistics_overlap,
    statistics_random_masks,
    statistics_single_heads,
    statistics_sizes,
    statistics_sparsity,
)
from heuristic_core.experiments.heuristic_core.analysis.evidence import Evidence, of_run, runs
from heuristic_core.experiments.heuristic_core.config.context import Context


class Judged(NamedTuple):
    """A verdict, the estimate that it is of, if there is one, and details."""

    verdict: str
    found: Estimate | None
    detail: str


def claims(context: Context, tables: dict[str, pd.DataFrame], stated: list[Claim]) -> pd.DataFrame:
    """Table "claims": a row for each claim of the study, and one for each of its fine-tuning runs.

    tables: the study's tables, pandas frames by schema name. stated: the claims of claims.yaml.
    Raises InputError on an unknown statistic, and on options that a statistic does not have.
    """
    for claim in stated:
        for one in claim.statistics:
            _check(claim, one)
    identities = runs(tables)
    evidence = [Evidence(context, of_run(tables, run)) for run in identities]
    rows = []
    for claim in stated:
        by_run = [_judged(claim, found) for found in evidence]
        judged = [_over_runs(claim, by_run), *by_run]
        of_rows = [identities[0] | {"ft_seed": None}, *identities]
        rows += [run | _row(claim, *one) for run, one in zip(of_rows, judged, strict=True)]
    return frame("claims", rows)


def _check(claim: Claim, one: Claim | Need) -> None:
    if one.statistic not in STATISTICS:
        known = ", ".join(sorted(STATISTICS))
        raise InputError(f"claim {claim.claim}: no statistic {one.statistic!r}; there are {known}")
    try:
        inspect.signature(STATISTICS[one.statistic]).bind(None, **one.options)
    except TypeError as error:
        raise InputError(f"claim {claim.claim}: options of statistic {one.statistic}: {error}") from None


def _judged(claim: Claim, evidence: Evidence) -> Judged:
    """What one run says of a claim."""
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


def _over_runs(claim: Claim, by_run: list[Judged]) -> Judged:
    """What a study says: a single run speaks for itself; several are judged as one, over the runs that have a value."""
    if len(by_run) == 1:
        return by_run[0]
    verdicts = [one.verdict for one in by_run]
    said = [f"{verdicts.count(kind)} {kind}" for kind in dict.fromkeys(verdicts)]
    detail = f"fine-tuning seeds by themselves: {', '.join(said)}"
    if set(verdicts) == {NOT_APPLICABLE}:
        return Judged(NOT_APPLICABLE, None, detail)
    known = [one.found for one in by_run if one.found is not None and not pd.isna(one.found.value)]
    if len(known) < 2:
        return Judged(UNDECIDED, None, f"{detail}; a value is known of {len(known)}, and two are needed")
    if len(known) < len(by_run):
        detail += f"; judged over the {len(known)} of {len(by_run)} that have a value"
    together = over_seeds(known, claim.threshold)
    return Judged(verdict(together, claim.threshold), together, detail)
