"""Judge claims on evidence: compute the verdict, estimate and p-value of each."""

import inspect
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import pandas as pd

from heuristic_core.common.errors import InputError
from heuristic_core.config.claims import Claim, Precondition
from heuristic_core.stats.estimates import (
    DOES_NOT_APPLY,
    NOT_RUN,
    STATISTICS,
    TOO_FEW,
    Estimate,
    NotComputable,
)
from heuristic_core.stats.frames import make_frame
from heuristic_core.stats.verdicts import (
    CONTRADICTED,
    NOT_CLEAR,
    SUPPORTED,
    adjust_holm,
    combine_seeds,
    compute_p_value,
    decide_verdict,
    is_test,
)


class EvidenceProtocol(Protocol):
    """The interface that all evidence must have; statistics may need more."""

    def table(self, name: str) -> pd.DataFrame:
        """Return the rows of a table.

        Raises:
            NotComputable: If the evidence lacks the table or it has no rows.
        """


class Judgement(NamedTuple):
    """The verdict on a claim.

    Attributes:
        verdict: One of `VERDICTS`.
        estimate: Estimate that the verdict is based on; None if there is none.
        detail: Text to report with the verdict.
    """

    verdict: str
    estimate: Estimate | None
    detail: str


def check_claims(stated: Sequence[Claim]) -> None:
    """Check that the statistics of all claims exist and accept the stated options.

    Args:
        stated: Claims, whose preconditions are checked as well.

    Raises:
        InputError: If a statistic is unknown or does not have a stated option.
    """
    for claim in stated:
        for stated_statistic in claim.statistics:
            _check(claim, stated_statistic)


def judge(
    claims: Sequence[Claim], evidence: Sequence[EvidenceProtocol], overall: dict, seeds: Sequence[dict], unit: str
) -> pd.DataFrame:
    """Compute table "claims": for each claim, one row for all evidence together and one row per seed.

    Args:
        claims: Claims that pass :func:`check_claims`.
        evidence: Evidence of each seed.
        overall: Identity columns of the rows for all evidence together.
        seeds: Identity columns of each seed's rows; if empty, there are only the rows for all evidence together.
        unit: Kind of the seeds, such as "fine-tuning seeds".
    """
    scopes = [overall, *seeds]
    rows: list[list[dict]] = [[] for _ in scopes]
    for claim in claims:
        by_seed = [_judge_seed(claim, item) for item in evidence]
        judged = [_combine(claim, by_seed, unit), *(by_seed if seeds else ())]
        for scope, about, item in zip(rows, scopes, judged, strict=True):
            scope.append(about | _row(claim, *item))
    for scope in rows:
        _adjust(scope)
    return make_frame("claims", [row for claim_rows in zip(*rows, strict=True) for row in claim_rows])


def _adjust(rows: list[dict]) -> None:
    """Add p-values adjusted within each family (Holm 1979) to the rows of one scope; checks have no family."""
    for family in {row["family"] for row in rows} - {None}:
        members = [row for row in rows if row["family"] == family]
        for row, p in zip(members, adjust_holm([row.get("p") for row in members]), strict=True):
            row["p_holm"] = p


def _check(claim: Claim, stated_statistic: Claim | Precondition) -> None:
    if stated_statistic.statistic not in STATISTICS:
        known = ", ".join(sorted(STATISTICS))
        raise InputError(f"claim {claim.claim}: no statistic {stated_statistic.statistic!r}; there are {known}")
    try:
        inspect.signature(STATISTICS[stated_statistic.statistic]).bind(None, **stated_statistic.options)
    except TypeError as error:
        raise InputError(f"claim {claim.claim}: options of statistic {stated_statistic.statistic}: {error}") from None


def _judge_seed(claim: Claim, evidence: EvidenceProtocol) -> Judgement:
    """Judge a claim on the evidence of one seed."""
    unsure: dict[str, str] = {}  # detail -> verdict
    for need in claim.needs:
        try:
            estimate = STATISTICS[need.statistic](evidence, **need.options)
        except NotComputable as reason:
            return Judgement(reason.verdict, None, f"unknown whether it applies: {reason}")
        if (outcome := decide_verdict(estimate, need.threshold)) == CONTRADICTED:
            return Judgement(DOES_NOT_APPLY, None, estimate.detail)
        if outcome != SUPPORTED:
            unsure[estimate.detail] = outcome
    if unsure:
        reason_verdict = TOO_FEW if TOO_FEW in unsure.values() else NOT_CLEAR
        return Judgement(reason_verdict, None, f"not clear whether it applies: {'; '.join(unsure)}")
    try:
        for table in claim.tables:
            evidence.table(table)
        estimate = STATISTICS[claim.statistic](evidence, **claim.options)
    except NotComputable as reason:
        return Judgement(reason.verdict, None, str(reason))
    no_interval = "no interval" if pd.isna(estimate.low) and not estimate.exact else ""
    return Judgement(
        decide_verdict(estimate, claim.threshold), estimate, "; ".join(filter(None, (estimate.detail, no_interval)))
    )


def _row(claim: Claim, verdict_name: str, estimate: Estimate | None, detail: str) -> dict:
    row = {"claim": claim.claim, "sentence": claim.sentence, "paper": claim.paper, "family": claim.family}
    row |= {"threshold": claim.threshold, "verdict": verdict_name, "detail": detail}
    if estimate is not None:
        row |= {"estimate": estimate.value, "low": estimate.low, "high": estimate.high, "opposite": estimate.opposite}
        row |= {"n": estimate.n, "unit": estimate.unit, "p": compute_p_value(estimate, claim.threshold)}
    return row


def _combine(claim: Claim, by_seed: list[Judgement], unit: str) -> Judgement:
    """Judge a claim over seeds, from the known values; a single seed's judgement is returned unchanged.

    If half of the seeds to which the claim applies have no value, the verdict is the most frequent reason for it.
    """
    if len(by_seed) == 1:
        return by_seed[0]
    if not by_seed:
        return Judgement(NOT_RUN, None, f"there are no {unit}")
    verdicts = [judgement.verdict for judgement in by_seed]
    applies = len(by_seed) - verdicts.count(DOES_NOT_APPLY)
    detail = f"supported on {verdicts.count(SUPPORTED)} of {applies} {unit}, contradicted on "
    detail += f"{verdicts.count(CONTRADICTED)}"
    if applies < len(by_seed):
        detail += f"; does not apply to {len(by_seed) - applies} more"
    if not applies:
        return Judgement(DOES_NOT_APPLY, None, detail)
    # Tests with too few units are left out: their large p-values would raise the mean p-value over seeds.
    has_value = [
        judgement.estimate is not None
        and not pd.isna(judgement.estimate.value)
        and not (is_test(claim.threshold) and judgement.verdict == TOO_FEW)
        for judgement in by_seed
    ]
    estimates = [judgement.estimate for judgement, known in zip(by_seed, has_value, strict=True) if known]
    if len(estimates) < applies:
        detail += f"; {len(estimates)} of {applies} have a value"
    if len(estimates) < 2 or 2 * len(estimates) <= applies:  # few would stand for all, and failures are no accidents
        reasons = Counter(
            verdict
            for verdict, known in zip(verdicts, has_value, strict=True)
            if not known and verdict != DOES_NOT_APPLY
        )
        return Judgement(reasons.most_common(1)[0][0] if reasons else TOO_FEW, None, detail)
    combined = combine_seeds(estimates, claim.threshold, unit)
    detail = "; ".join(filter(None, (detail, combined.detail)))
    return Judgement(decide_verdict(combined, claim.threshold), combined, detail)
