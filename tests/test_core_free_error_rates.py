"""Subnetworks without the core: does the interval hold the difference, and is a core of chance seldom special?"""

import numpy as np
import pandas as pd
import pytest
from amounts import amount, by_chance, covers, first_fast
from test_core_free import GRID, simulated

from heuristic_core.experiments.subnetworks.analysis.ablation_sets import draw_matched_sets
from heuristic_core.experiments.subnetworks.analysis.closed_sets import draw_control_sets
from heuristic_core.experiments.subnetworks.analysis.core_free import compute_core_free
from heuristic_core.stats.estimates import Estimate
from heuristic_core.stats.verdicts import decide_verdict


def compare_studies(values):
    """Table "core_free" of many studies, [studies, runs]: of twelve runs with the core closed, and of random sets."""
    runs, levels = simulated(values[0, :12], values[0, 12:])
    subsets = np.repeat([str(k) for k in range(len(values))], len(levels))
    levels = pd.concat([levels] * len(values)).assign(value=values.ravel(), subset=subsets)
    rows = compute_core_free(runs, levels)
    assert len(rows) == len(values)
    return rows


@pytest.mark.slow
@pytest.mark.sampled
def test_the_interval_holds_the_true_difference_about_as_often_as_it_says():
    draws, count = np.random.default_rng(2), amount(1000)
    rows = compare_studies(np.hstack([draws.normal(90, 3, (count, 12)), draws.normal(92, 1, (count, 20))]))
    held = (rows["low"] <= -2) & (rows["high"] >= -2)
    assert covers(held) and held.mean() <= 0.98


@pytest.mark.slow
@pytest.mark.sampled
def test_a_core_like_any_set_is_seldom_significant():
    draws, count = np.random.default_rng(3), amount(1000)
    levels = draws.normal(90, 2, (count, 21))  # of sets; runs of a set differ by less
    runs = np.hstack([np.repeat(levels[:, :1], 12, axis=1), levels[:, 1:]]) + draws.normal(0, 1, (count, 32))
    p = compare_studies(runs)["p_lower"]
    assert (p < 0.05).sum() <= by_chance(count)
    assert p.min() == pytest.approx(1 / 21)


EFFECTS = {  # of closing each of 32 heads, points
    "normal": lambda rng: rng.normal(size=32),
    "one strong head a layer": lambda rng: 0.3 * rng.normal(size=32) + 10 * (np.arange(32) % 8 == 0),
    "heavy": lambda rng: rng.standard_t(1, size=32),
}


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("kind", first_fast(*EFFECTS, fast=2))
@pytest.mark.parametrize("sizes", first_fast({0: 1, 1: 1}, {0: 2, 1: 1}, {0: 1, 1: 1, 2: 1}))
def test_a_core_drawn_by_chance_is_rarely_special(sizes, kind):
    """Random sets without core heads are not exchangeable with the core: with them 11 to 16 % of cores are special."""
    rng, layers = np.random.default_rng(36), "+".join(str(layer) for layer, size in sizes.items() for _ in range(size))
    like_core, without_core_heads, count = [], [], amount(1000)
    for seed in range(count):
        effects = EFFECTS[kind](rng)
        core = tuple(sorted(h for layer, size in sizes.items() for h in 8 * layer + rng.choice(8, size, replace=False)))
        others = [head for head in range(32) if head not in core]
        like_core.append(draw_accuracies(core, draw_control_sets(core, GRID, 47, seed), effects, rng))
        sets = draw_matched_sets(layers, others, 8, 47, seed, core)
        without_core_heads.append(draw_accuracies(core, [*sets], effects, rng))
    decided, decided_without_core_heads = count_decided(like_core), count_decided(without_core_heads)
    assert decided <= by_chance(count)
    assert decided_without_core_heads > decided


def draw_accuracies(core, sets, effects, rng):
    """Accuracies of twelve runs with the core closed and of one with each of `sets`."""
    means = -np.array([effects[list(heads)].sum() for heads in [*[core] * 12, *sets]])
    return means + rng.normal(0, 0.1, len(means))


def count_decided(studies):
    """How many studies decide the claim, whichever way."""
    rows = compare_studies(np.array(studies))
    sets = len(studies[0]) - 12
    verdicts = [
        decide_verdict(Estimate.test(lower, higher, sets, "random sets", "", 1 / (1 + sets)), "p < 0.05")
        for lower, higher in zip(rows["p_lower"], rows["p_higher"], strict=True)
    ]
    return verdicts.count("supported") + verdicts.count("contradicted")
