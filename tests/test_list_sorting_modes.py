"""In which mode a model sorts, and which head does what."""

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT

from heuristic_core.config.claims import load_claims
from heuristic_core.experiments.list_sorting.experiment import EXPERIMENT
from heuristic_core.experiments.list_sorting.modes import (
    BOTH,
    LIMITS,
    NEITHER,
    SPLITTING,
    SUPPRESSION,
    UNCLEAR,
    assign_roles,
    classify_mode,
    select_last_step,
)
from heuristic_core.tables.parquet import read_table

DEVELOPMENT = select_last_step(
    read_table(ROOT / "docs" / "studies" / "list-sorting" / "development" / "sorting_models.parquet")
)
(SPLIT, SPLITS), (TAKES, SUPPRESSES) = LIMITS[SPLITTING], LIMITS[SUPPRESSION]


def find_gap(values):
    """The ends of the widest gap between neighbours."""
    ascending = np.sort(np.asarray(values, float))
    k = int(np.diff(ascending).argmax())
    return ascending[k], ascending[k + 1]


@pytest.mark.parametrize(
    ("splitting", "suppression", "mode"),
    [
        (SPLITS, TAKES, SPLITTING),
        (SPLIT, SUPPRESSES, SUPPRESSION),
        (SPLITS, SUPPRESSES, BOTH),
        (SPLIT, TAKES, NEITHER),
        ((SPLIT + SPLITS) / 2, SUPPRESSES, UNCLEAR),
        (SPLITS, (TAKES + SUPPRESSES) / 2, UNCLEAR),
        (np.nan, 1.0, None),
    ],
)
def test_modes(splitting, suppression, mode):
    assert classify_mode(splitting, suppression) == mode


def test_limits_are_those_of_the_development_models():
    assert find_gap([0.9, 0.1, 0.2, 0.75, 0.35]) == (0.35, 0.75)
    for name, limits in LIMITS.items():
        assert limits == pytest.approx(find_gap(DEVELOPMENT[name]), abs=1e-4)
    modes = [
        classify_mode(*values) for values in zip(DEVELOPMENT["splitting"], DEVELOPMENT["suppression"], strict=True)
    ]
    assert dict(zip(DEVELOPMENT["condition"], modes, strict=True)) == {"l2": BOTH, "no-decay": NEITHER}
    assert modes.count(BOTH) == modes.count(NEITHER) == 3


def test_claims_have_the_middles_of_the_gaps_as_thresholds():
    claims = load_claims(EXPERIMENT.claims)
    middles = {
        name: round(100 * sum(find_gap(DEVELOPMENT[name])) / 2, 1) for name in ("overlap", "splitting", "suppression")
    }
    limits = {(name, value) for claim in claims for name, value in claim.options.items() if name in middles}
    assert limits == set(middles.items())
    thresholds = {claim.claim: claim.threshold for claim in claims}
    assert thresholds["heads-specialise"] == f"< {middles['overlap']} %"
    assert thresholds["suppresses"] == f"> {middles['suppression']} %"
    for claim in ("splits-with-decay", "splits-without-decay"):
        assert thresholds[claim] == f"> {middles['splitting']} %"


def test_roles_of_heads_that_are_alike_and_of_more_than_two():
    def result(copying, suppression):
        run = {"condition": "a", "seed": 1, "step": 5}
        rows = zip(copying, suppression, strict=True)
        heads = [run | {"head": k, "copying": c, "suppression": s} for k, (c, s) in enumerate(rows)]
        return assign_roles(pd.DataFrame(heads)).sort_values("head", kind="stable")["role"].tolist()

    assert result([5.0, 5.0], [0.1, 0.1]) == ["copies", "suppresses"]
    assert result([3.0, 5.0, 4.0, 0.0], [0.2, 0.3, 0.0, 0.1]) == ["suppresses", "copies", "other", "other"]
    assert result([1.0, 5.0, 4.0], [0.1, 0.0, 0.1]) == ["other", "copies", "suppresses"]
    assert result([0.0], [0.9]) == ["copies"]
