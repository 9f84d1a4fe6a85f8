"""Preconditions of claims: when a claim applies, and why it does not."""

import pytest
from claim_tables import CONTEXT, evidence, table
from conftest import CLAIMS
from mentions import mentions
from test_degenerate import full_rows

from heuristic_core.config.claims import Precondition, load_claims
from heuristic_core.experiments.subnetworks.analysis import statistics_preconditions
from heuristic_core.experiments.subnetworks.analysis.claims import judge_claims
from heuristic_core.stats.verdicts import decide_verdict


def judged(needs, **tables):
    (claim,) = [claim for claim in load_claims(CLAIMS) if claim.claim == "generalises"]
    rows = {name: table(name, rows) for name, rows in tables.items()}
    whole = judge_claims(CONTEXT, rows, [claim.model_copy(update={"needs": needs})]).iloc[0]
    return whole["verdict"], whole["detail"]


GENERALISES = Precondition(statistic="generalisation", threshold="> 0 points")


@pytest.mark.parametrize(
    ("j", "expected"), [(60.0, "supported"), (-0.5, "does not apply"), (5.0, "not clear"), (7.0, "contradicted")]
)
def test_a_claim_applies_where_its_preconditions_hold(j, expected):
    assert judged([GENERALISES], group_accuracy=full_rows(j=j))[0] == expected


def test_why_a_claim_does_not_apply_is_said():
    verdict, detail = judged([GENERALISES], group_accuracy=full_rows(ood=60.0, j=-1.0))
    assert verdict == "does not apply" and mentions(detail, "J", "-1.0 [-4.0, 2.0]", 3.0)
    verdict, detail = judged([GENERALISES], group_accuracy=full_rows(ood=60.0))
    assert verdict == "not run" and mentions(detail, "no J")
    unknown = Precondition(statistic="core_size", threshold="> 0 heads")
    verdict, detail = judged([unknown], group_accuracy=full_rows())
    assert verdict == "not run" and mentions(detail, "core")


def test_a_model_that_rejects_every_pair_does_not_generalise():
    """Its OOD accuracy is 100 %, and its J is 0."""
    result = statistics_preconditions.generalisation(evidence(group_accuracy=full_rows(ood=100.0, j=0.0)))
    assert (result.value, decide_verdict(result, "> 0 points")) == (-3, "contradicted")


def test_published_values_are_taken_as_they_are():
    """Only of preconditions: they have no interval."""
    printed = [row | {"low": None, "high": None} for row in full_rows(j=30.0)]
    result = statistics_preconditions.generalisation(evidence(group_accuracy=printed))
    assert result.exact and decide_verdict(result, "> 0 points") == "supported"
