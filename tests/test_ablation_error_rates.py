"""Claims on ablating the core: do intervals hold the truth, and is a core of chance seldom special? Simulations."""

import numpy as np
import pandas as pd
import pytest
from amounts import amount, by_chance, first_fast, least_held
from claim_tables import CONTEXT, RUN, ablation, evidence, group_row, table
from mentions import mentions, raises
from test_degenerate import run_rows

from heuristic_core.experiments.subnetworks.analysis import statistics_heads as heads
from heuristic_core.experiments.subnetworks.analysis.ablation_sets import (
    AblationSet,
    compute_ablation_sets,
    draw_matched_sets,
)
from heuristic_core.experiments.subnetworks.analysis.ablations import (
    AblationMeans,
    Effects,
    _mean_columns,
    _measure_columns,
    compute_ablations,
)
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence, select_run
from heuristic_core.experiments.subnetworks.analysis.measures import Subset, compute_measures
from heuristic_core.stats.bootstrap import Resamples
from heuristic_core.stats.estimates import Estimate
from heuristic_core.stats.verdicts import decide_verdict
from heuristic_core.tables.identity import Identity

MODEL = Identity(*RUN.values(), 30)
SETS = compute_ablation_sets(
    [AblationSet("none", "none", (), ""), AblationSet("0.0+1.1", "strongest", (0, 5), "0+1")], ["mean"], MODEL
)
PAIRS = 300  # of a subset
RIGHT = {
    "ood": (0.145, 0.13),
    "ood-entailment": (0.975, 0.97),
}  # of the full and the ablated model: 10 points of J left


EFFECTS = Effects(SETS)


def draw_right(rng, templates):
    """Yield group, template of each pair and which pairs both models have right: few change, those of one are alike."""
    for group, shares in RIGHT.items():
        name = np.arange(PAIRS) % templates
        shift = 0.9 * (1 - max(shares)) * rng.uniform(-1, 1, templates)[name] if templates > 1 else np.zeros(PAIRS)
        shift = shift if group == "ood-entailment" else 0.1 * shift
        yield group, name, (rng.random((PAIRS, 1)) < shares + shift[:, None]).astype(float)


def resample(rng, templates):
    return Resamples([f"t{k % templates}" for k in range(PAIRS)], 1000, rng)


def predicted(rng, templates):
    """Table "ablation_predictions"."""
    rows = []
    for group, name, right in draw_right(rng, templates):
        for ablation_name, correct in zip(SETS["ablation"], right.T == 1, strict=True):
            rows.append(
                pd.DataFrame(MODEL._asdict() | {"example": range(PAIRS), "template": [f"t{k}" for k in name]}).assign(
                    kind="mean", ablation=ablation_name, subset=group, group=group, family=None, draw=0,
                    correct=correct, correct_merged=correct, log_odds=0.0,
                )
            )  # fmt: skip
    return pd.concat(rows)


@pytest.mark.parametrize("templates", [1, 15])
def test_the_interval_of_what_remains_is_that_of_the_table(templates):
    rows = compute_ablations(predicted(np.random.default_rng(0), templates), SETS, bootstrap=200, seed=0)
    result = Evidence(CONTEXT, select_run({"ablations": rows, "group_accuracy": full_rows()}, RUN))
    estimate = heads.remaining_accuracy(result, group="j")
    row = rows[(rows["group"] == "j") & (rows["ablation"] != "none")].iloc[0]
    assert (estimate.value, estimate.low, estimate.high) == (row["accuracy"], row["low"], row["high"])
    assert estimate.n == (2 * PAIRS if templates == 1 else 2 * templates)
    assert estimate.unit.split()[0] == ("examples" if templates == 1 else "templates")


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("templates", first_fast(1, 15))
def test_intervals_of_what_remains_without_the_core_hold_the_truth(templates):
    """The full model's value with the change's interval leaves out all that both models share: 25 to 51 %."""
    rng, held, of_change, supported, count = np.random.default_rng([36, templates]), [], [], 0, amount(1000)
    resamples = resample(rng, templates)
    for _ in range(count):
        subsets = []
        for group, _, right in draw_right(rng, templates):
            identity = {"subset": group, "group": group, "family": None}
            subsets.append(Subset(identity, right, None, 100 * resamples.means(right), resamples))
        (measure,) = compute_measures(subsets)[0]
        row = {name: value[1] for name, value in _measure_columns(EFFECTS, measure).items() if np.ndim(value)}
        estimate = Estimate.over_pairs(row["accuracy"], row["low"], row["high"], sum(measure.units), "units", "")
        held.append(estimate.low <= 10 <= estimate.high)
        supported += decide_verdict(estimate, "< 10 points") == "supported"
        of_change.append(row["change_low"] <= 10 - row["accuracy"] + row["change"] <= row["change_high"])
    assert np.sum(held) >= least_held(count) and supported <= by_chance(count)
    assert np.mean(of_change) < 0.8


JOINT_SHARES = {"none": 0.9, "0.0": 0.7, "1.1": 0.6, "0.0+1.1": 0.2}  # right out-of-domain
JOINT_SETS = compute_ablation_sets(
    [
        AblationSet("none", "none", (), ""),
        AblationSet("0.0", "core", (0,), "0"),
        AblationSet("1.1", "core", (5,), "1"),
        AblationSet("0.0+1.1", "strongest", (0, 5), "0+1"),
    ],
    ["mean"],
    MODEL,
)


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("templates", first_fast(15, 1, 4))
def test_intervals_of_an_interaction_hold_the_truth(templates):
    """Both heads cost 70 points together, 20 and 30 alone; pairs of one template are alike."""
    rng, held, count = np.random.default_rng([37, templates]), [], amount(1000)
    effects, identity = Effects(JOINT_SETS), {"subset": None, "group": "ood", "family": None, "n": PAIRS}
    shares = np.array([JOINT_SHARES[name] for name in JOINT_SETS["ablation"]])
    name, resamples = np.arange(PAIRS) % templates, resample(rng, templates)
    for _ in range(count):
        shift = rng.uniform(-0.1, 0.1, templates)[name] if templates > 1 else np.zeros(PAIRS)
        right = rng.random((PAIRS, 1)) < shares + shift[:, None] * rng.uniform(0.5, 1, len(shares))
        values = np.stack([100.0 * right, np.zeros(right.shape)], axis=1)  # accuracy and log odds
        means = AblationMeans(identity, values.mean(axis=0), [resamples.means(values)], [resamples])
        row = {name: value[-1] for name, value in _mean_columns(effects, means).items() if np.ndim(value)}
        held.append(row["interaction_low"] <= 20 <= row["interaction_high"])
    assert np.sum(held) >= least_held(count)


# ---- shares lost


FULL = {"j": 60.0, "id": 90.0}  # accuracy of the full model on the pairs that are ablated


def full_rows():
    """Accuracy of the full model on all pairs."""
    return table("group_accuracy", [group_row(value, group, 0.0, None, low=value - 3, high=value + 3)
                                    for group, value in (("j", 75.0), ("id", 88.0))])  # fmt: skip


def costs(core, controls):
    """Ablations of the core and of random sets. core, controls: costs of J and of ID, points."""
    named = [("strongest", "core", core), *(("control", f"control {k}", cost) for k, cost in enumerate(controls))]
    rows = [
        row
        for role, name, (j, id_) in named
        for group, cost in (("j", j), ("id", id_))
        for row in ablation(
            role, name, 2, {None: (group, -cost)}, accuracy=FULL[group] - cost, change_low=-cost - 3,
            change_high=-cost + 3,
        )
    ]  # fmt: skip
    tables = {"ablations": table("ablations", rows), "runs": table("runs", run_rows(chance=50.0))}
    return Evidence(CONTEXT, select_run(tables | {"group_accuracy": full_rows()}, RUN))


def change_costs(study, core, controls):
    """The study of :func:`costs` with other costs, of as many sets."""
    cost = np.array([core, *controls]).ravel()
    rows = study.tables["ablations"]
    rows = rows.assign(
        accuracy=rows["group"].map(FULL) - cost, change=-cost, change_low=-cost - 3, change_high=-cost + 3
    )
    return Evidence(CONTEXT, study.tables | {"ablations": rows})


def test_costs_can_be_changed():
    core, controls = (45, 2), [(10 - 0.1 * k, k) for k in range(40)]
    changed, made = change_costs(costs((1, 2), [(3, 4)] * 40), core, controls), costs(core, controls)
    pd.testing.assert_frame_equal(changed.tables["ablations"], made.tables["ablations"])


def test_the_cores_difference_of_shares_is_ranked_among_random_sets():
    """40 sets lose 10 points of J, of 60, and none of ID; the core loses 45 and 2, of 40 above chance."""
    result = heads.share_lost_against_controls(costs((45, 2), [(10 - 0.1 * k, 0) for k in range(40)]))
    assert (result.value, result.opposite, result.n) == (pytest.approx(1 / 41), 1, 40)
    assert mentions(result.detail, "core", "J", "ID", "+70", 40, "+13", "+17")
    assert decide_verdict(result, "p < 0.05") == "supported"
    as_much_of_the_task = heads.share_lost_against_controls(costs((45, 30), [(10, 0)] * 40))  # 75 % of both
    assert decide_verdict(as_much_of_the_task, "p < 0.05") == "contradicted"
    few = heads.share_lost_against_controls(costs((45, 2), [(10, 0)] * 7))
    assert decide_verdict(few, "p < 0.05") == "too few"
    with raises(heads.NotComputable, "core", "J", "ID"):
        heads.share_lost_against_controls(costs((45, 2), []))


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("kind", first_fast("skewed", "normal"))
def test_a_core_of_chance_is_rarely_more_special_than_its_layers(kind):
    """All heads serve J more than ID: the plain claim is supported of most cores of chance."""
    rng, plain, decided, count = np.random.default_rng(5), 0, 0, amount(1000)
    study = costs((1, 2), [(3, 4)] * 47)
    for seed in range(count):
        of_j = rng.gamma(0.5, 12, 16) if kind == "skewed" else rng.normal(8, 4, 16)
        of_id = rng.gamma(0.5, 2, 16)
        core = int(rng.integers(8)), 8 + int(rng.integers(8))
        sets = [core, *draw_matched_sets("0+1", range(16), 8, 47, seed, core)]
        cost = [(of_j[list(item)].sum(), of_id[list(item)].sum()) for item in sets]
        result = change_costs(study, cost[0], cost[1:])
        if seed % 4 == 0:
            plain += decide_verdict(heads.share_lost_beyond_the_task(result), "> 0 points") == "supported"
        decided += decide_verdict(heads.share_lost_against_controls(result), "p < 0.05") != "not clear"
    assert decided <= by_chance(count) and plain > 0.5 * count / 4


def test_what_remains_is_the_ablated_models_own_interval():
    row = {"accuracy": 4.0, "low": -3.0, "high": 12.0, "unit": "template", "units": 22}
    rows = ablation("strongest", "0.0+1.1", 2, {None: ("j", -56.0)}, change_low=-57.0, change_high=-55.0, **row)
    result = evidence(ablations=rows, group_accuracy=[group_row(60.0, "j", 0.0, None)])
    estimate = heads.remaining_accuracy(result, group="j")
    assert (estimate.value, estimate.low, estimate.high) == (4, -3, 12)
    assert (estimate.n, estimate.unit) == (22, "templates")
    assert mentions(estimate.detail, "0.0+1.1", "J", 60.0, 4.0)
    assert decide_verdict(estimate, "< 10 points") == "not clear"
    old = Evidence(result.context, result.tables | {"ablations": result.tables["ablations"].drop(columns="units")})
    with raises(heads.NotComputable, "ablations"):
        heads.remaining_accuracy(old, group="j")
