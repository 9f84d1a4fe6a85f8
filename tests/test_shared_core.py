"""Heads that two studies share: where masks of one seed follow the same random draws, p is of disjoint seeds."""

import numpy as np
import pytest
from amounts import amount, by_chance
from claim_tables import table

from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence
from heuristic_core.experiments.subnetworks.analysis.shared_core import compute_shared_core
from heuristic_core.experiments.subnetworks.config.context import Context

LAYERS, HEADS, SEEDS = 4, 8, tuple(range(42, 54))
CONTEXT = Context(mid=0.4, high=0.7, last=100, seeds=SEEDS)


RUN = {"model": "m", "task": "t", "ft_seed": 1, "kind": "head"}
HEAD_ROWS = [
    RUN | {"component": k, "layer": k // HEADS, "name": f"{k // HEADS}.{k % HEADS}"} for k in range(LAYERS * HEADS)
]
CORE = table("core", [head | {"in_core": False} for head in HEAD_ROWS])
COMPONENTS = table(
    "components",
    [
        head | {"step": 100, "seed": seed, "repeat": 0, "sparsity": sparsity, "kept": False}
        for seed in SEEDS
        for sparsity in (0.4, 0.7)
        for head in HEAD_ROWS
    ],
)


def study(kept):
    """Evidence of a study with one run. kept: seed -> bool [layers, heads], the heads of both its subnetworks."""
    masks = np.array([kept[seed].ravel() for seed in SEEDS])
    components = COMPONENTS.assign(kept=np.repeat(masks, 2, axis=0).ravel())
    return Evidence(CONTEXT, {"core": CORE.assign(in_core=masks.all(axis=0)), "components": components})


def masks(seed, share=0.85):
    """What each pruning seed keeps, by its random draws alone."""
    rng = np.random.default_rng(seed)
    return {name: rng.random((LAYERS, HEADS)) < share for name in SEEDS}


def test_masks_that_follow_shared_draws_are_no_evidence():
    kept = masks(0, 0.9)
    (common,) = compute_shared_core(study(kept), study(kept))
    assert common.disjoint_seeds and common.core_size_a == len(common.names) > 0 and common.p > 0.05


def test_heads_that_all_seeds_of_both_studies_keep_are_evidence():
    core = np.zeros((LAYERS, HEADS), bool)
    core[:, :2] = True
    a, b = ({seed: mask | core for seed, mask in masks(k, 0.3).items()} for k in (1, 2))
    (common,) = compute_shared_core(study(a), study(b))
    assert common.disjoint_seeds and set(common.names) >= {"0.0", "0.1", "3.1"} and common.p < 0.001


def test_other_seeds_need_no_halves():
    a, b = study(masks(1)), study(masks(2))
    b = Evidence(CONTEXT.model_copy(update={"seeds": (1, 2)}), b.tables)
    (common,) = compute_shared_core(a, b)
    assert not common.disjoint_seeds and common.p is not None


@pytest.mark.sampled
@pytest.mark.parametrize("share", [0.7, 0.9])
def test_unrelated_studies_with_shared_draws_seldom_share_heads(share):
    """Both follow the draws where they say little: the same noise, with a tenth of it their own."""
    rng, small, count = np.random.default_rng(3), [], amount(1000)
    for k in range(count):
        a = masks(k, share)
        other = {seed: (rng.random(mask.shape) < 0.1, rng.random(mask.shape) < share) for seed, mask in a.items()}
        b = {seed: np.where(apart, redrawn, a[seed]) for seed, (apart, redrawn) in other.items()}
        (common,) = compute_shared_core(study(a), study(b))
        small.append(common.p <= 0.05)
    assert sum(small) <= by_chance(count)
