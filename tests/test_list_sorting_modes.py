"""In which mode a model sorts, and which head does what."""

import numpy as np
import pandas as pd
import pytest

from heuristic_core.config.claims import load_claims
from heuristic_core.experiments.list_sorting.experiment import EXPERIMENT
from heuristic_core.experiments.list_sorting.modes import (
    BOTH,
    NEITHER,
    SPLITS_ABOVE,
    SPLITTING,
    SUPPRESSES_ABOVE,
    SUPPRESSION,
    assign_roles,
    classify_mode,
)


@pytest.mark.parametrize(
    ("splitting", "suppression", "mode"),
    [(0.76, 0.2, SPLITTING), (0.75, 0.21, SUPPRESSION), (0.76, 0.21, BOTH), (0.75, 0.2, NEITHER), (np.nan, 1.0, None)],
)
def test_modes(splitting, suppression, mode):
    assert classify_mode(splitting, suppression) == mode


def test_claims_and_figures_have_the_same_limits_of_modes():
    claims = load_claims(EXPERIMENT.claims)
    (limits,) = (claim.options for claim in claims if claim.claim == "two-modes")
    assert limits == {"splitting": 100 * SPLITS_ABOVE, "suppression": 100 * SUPPRESSES_ABOVE}


def test_roles_of_heads_that_are_alike_and_of_more_than_two():
    def result(copying, suppression):
        run = {"condition": "a", "seed": 1, "step": 5}
        rows = zip(copying, suppression, strict=True)
        heads = [run | {"head": k, "copying": c, "suppression": s} for k, (c, s) in enumerate(rows)]
        return assign_roles(pd.DataFrame(heads)).sort_values("head", kind="stable")["role"].tolist()

    assert result([0.2, 0.2], [0.1, 0.1]) == ["copies", "suppresses"]
    assert result([0.1, 0.9, 0.3, 0.0], [0.1, 0.0, 0.0, 0.6]) == ["other", "copies", "other", "suppresses"]
    assert result([0.0], [0.9]) == ["copies"]
