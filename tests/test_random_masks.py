"""Random masks that contain the core: are heads drawn by themselves, and are their effects found and not made up?"""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from amounts import amount
from mentions import mentions
from scipy import stats

from heuristic_core.experiments.subnetworks.analysis import counter_heads as heads
from heuristic_core.experiments.subnetworks.analysis import mask_effects as masks
from heuristic_core.experiments.subnetworks.analysis.levels import append_means
from heuristic_core.experiments.subnetworks.analysis.mask_fit import compute_mask_fit
from heuristic_core.experiments.subnetworks.analysis.random_masks import (
    Pool,
    build_pool,
    draw_masks,
    list_learned_masks,
)
from heuristic_core.models.components import ComponentGrid
from heuristic_core.stats.frames import make_frame

GRID = ComponentGrid(2, 4)
RUN = {"study": "s", "model": "m", "task": "t", "ft_seed": 1, "step": 30}
SUBSETS = {
    "in_domain": ("id", None),
    "swap": ("ood", "lexical_overlap"),
    "rel": ("ood", "lexical_overlap"),
    "verb": ("ood", "constituent"),
    "e_swap": ("ood-entailment", "lexical_overlap"),
}


def components(**kept_by_seed):
    """Table "components" of subnetworks: s1={0, 3} is of pruning seed 1."""
    rows = [
        RUN | {"sparsity": 0.4, "seed": int(seed[1:]), "repeat": 0, "component": c.index, "name": c.name}
        | {"kind": c.kind, "layer": c.layer, "head": c.head, "kept": c.index in kept}
        for seed, kept in kept_by_seed.items() for c in GRID
    ]  # fmt: skip
    return make_frame("components", rows)


def core(*in_core):
    rows = [RUN | {"component": c.index, "kind": c.kind, "layer": c.layer, "in_core": c.index in in_core} for c in GRID]
    return make_frame("core", rows)


# ---- the pool, and draws from it


def test_the_pool_is_what_learned_subnetworks_keep_beside_the_core():
    result = components(s1={0, 1, 2, 5, 8}, s2={0, 1, 5, 9}, s3={0, 1, 5, 8}, s4={0, 5, 6, 9})
    pool = build_pool(result, core(0))
    assert (pool.core, pool.heads, pool.mlps) == ((0,), (1, 2, 5, 6), (8, 9))
    # Heads 1 and 2 are in three and one of four, heads 5 and 6 in four and one.
    assert pool.shares == (0.5, 0.5, 0.625, 0.625)
    assert list_learned_masks(result)[2] == {0, 1, 5, 9}


def test_shares_are_never_certain_and_no_subnetwork_is_no_pool():
    assert build_pool(components(s1={1, 5}, s2={1, 5}), core()).shares == (0.9, 0.9)
    rare = {f"s{k}": {k % 4} if k < 4 else set() for k in range(20)}
    assert build_pool(components(**rare), core()).shares == (0.1,) * 4
    assert build_pool(components(), core(0)) == Pool((0,), (), (), ())


def test_heads_are_drawn_by_themselves():
    pool = Pool((0,), (1, 2, 5), (0.2, 0.5, 0.9), ())
    inside = draw_masks(pool, 40_000, np.random.default_rng(0))
    assert inside.shape == (40_000, 3)
    np.testing.assert_allclose(inside.mean(axis=0), pool.shares, atol=0.01)
    for kept in product((False, True), repeat=3):  # every combination as often as the product of its probabilities
        expected = np.prod([p if k else 1 - p for p, k in zip(pool.shares, kept, strict=True)])
        assert (inside == kept).all(axis=1).mean() == pytest.approx(expected, abs=0.01)


# ---- effects


def test_an_effect_is_a_difference_of_means_where_heads_are_balanced():
    inside = np.array([*product((0, 1), repeat=3)] * 3).astype(bool)
    values = np.random.default_rng(0).normal(size=(24, 2))
    result = masks.estimate_effects(inside, values)
    for head, kept in enumerate(inside.T):
        np.testing.assert_allclose(result.beta[head], values[kept].mean(axis=0) - values[~kept].mean(axis=0))


def test_errors_are_hc3():
    rng = np.random.default_rng(1)
    inside = rng.random((30, 3)) < 0.4
    values = rng.normal(size=(30, 1)) * (1 + 3 * inside[:, :1])
    x = np.column_stack([np.ones(30), inside])
    bread = np.linalg.inv(x.T @ x)
    residuals = values[:, 0] - x @ bread @ x.T @ values[:, 0]
    meat = sum(np.outer(row, row) * (e / (1 - row @ bread @ row)) ** 2 for row, e in zip(x, residuals, strict=True))
    t = (bread @ x.T @ values[:, 0])[1:] / np.sqrt(np.diag(bread @ meat @ bread))[1:]
    result = masks.estimate_effects(inside, values)
    np.testing.assert_allclose(result.p[:, 0], 2 * stats.t.sf(np.abs(t), 30 - 4))
    errors = np.sqrt(np.diag(bread @ meat @ bread))[1:]
    np.testing.assert_allclose(result.error[:, 0], errors)
    one_sided = stats.t.cdf((np.abs(result.beta[:, 0]) - 1) / errors, 30 - 4)
    np.testing.assert_allclose(result.p_equivalent(1)[:, 0], one_sided)


def test_effects_of_many_permutations_are_those_of_each():
    rng = np.random.default_rng(2)
    inside, values = rng.random((40, 4)) < 0.5, rng.normal(size=(40, 3))
    order = rng.permuted(np.tile(np.arange(40), (5, 1)), axis=1)
    together = masks.estimate_effects(inside, values[order])
    for k, permutation in enumerate(order):
        alone = masks.estimate_effects(inside, values[permutation])
        np.testing.assert_allclose(together.beta[k], alone.beta)
        np.testing.assert_allclose(together.p[k], alone.p)


def test_what_masks_cannot_tell_is_unknown():
    rng = np.random.default_rng(3)
    inside = rng.random((30, 3)) < 0.5
    inside[:, 1] = np.arange(30) < masks.MIN_MASKS - 1
    result = masks.estimate_effects(inside, rng.normal(size=(30, 1)))
    assert np.isnan(result.beta[1]).all() and not np.isnan(result.beta[[0, 2]]).any()
    assert np.isnan(masks.bootstrap_effects(inside, rng.normal(size=(30, 1)), 20, rng)[:, 1]).all()
    assert np.isnan(result.error[1]).all()
    few = masks.estimate_effects(rng.random((30, 15)) < 0.5, rng.normal(size=(30, 1)))
    assert np.isnan(few.beta).all() and np.isnan(few.p).all()
    same = masks.estimate_effects(inside, np.full((30, 1), 73.1))
    assert (same.beta[[0, 2]] == 0).all() and np.isnan(same.p).all()


def test_adjusted_p_are_benjamini_and_hochbergs_and_unknown_ones_count():
    p = np.array([[0.01, 0.02], [np.nan, 0.04]])
    np.testing.assert_allclose(masks.adjust_p(p), [[0.04, 0.04], [np.nan, 0.16 / 3]])


@pytest.mark.sampled
def test_intervals_hold_the_effects_of_an_additive_world():
    rng, effect = np.random.default_rng(4), np.array([8.0, 0.0, -3.0, 1.0])
    held = []
    for _ in range(amount(1000)):
        inside = rng.random((80, 4)) < (0.3, 0.5, 0.7, 0.5)
        values = (40 + inside @ effect + 5 * rng.standard_t(4, size=80))[:, None]
        low, high = np.percentile(masks.bootstrap_effects(inside, values, 200, rng), [2.5, 97.5], axis=0)
        held.append((low[:, 0] <= effect) & (effect <= high[:, 0]))
    share = np.mean(held)
    assert 0.92 < share < 0.98


# ---- tables


def mask_table(inside, accuracy, learned_inside=(), learned_accuracy=()):
    """Table "random_masks" of heads 1, 2, ... of GRID: accuracies by mask and subset, with means and J."""
    rows, kept_by_mask = [], {}
    for kind, kept, values in (("random", inside, accuracy), ("learned", learned_inside, learned_accuracy)):
        for mask, (kept_heads, of_mask) in enumerate(zip(kept, values, strict=True)):
            kept_by_mask[kind, mask] = [int(h) + 1 for h in np.flatnonzero(kept_heads)]
            rows += [
                {"kind": kind, "mask": mask, "subset": subset, "group": group, "family": family}
                | {"n": 50, "accuracy": value, "log_odds": 0.0}
                for (subset, (group, family)), value in zip(SUBSETS.items(), of_mask, strict=True)
            ]
    result = append_means(pd.DataFrame(rows), ["kind", "mask"])
    kept = [kept_by_mask[key] for key in zip(result["kind"], result["mask"], strict=True)]
    return make_frame("random_masks", result.assign(heads=kept, mlps=[[8]] * len(result), **RUN))


@pytest.fixture(scope="module")
def additive():
    """Three heads; on "rel" head 2 adds 10 points, and on "verb" takes 5; head 3 adds 6 to ID, and everywhere."""
    rng = np.random.default_rng(9)
    inside, kept = rng.random((60, 3)) < 0.5, np.array([[1, 1, 0], [0, 1, 1], [0, 0, 1], [1, 0, 0]], bool)
    effect = np.array([[0, 0, 0, 0, 0], [0, 0, 10, -5, 0], [6, 6, 6, 6, 0]], float)
    accuracy = [level @ effect + [90, 20, 30, 40, 80] for level in (inside, kept)]
    noise = rng.normal(size=(60, 5)) * (0.5, 0.5, 0.5, 0.5, 0)
    return mask_table(inside, accuracy[0] + noise, kept, accuracy[1])


def test_effects_of_an_additive_world_are_in_the_table(additive):
    result = heads.compute_counter_heads(additive, components(s1={1, 2, 3}), RUN, 200, 0)
    assert len(result) == 3 * (5 + 3 + 3 + 2)  # subsets, groups, families of groups, J and J of a family
    rows = result.set_index(["name", "subset"])
    assert rows.loc[("0.2", "rel"), "beta"] == pytest.approx(10, abs=0.5)
    assert rows.loc[("0.2", "rel"), "low"] < 10 < rows.loc[("0.2", "rel"), "high"]
    assert rows.loc[("0.2", "rel"), "counter"] and not rows.loc[("0.2", "verb"), "counter"]
    assert not rows.loc[("0.3", "rel"), "counter"]  # its ID accuracy changes by 6 points
    assert rows.loc[("0.2", "in_domain"), "counter"] is None
    on_id = result[(result["group"] == "id") & result["subset"].isna()].set_index("name")
    assert (on_id["low"] < on_id["beta"]).all() and (on_id["beta"] < on_id["high"]).all()
    assert (result["included"] + result["excluded"] == 60).all()
    whole = result[result["subset"].isna() & result["family"].isna()].set_index(["name", "group"])["beta"]
    subsets = rows.loc["0.2", "beta"][["swap", "rel", "verb"]]
    assert whole["0.2", "ood"] == pytest.approx(subsets.mean())
    silent = rows.loc[("0.1", "e_swap")]
    assert (
        silent["beta"] == 0 and pd.isna(silent[["low", "high", "p", "q"]]).all() and isinstance(silent["reason"], str)
    )


def test_each_kind_of_value_is_a_family_of_tests(additive):
    result = heads.compute_counter_heads(additive, components(s1={1, 2, 3}), RUN, 50, 0)
    ood = result[(result["group"] == "ood") & result["subset"].notna()]
    np.testing.assert_allclose(ood["q"], stats.false_discovery_control(ood["p"]))
    j = result[(result["group"] == "j") & result["family"].isna()]
    np.testing.assert_allclose(j["q"], stats.false_discovery_control(j["p"]))


def test_subsets_that_are_not_analysed_are_in_no_table_and_no_test(additive):
    """Head 2 raises "rel" and lowers "verb": without either no sign is opposite, and without "rel" no head helps."""
    subsets = ["in_domain", "swap", "verb", "e_swap"]
    result = heads.compute_counter_heads(additive, components(s1={1, 2, 3}), RUN, 50, 0, subsets)
    assert set(result["subset"].dropna()) == {*subsets} and not (result["counter"] == True).any()  # noqa: E712 (nulls)
    ood = result[(result["group"] == "ood") & result["subset"].notna()]
    np.testing.assert_allclose(ood["q"], stats.false_discovery_control(ood["p"]))
    tests = heads.compute_mask_tests(additive, RUN, 0, subsets).set_index("test")
    assert tests.loc["counter", "observed"] == 0 and tests.loc["opposite", "observed"] == 0
    assert set(compute_mask_fit(additive, RUN, subsets)["subset"].dropna()) == {*subsets}


def test_learned_masks_of_an_additive_world_are_predicted(additive):
    result = compute_mask_fit(additive, RUN).set_index(["masks", "subset"])
    assert result.loc[("learned", "rel"), "r2"] > 0.99 and result.loc[("random", "rel"), "r2"] > 0.98
    assert result.loc[("learned", "rel"), "rho"] == pytest.approx(1)
    silent = result.loc[("learned", "e_swap")]
    assert pd.isna(silent["r2"]) and isinstance(silent["reason"], str)


def test_learned_masks_that_differ_in_something_else_are_predicted_badly(additive):
    other = additive.assign(
        accuracy=additive["accuracy"].where(additive["kind"] == "random", 99 - additive["accuracy"])
    )
    result = compute_mask_fit(other, RUN).set_index(["masks", "subset"])
    assert result.loc[("learned", "rel"), "r2"] < 0 and result.loc[("learned", "rel"), "rho"] == pytest.approx(-1)


def test_tests_of_an_additive_world(additive):
    result = heads.compute_mask_tests(additive, RUN, 0).set_index("test")
    assert result.loc["profile", "p"] == 1 / 1001
    assert result.loc["counter", "observed"] == 1 and result.loc["counter", "p"] < 0.02
    assert result.loc["opposite", "p"] < 1e-6 and result.loc["opposite", "observed"] == 1
    assert result.loc["profile", "expected"] < result.loc["profile", "observed"]


def test_a_floor_makes_effects_differ_and_turns_no_sign():
    """A head that adds 10 points wherever there is room; "rel" has no room. The claim is of the test "opposite"."""
    rng = np.random.default_rng(11)
    inside = rng.random((60, 3)) < 0.5
    effect = np.array([[0, 10, 0, 10, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]], float)
    floor = inside @ effect + [90, 20, 1, 40, 80] + rng.normal(size=(60, 5)) * (0.5, 0.5, 0.1, 0.5, 0)
    result = heads.compute_mask_tests(mask_table(inside, floor, inside[:4], floor[:4]), RUN, 0).set_index("test")
    assert result.loc["profile", "p"] < 0.01 and result.loc["opposite", "observed"] == 0


def test_without_masks_reasons_are_told():
    nothing = make_frame("random_masks", [])
    result = heads.compute_mask_tests(nothing, RUN, 0)
    assert result["p"].isna().all() and (result["reason"] == heads.NO_POOL).all()
    assert heads.compute_counter_heads(nothing, components(s1={1}), RUN, 10, 0).empty
    assert compute_mask_fit(nothing, RUN)["reason"].tolist() == [heads.NO_POOL]


def test_masks_too_few_for_their_heads_have_reasons():
    rng = np.random.default_rng(10)
    inside = rng.random((8, 6)) < 0.5
    few = mask_table(inside, rng.uniform(0, 99, (8, 5)), np.ones((3, 6)), rng.uniform(0, 99, (3, 5)))
    result = heads.compute_counter_heads(few, components(s1=set(range(1, 7))), RUN, 10, 0)
    assert result["beta"].isna().all() and result["reason"].notna().all() and result["counter"].isna().all()
    tests = heads.compute_mask_tests(few, RUN, 0)
    assert tests["reason"].notna().all() and not (tests["reason"] == heads.NO_POOL).any()
    assert all(mentions(reason, 8, 6) for reason in compute_mask_fit(few, RUN)["reason"])
