"""Do subnetworks keep the same heads, and do they compete? Simulated masks whose answer is known."""

import numpy as np
import pytest
from amounts import amount, by_chance, first_fast
from claim_tables import evidence
from mentions import mentions, raises
from test_analysis_spread import CONTEXT, RUN

from heuristic_core.experiments.subnetworks.analysis import clusters, frequency_agreement
from heuristic_core.experiments.subnetworks.analysis import statistics_learned_masks as masks
from heuristic_core.experiments.subnetworks.analysis.core import compute_core_null
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence
from heuristic_core.experiments.subnetworks.analysis.rank_correlation import compute_rank_correlation
from heuristic_core.models.components import ComponentGrid
from heuristic_core.stats.estimates import DoesNotApply, Estimate, NotComputable, TooFewUnits
from heuristic_core.stats.frames import make_frame
from heuristic_core.stats.randomisation import compute_overlap, draw_overlaps, draw_shared_counts, tail_p_values
from heuristic_core.stats.verdicts import decide_verdict
from heuristic_core.tables.schemas import get_schema

SHAPE = (4, 8)  # layers, heads
GRID = ComponentGrid(*SHAPE)
SEEDS = tuple(range(1, 13))


def components(mid, high):
    """Table "components" of masks, bool [seeds, layers, heads]; MLPs are always kept."""
    rows = [
        RUN | {"ft_seed": 1, "step": CONTEXT.last, "sparsity": sparsity, "seed": seed, "repeat": 0}
        | {"component": c.index, "name": c.name, "kind": c.kind, "layer": c.layer, "head": c.head}
        | {"kept": c.kind == "mlp" or bool(mask[c.layer, c.head])}
        for sparsity, of_seeds in ((CONTEXT.mid, mid), (CONTEXT.high, high))
        for seed, mask in zip(SEEDS, of_seeds, strict=True) for c in GRID
    ]  # fmt: skip
    return make_frame("components", rows)


def drawn(rng, shares) -> np.ndarray:
    """Masks of twelve seeds whose heads are kept with these probabilities."""
    return rng.random((len(SEEDS), *SHAPE)) < shares


# ---- shared heads


def test_masks_that_avoid_each_other_contradict_that_heads_are_shared():
    """Each seed keeps three of eight heads, every head four or five times: none is shared by all, few by two."""
    spread = np.array([[np.isin(np.arange(8), np.arange(3 * s, 3 * s + 3) % 8)] * 4 for s in range(12)])
    row = compute_core_null(components(spread, spread), CONTEXT.model_copy(update={"seeds": SEEDS}), 2000, 0)
    row = row.set_index("set").loc["mid+high"]
    assert row["observed"] == 0 and row["p"] == 1
    counts = spread.sum(axis=0)
    assert row["overlap"] == pytest.approx((counts * (counts - 1)).sum() / 2 / 66) and row["overlap"] < 4
    assert row["expected_overlap"] == pytest.approx(4 * 3 * 3 / 8, rel=0.02) and row["p_fewer"] == 1 / 2001
    estimate = masks.shared_heads(evidence(core_null=[{"set": "mid+high", **row}]), set="mid+high")
    assert decide_verdict(estimate, "p < 0.05") == "contradicted"
    assert mentions(estimate.detail, 0, 24, f"{row['overlap']:.1f}", 4.5)


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("kept", first_fast(3, 6))  # of eight heads of a layer
def test_masks_of_chance_seldom_share_more_or_fewer_heads(kept):
    rng, decided, count = np.random.default_rng(kept), 0, amount(1600)
    for _ in range(count):
        drawn_masks = rng.permuted(np.tile(np.arange(8) < kept, (12, 4, 1)), axis=2)
        p, _ = tail_p_values(draw_shared_counts(drawn_masks, 400, rng), drawn_masks.all(axis=0).sum())
        _, fewer = tail_p_values(draw_overlaps(drawn_masks, 400, rng), compute_overlap(drawn_masks))
        decided += decide_verdict(Estimate.test(p, fewer, 12, "subnetworks", ""), "p < 0.05") != "not clear"
    assert decided <= by_chance(count)


# ---- the early core


CELLS = (("mid", CONTEXT.last, CONTEXT.mid), ("high", CONTEXT.last, CONTEXT.high), ("early", 5, CONTEXT.high))


def make_mask_evidence(**masks):
    """What a statistic reads of masks by cell and seed: bool [layers, heads]."""
    rows = [
        RUN | {"ft_seed": 1, "step": step, "sparsity": sparsity, "seed": seed, "repeat": 0}
        | {"component": c.index, "name": c.name, "kind": c.kind, "layer": c.layer, "head": c.head}
        | {"kept": c.kind == "mlp" or bool(mask[c.layer, c.head])}
        for name, step, sparsity in CELLS for seed, mask in masks.get(name, {}).items() for c in GRID
    ]  # fmt: skip
    early = tuple(masks.get("early", ()))
    context = CONTEXT.model_copy(
        update={"seeds": tuple(masks["mid"]), "early": 5 if early else None, "early_seeds": early}
    )
    return Evidence(context, {"components": make_frame("components", rows)})


def heads(*names):
    return np.isin(np.arange(32), [GRID.index(name) for name in names]).reshape(SHAPE)


def test_the_early_core_is_compared_within_layers():
    late = {1: heads("0.0", "0.1", "2.2"), 2: heads("0.0", "0.1", "3.3")}
    result = masks.early_core(
        make_mask_evidence(mid=late, high=late, early=dict.fromkeys((8, 9), heads("0.0", "0.1", "1.5")))
    )
    assert result.value == pytest.approx(1 / 28, abs=0.005)  # two of eight heads of layer 0
    assert result.value >= result.min_attainable_p == 1 / 28
    assert result.opposite == 1 and result.n == 2 and mentions(result.detail, "100 %", 2)
    whole_layer = dict.fromkeys((8, 9), heads(*(f"0.{k}" for k in range(8))))
    assert masks.early_core(make_mask_evidence(mid=late, high=late, early=whole_layer)).value == pytest.approx(1)
    single = dict.fromkeys((1, 2), heads("0.0"))
    result = masks.early_core(make_mask_evidence(mid=single, high=single, early=dict.fromkeys((8, 9), heads("0.0"))))
    assert result.min_attainable_p == 1 / 8 and decide_verdict(result, "p < 0.05") == "too few"
    with raises(NotComputable, "grid.early"):
        masks.early_core(make_mask_evidence(mid=late, high=late))
    with raises(DoesNotApply, 2):
        masks.early_core(make_mask_evidence(mid=late, high={1: heads("0.0"), 2: heads("0.1")}, early=whole_layer))
    with raises(NotComputable, "components"):
        masks.early_core(evidence(core=[]))
    with raises(NotComputable, 10, 0.5):
        masks.early_core(make_mask_evidence(mid=late, high={}))


@pytest.mark.sampled
def test_what_a_seed_keeps_early_and_late_is_no_early_core():
    """Each seed keeps its own heads at every checkpoint: nothing is shared before that is shared after."""
    rng, result = np.random.default_rng(0), []
    for _ in range(count := amount(1000)):
        kept = {seed: rng.random(SHAPE) < 0.6 for seed in (1, 2, 3, 4, 5)}
        result.append(masks.early_core(make_mask_evidence(mid=kept, high=kept, early={1: kept[1], 2: kept[2]})))
    assert sum(decide_verdict(item, "p < 0.05") in ("supported", "contradicted") for item in result) <= by_chance(count)
    same = {1: kept[1], 2: kept[2]}
    with raises(NotComputable, "grid.early"):
        masks.early_core(make_mask_evidence(mid=same, high=same, early=same))


def test_that_the_core_is_early_can_be_contradicted():
    """Early subnetworks keep the heads of three layers that late ones do not share, and hardly any of theirs."""
    late = dict.fromkeys((1, 2, 3), heads(*(f"{layer}.{k}" for layer in range(3) for k in range(2))))
    opposed = dict.fromkeys((8, 9), heads(*(f"{layer}.{k}" for layer in range(3) for k in range(2, 8))))
    result = masks.early_core(make_mask_evidence(mid=late, high=late, early=opposed))
    assert decide_verdict(result, "p < 0.05") == "contradicted" and result.value == 1
    alike = masks.early_core(make_mask_evidence(mid=late, high=late, early={8: heads("0.0"), 9: late[1]}))
    assert decide_verdict(alike, "p < 0.05") == "supported"


# ---- clusters


def p_values(kept, rng, draws=59):
    observed, null = (
        clusters.overlap_variance(kept),
        clusters.overlap_variance(clusters.draw_swapped_masks(kept, draws, rng)),
    )
    return [(1 + (sign * (null - observed) > -1e-9).sum()) / (1 + draws) for sign in (1, -1)]


def test_swaps_keep_the_heads_of_each_layer_and_the_frequency_of_each_head():
    rng = np.random.default_rng(0)
    kept = drawn(rng, rng.random(SHAPE))
    swaps = clusters.draw_swapped_masks(kept, 50, rng)
    assert swaps.shape == (50, *kept.shape)
    assert (swaps.sum(axis=1) == kept.sum(axis=0)).all() and (swaps.sum(axis=-1) == kept.sum(axis=-1)).all()
    assert (swaps != kept).any(axis=(1, 2, 3)).all()


def test_swaps_reach_every_arrangement_as_often():
    """Three seeds keep one of three heads each: six arrangements."""
    kept = np.eye(3, dtype=bool)[:, np.newaxis, :]
    result = clusters.draw_swapped_masks(kept, 3000, np.random.default_rng(0)).argmax(axis=-1).reshape(3000, 3)
    _, counts = np.unique(result, axis=0, return_counts=True)
    assert len(counts) == 6 and np.abs(counts - 500).max() < 5 * np.sqrt(500)


@pytest.mark.slow
@pytest.mark.sampled
def test_shared_rankings_of_heads_are_no_clusters():
    """Any of these rankings rejects the core's null."""
    rng, count = np.random.default_rng(0), amount(1000)
    result = np.array([p_values(drawn(rng, rng.beta(0.5, 0.5, SHAPE)), rng) for _ in range(count)])
    assert (result <= 0.05).sum(axis=0).max() <= by_chance(count)


def test_two_clusters_of_seeds_are_found():
    """Beside heads that all share, each half of the seeds keeps mostly heads of its own."""
    rng, result = np.random.default_rng(0), []
    for _ in range(20):
        first_half = rng.permuted(np.tile(np.arange(8) < 3, (4, 1)), axis=1)
        second_half = rng.permuted(np.tile(np.arange(8) < 3, (4, 1)), axis=1)
        shares = np.repeat(np.stack([first_half, second_half]), 6, axis=0) * 0.8 + 0.1
        result.append(p_values(drawn(rng, shares), rng))
    assert np.mean(np.array(result)[:, 0] <= 0.05) > 0.9


def test_the_table_of_clusters():
    rng = np.random.default_rng(3)
    halves = np.repeat(np.stack([np.arange(8) < 4, np.arange(8) >= 4]), 6, axis=0)
    competing = np.tile(halves[:, np.newaxis], (1, 4, 1))
    context = CONTEXT.model_copy(update={"seeds": SEEDS})
    table = clusters.compute_mask_clusters(components(competing, drawn(rng, 0.5)), context, seed=0).set_index("set")
    assert [*table.reset_index().columns.sort_values()] == sorted(get_schema("mask_clusters").names)
    assert table.loc["mid", ["seeds", "draws"]].tolist() == [12, 1000]
    assert table.loc["mid", "variance"] == pytest.approx(16**2 * 30 * 36 / 66**2)  # 30 pairs share 16, 36 none
    assert table.loc["mid", "p"] == pytest.approx(1 / 1001) and table.loc["mid", "p_below"] == 1
    assert table.loc["high", "p"] > 0.01
    few = CONTEXT.model_copy(update={"seeds": (1, 2)})
    assert clusters.compute_mask_clusters(components(competing, competing), few, seed=0).empty


# ---- agreement within layers


@pytest.fixture
def few_draws(monkeypatch):
    monkeypatch.setattr(frequency_agreement, "PERMUTATIONS", 400)
    monkeypatch.setattr("heuristic_core.experiments.subnetworks.analysis.rank_correlation.MAX_SPLITS", 20)


agreement = frequency_agreement.correlate
BY_LAYER = np.broadcast_to([[0.1], [0.4], [0.7], [0.95]], SHAPE)


@pytest.mark.sampled
def test_density_by_layer_alone_is_no_agreement(few_draws):
    rng, count = np.random.default_rng(0), amount(1000)
    result = [agreement(drawn(rng, BY_LAYER), drawn(rng, 0.7 * BY_LAYER), rng) for _ in range(count)]
    for tail in ("p", "p_below"):
        assert sum(row[tail] <= 0.05 for row in result) <= by_chance(count)


@pytest.mark.slow
def test_density_by_layer_correlates_over_all_heads_but_supports_no_claim():
    rng, context = np.random.default_rng(1), CONTEXT.model_copy(update={"seeds": SEEDS})
    rows = components(drawn(rng, BY_LAYER), drawn(rng, 0.7 * BY_LAYER))
    plain = compute_rank_correlation(rows, context, 100, seed=0).set_index("seeds")
    assert plain.loc["disjoint", "low"] > 0.3
    table = frequency_agreement.compute_frequency_agreement(rows, context, seed=0)
    assert [*table.columns] == get_schema("frequency_agreement").names
    assert table[["seeds", "n", "step"]].to_numpy().tolist() == [[6, 32, CONTEXT.last]]
    claimed = masks.frequency_within_layers(evidence(frequency_agreement=table.to_dict("records")))
    assert 0.05 < claimed.value == table["p"].item() and claimed.opposite == table["p_below"].item()


def test_heads_that_both_sparsities_prefer_agree_whatever_the_number_of_seeds(few_draws):
    """Halves of six subnetworks are noisy: rho is attenuated, the corrected one is near the truth, 1, and not above."""
    rng, result = np.random.default_rng(0), []
    for _ in range(40):
        shares = rng.beta(0.7, 0.7, SHAPE)
        result.append(agreement(drawn(rng, shares), drawn(rng, shares), rng))
    assert np.mean([row["p"] <= 0.05 for row in result]) > 0.9
    assert np.mean([row["rho"] for row in result]) < 0.85
    corrected = [row["corrected"] for row in result]
    assert max(corrected) == 1 and np.median(corrected) == pytest.approx(1, abs=0.06)


def test_opposite_preferences_are_found_too(few_draws):
    rng = np.random.default_rng(0)
    shares = np.tile(np.linspace(0.05, 0.95, 8), (4, 1))
    result = agreement(drawn(rng, shares), drawn(rng, 1 - shares), rng)
    assert result["p"] > 0.9 and result["p_below"] < 0.05 and result["rho"] < 0


def test_no_order_within_layers_has_no_agreement():
    every = np.ones((12, *SHAPE), dtype=bool)
    assert agreement(every, every, np.random.default_rng(0)) == {}
    assert agreement(every[:1], every[:1], np.random.default_rng(0)) == {}
    with pytest.raises(TooFewUnits):
        masks.frequency_within_layers(evidence(frequency_agreement=[{"step": 30, "seeds": 6, "n": 32}]))


def test_seeds_with_a_subnetwork_at_one_sparsity_alone_are_left_out():
    rows = components(np.ones((12, *SHAPE), bool), np.ones((12, *SHAPE), bool))
    context = CONTEXT.model_copy(update={"seeds": SEEDS})
    apart = rows[(rows["seed"] % 2 == 1) == (rows["sparsity"] == CONTEXT.mid)]
    table = frequency_agreement.compute_frequency_agreement(apart, context, seed=0)
    assert table[["seeds", "n"]].to_numpy().tolist() == [[0, 32]] and table["rho"].isna().all()
    assert compute_rank_correlation(apart, context, 50, 0)["rho"].isna().all()
