"""Sentences of the paper that tables can judge: simulations, and small tables with known answers."""

import numpy as np
import pytest
from amounts import amount, by_chance
from claim_tables import FULL, ablation, evidence, group_row
from mentions import mentions, raises
from scipy import stats
from test_statistics_learned_masks import SHAPE, drawn, make_mask_evidence

from heuristic_core.experiments.subnetworks.analysis import statistics_learned_masks as masks
from heuristic_core.experiments.subnetworks.analysis import statistics_single_heads as single
from heuristic_core.experiments.subnetworks.analysis import statistics_sparsity as sparsity
from heuristic_core.stats.estimates import DoesNotApply, NotComputable, TooFewUnits
from heuristic_core.stats.verdicts import decide_verdict

# ---- as good beyond a sparsity


def test_subnetworks_beyond_a_sparsity_are_counted_certainly_and_possibly():
    def row(at, value, low=None, high=None):
        return group_row(value, sparsity=at, seed=1, change=value - 80, change_low=low, change_high=high)

    options = {"group": "ood", "sparsity": 0.3}
    known = [row(0.3, 79, -2, 0), row(0.4, 79, -2, 0), row(0.5, 76, -9, -1), row(0.6, 10, -75, -60)]
    result = sparsity.as_good_beyond(evidence(group_accuracy=[FULL, *known]), **options)
    assert (result.value, result.low, result.high, result.n, result.exact) == (1, 1, 2, 3, False)
    assert mentions(result.detail, "-1.0", "40 %")
    published = sparsity.as_good_beyond(evidence(group_accuracy=[FULL, row(0.4, 77.5), row(0.5, 76)]), **options)
    assert (published.value, published.exact) == (1, True)
    run = {"step": 30, "seed": 1, "repeat": 0, "collapsed": False, "missed": False, "chance": None}
    runs = [run | {"sparsity": at, "actual_sparsity": 0.1 if at == 0.4 else at} for at in (0.3, 0.4, 0.5, 0.6)]
    missed = sparsity.as_good_beyond(evidence(group_accuracy=[FULL, *known], runs=runs), **options)
    assert (missed.value, missed.high, missed.n) == (0, 1, 2)  # the run at 0.4 has removed a tenth
    none = [row(0.4, 10, -75, -60), row(0.5, 8, -75, -60)]
    certain = sparsity.as_good_beyond(evidence(group_accuracy=[FULL, *none]), **options)
    assert (certain.value, certain.exact, decide_verdict(certain, "< 1 subnetwork")) == (0, True, "supported")
    with raises(DoesNotApply, "3.0 %", "ood"):
        sparsity.as_good_beyond(evidence(group_accuracy=[FULL | {"accuracy": 3.0}, *known]), **options)


# ---- masks


def test_masks_are_nested_in_those_of_their_own_seed():
    rng = np.random.default_rng(0)
    mid = dict(enumerate(drawn(rng, 0.6)))
    inside = {seed: mask & (rng.random(SHAPE) < 0.7) for seed, mask in mid.items()}
    result = masks.nested(make_mask_evidence(mid=mid, high=inside))
    assert result.value < 0.001 and result.opposite == 1 and result.n == 12
    assert mentions(result.detail, "100.0 %", "high", "mid")
    with raises(TooFewUnits, 1):
        masks.nested(make_mask_evidence(mid={1: mid[1], 2: mid[2]}, high={1: inside[1]}))


@pytest.mark.slow
@pytest.mark.sampled
def test_a_ranking_that_all_seeds_follow_is_no_nesting(monkeypatch):
    monkeypatch.setattr(masks, "PERMUTATIONS", 400)
    rng, result = np.random.default_rng(0), []
    shares = rng.beta(0.5, 0.5, SHAPE)
    for _ in range(count := amount(1000)):
        cells = {"mid": dict(enumerate(drawn(rng, shares))), "high": dict(enumerate(drawn(rng, shares**2)))}
        result.append(masks.nested(make_mask_evidence(**cells)).value)
    assert np.sum(np.array(result) <= 0.05) <= by_chance(count)


# ---- single heads


def singles(changes, core=(), group="ood", **more):
    """changes: layer -> change of each head."""
    for layer, of_layer in changes.items():
        for head, change in enumerate(of_layer):
            role = "core" if (layer, head) in core else "non-core"
            yield from ablation(role, f"{layer}.{head}", 1, {None: (group, change)}, **more | {"layers": str(layer)})


def test_core_heads_one_by_one_are_compared_within_layers():
    changes = {0: (-9, -1, 0, 0), 1: (-2, -3, -2, -8)}
    result = single.single_core_cost(evidence(ablations=list(singles(changes, core=((0, 0), (1, 3))))), group="ood")
    assert result.value == pytest.approx(1 / 16, abs=0.01) and result.opposite == pytest.approx(1)
    assert mentions(result.detail, 8.5, 1.3)
    with pytest.raises(NotComputable) as caught:
        single.single_core_cost(evidence(ablations=list(singles(changes))), group="ood")
    assert caught.type is NotComputable


@pytest.mark.sampled
def test_a_core_like_any_heads_costs_more_as_rarely_as_p_says(monkeypatch):
    monkeypatch.setattr("heuristic_core.stats.randomisation.PERMUTATIONS", 400)
    rng, result = np.random.default_rng(0), []
    for _ in range(count := amount(1000)):
        changes = {layer: rng.normal(size=6) for layer in (0, 1)}
        rows = list(singles(changes, core=((0, 0), (0, 1), (1, 2)), group="j"))
        result.append(single.single_core_cost(evidence(ablations=rows), group="j").value)
    assert np.sum(np.array(result) <= 0.05) <= by_chance(count)


def test_the_largest_cost_of_a_single_head_has_an_interval_for_all():
    rows = [row | {"change_low": row["change"] - 1, "change_high": row["change"] + 2}
            for row in singles({0: (-0.5, -2.0), 1: (0.0, 0.2)}, core=((0, 1),), group="id")]  # fmt: skip
    result = single.largest_single_cost(evidence(ablations=rows), group="id")
    wider = stats.norm.ppf(1 - 0.025 / 4) / stats.norm.ppf(0.975)
    assert (result.value, result.low, result.high, result.n) == pytest.approx((2, 2 - 2 * wider, 2 + wider, 4))
    assert mentions(result.detail, "head 0.1", 4)
    printed = [row | {"change_low": None} for row in rows]
    assert single.largest_single_cost(evidence(ablations=printed), group="id").low is None
    core_alone = [row for row in rows if row["role"] == "core"]
    with pytest.raises(NotComputable) as caught:
        single.largest_single_cost(evidence(ablations=core_alone), group="id")
    assert caught.type is NotComputable
