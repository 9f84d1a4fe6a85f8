"""Verdicts over fine-tuning runs that share the random draws of their pruning seeds, and the step of saturation."""

import numpy as np
import pytest
from amounts import amount, by_chance, first_fast
from claim_tables import evidence, group_row
from scipy import stats
from test_degenerate import run_rows

from heuristic_core.experiments.subnetworks.analysis import statistics_accuracy
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence
from heuristic_core.experiments.subnetworks.analysis.shares import estimate_share
from heuristic_core.stats.estimates import DoesNotApply
from heuristic_core.stats.verdicts import combine_seeds, decide_verdict

SUBNETWORKS = 12


@pytest.mark.sampled
@pytest.mark.parametrize("correlation", first_fast(0.4, 0.0, 0.7))
@pytest.mark.parametrize("runs", first_fast(10, 2, 5))
def test_shares_of_subnetworks_over_fine_tuning_runs_with_the_same_draws(runs, correlation):
    """Half of all subnetworks count. With independent errors assumed, 10 runs at 0.4 decided in 24 % of studies."""
    rng, decided = np.random.default_rng([runs, int(10 * correlation)]), 0
    for _ in range(count := amount(1000)):
        shared = np.sqrt(correlation) * rng.normal(size=SUBNETWORKS)
        latent = shared + np.sqrt(1 - correlation) * rng.normal(size=(runs, SUBNETWORKS))
        estimates = [estimate_share(counts, counts, counts, "") for counts in latent > 0]
        decided += decide_verdict(combine_seeds(estimates, "> 50 %", "fine-tuning seeds"), "> 50 %") != "not clear"
    assert decided <= by_chance(count)


STEPS = np.arange(100, 1900, 100)
ID_PAIRS, OOD_PAIRS, CHANCE = 450, 1100, 100 / 3


def make_curve():
    """Rows of table "finetune_accuracy" without accuracies: ID, then OOD."""
    return [
        {"step": int(step), "subset": group, "group": group, "n": pairs, "unit": "example", "units": pairs}
        for group, pairs in (("id", ID_PAIRS), ("ood", OOD_PAIRS))
        for step in STEPS
    ]


def draw_curve(rng, id_shares, ood_shares):
    """Accuracies with Wilson's intervals; all evaluations share their pairs."""
    z, sides = stats.norm.ppf(0.975), []
    for pairs, shares in ((ID_PAIRS, id_shares), (OOD_PAIRS, ood_shares)):
        right = (rng.random((pairs, 1)) < shares).mean(axis=0)
        middle = (right + z**2 / (2 * pairs)) / (1 + z**2 / pairs)
        half = z * np.sqrt(right * (1 - right) / pairs + (z / (2 * pairs)) ** 2) / (1 + z**2 / pairs)
        sides.append(100 * np.array([right, middle - half, middle + half]))
    return dict(zip(("accuracy", "low", "high"), np.concatenate(sides, axis=1), strict=True))


@pytest.mark.sampled
@pytest.mark.parametrize("excess", first_fast(0.7, 1.7))
def test_the_step_of_saturation_is_uncertain(excess):
    """ID accuracy saturates at step 400, where OOD accuracy is 5 %.

    With this step taken as known, up to 63 % of studies were contradicted.
    """
    rng, verdicts = np.random.default_rng(int(10 * excess)), []
    best = 0.99
    bound = CHANCE / 100 + 0.95 * (best - CHANCE / 100)
    id_shares = np.where(STEPS < 400, bound - 0.03, np.minimum(bound + excess / 100 + (STEPS - 400) / 2e4, best))
    ood_shares = np.where(STEPS <= 400, 0.05 * STEPS / 400, np.minimum(0.05 + (STEPS - 400) / 1500, 0.7))
    full = {"runs": run_rows(chance=CHANCE), "group_accuracy": [group_row(99.0, "id", 0.0, None, low=98.0, high=99.5)]}
    empty = evidence(finetune_accuracy=make_curve(), **full)
    rows = empty.tables["finetune_accuracy"]
    for _ in range(count := amount(1000)):
        drawn = rows.assign(**draw_curve(rng, id_shares, ood_shares))
        study = Evidence(empty.context, empty.tables | {"finetune_accuracy": drawn})
        try:
            verdicts.append(decide_verdict(statistics_accuracy.ood_at_saturation(study, 0.95), "< 5 %"))
        except DoesNotApply:
            verdicts.append("does not apply")
    assert verdicts.count("contradicted") <= by_chance(count)
    assert verdicts.count("supported") <= by_chance(count)
    assert verdicts.count("does not apply") <= count / 10
