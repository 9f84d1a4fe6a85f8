"""The paper's claims, judged on a study: supported, not supported or undecided."""

import operator

import numpy as np
import pandas as pd

from heuristic_core.analysis import (
    statistics_accuracy,
    statistics_heads,
    statistics_masks,
    statistics_overlap,
    statistics_single_heads,
    statistics_sparsity,
    statistics_triple,
)
from heuristic_core.analysis.estimates import CannotSay, Estimate, Evidence, of_run, runs
from heuristic_core.analysis.frames import frame
from heuristic_core.common.errors import InputError
from heuristic_core.config.claims import Claim
from heuristic_core.config.context import Context

SUPPORTED, NOT_SUPPORTED, UNDECIDED = "supported", "not supported", "undecided"
OPERATORS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
AGAINST = 0.5  # a test with a p above it does not merely fail to reject: the observed is what chance gives, or less
MODULES = (
    statistics_accuracy,
    statistics_heads,
    statistics_masks,
    statistics_overlap,
    statistics_single_heads,
    statistics_sparsity,
    statistics_triple,
)
STATISTICS = {name: function for module in MODULES for name, function in module.STATISTICS.items()}


def claims(context: Context, tables: dict[str, pd.DataFrame], stated: list[Claim]) -> pd.DataFrame:
    """Table "claims": a row for each claim of the study, and one for each of its fine-tuning runs.

    tables: pandas frames by schema name, those that the study has. Raises InputError on an unknown statistic.
    """
    for claim in stated:
        if claim.statistic not in STATISTICS:
            known = ", ".join(sorted(STATISTICS))
            raise InputError(f"claim {claim.claim}: no statistic {claim.statistic!r}; there are {known}")
    evidence = [(run, Evidence(context, of_run(tables, run))) for run in runs(tables)]
    rows = []
    for claim in stated:
        of_claim = [run | _judged(claim, found) for run, found in evidence]
        rows += [_as_a_whole(of_claim), *of_claim]
    return frame("claims", rows)


def _judged(claim: Claim, evidence: Evidence) -> dict:
    """What one run says of a claim."""
    row = {"claim": claim.claim, "sentence": claim.sentence, "paper": claim.paper, "threshold": claim.threshold}
    try:
        for table in claim.tables:
            evidence.table(table)
        found = STATISTICS[claim.statistic](evidence, **claim.options)
    except CannotSay as reason:
        return row | {"verdict": UNDECIDED, "detail": str(reason)}
    values = {"estimate": found.value, "low": found.low, "high": found.high, "n": found.n, "unit": found.unit}
    unsure = pd.isna(found.low) and not found.exact
    detail = "; ".join(filter(None, (found.detail, "no interval" if unsure else "")))
    return row | values | {"verdict": verdict(found, claim.threshold), "detail": detail}


def verdict(found: Estimate, threshold: str) -> str:
    """Whether an estimate supports a claim with this threshold; claims.yaml states the rule."""
    test = threshold.startswith("p ")
    sign, level, *_ = threshold.removeprefix("p ").split()
    values = [found.value] if found.exact else [found.value, found.low, found.high]
    if pd.isna(values).any():
        return UNDECIDED
    holds = [OPERATORS[sign](value, float(level)) for value in values]
    if test:
        return SUPPORTED if holds[0] else NOT_SUPPORTED if found.value > AGAINST else UNDECIDED
    return SUPPORTED if all(holds) else UNDECIDED if any(holds) else NOT_SUPPORTED


def _as_a_whole(rows: list[dict]) -> dict:
    """What a study says: what all of its runs say; a single run speaks for itself.

    Its estimate is their mean, of a test the largest p; low and high are their range.
    """
    if len(rows) == 1:
        return rows[0] | {"ft_seed": None}
    verdicts = [row["verdict"] for row in rows]
    estimates = [row["estimate"] for row in rows if row.get("estimate") is not None]
    agreeing, against = verdicts.count(SUPPORTED), verdicts.count(NOT_SUPPORTED)
    test = rows[0]["threshold"].startswith("p")
    estimate = (max if test else np.mean)(estimates) if estimates else None
    return rows[0] | {
        "ft_seed": None,
        "verdict": verdicts[0] if len(set(verdicts)) == 1 else UNDECIDED,
        "estimate": estimate,
        "low": min(estimates, default=None),
        "high": max(estimates, default=None),
        "n": len(rows),
        "unit": f"fine-tuning seeds: {'largest' if test else 'mean'} and range",
        "detail": f"{agreeing} of {len(rows)} fine-tuning seeds support it, {against} speak against it",
    }
