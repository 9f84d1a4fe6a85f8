"""Statistics of claims about effective size and CMD, on small tables with known answers, and their error rates."""

from functools import partial

import numpy as np
import pytest
from amounts import amount, by_chance, first_fast
from mentions import mentions, raises
from scipy import stats

from heuristic_core.experiments.subnetworks.analysis import statistics_sizes as sizes
from heuristic_core.experiments.subnetworks.analysis.evidence import Evidence
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.stats.estimates import NotComputable, TooFewUnits
from heuristic_core.stats.frames import make_frame
from heuristic_core.stats.verdicts import combine_seeds, decide_verdict

RUN = {"study": "s", "model": "m", "task": "t", "ft_seed": 1}
SEEDS = (1, 2)
CONTEXT = Context(mid=0.3, high=0.5, last=30, seeds=SEEDS, curve_seeds=SEEDS, margin=3.0)
FLOOR, DENSEST = 30.0, 90.0
DRAWS = amount(1200)


def bounds(size):
    """The bounds that a grid from DENSEST to FLOOR sets to a size, as in the table."""
    if size is None:
        return dict.fromkeys(("effective_size", "least", "most"))
    if FLOOR < size < DENSEST:
        return dict.fromkeys(("effective_size", "least", "most"), size)
    ends = {"least": 0.0, "most": FLOOR} if size <= FLOOR else {"least": DENSEST, "most": 100.0}
    return {"effective_size": None} | ends


def size_rows(seeds=SEEDS, **groups):
    """Of table "effective_size". groups: mixed for mixed-1:1; step -> (full accuracy, size by seed or None)."""
    rows = []
    for group, by_step in groups.items():
        for step, (full, by_seed) in by_step.items():
            row = RUN | {"step": step, "group": group.replace("mixed", "mixed-1:1"), "order": "per-seed"}
            row |= {"criterion": "accuracy", "threshold": 3.0, "full_accuracy": full, "floor": FLOOR}
            row |= {"reason": None if by_seed else f"undefined: full model at {full} %"}
            of_seeds = zip(seeds, by_seed or [None] * len(seeds), strict=True)
            seeded = [row | {"seed": seed} | bounds(size) for seed, size in of_seeds]
            mean = {name: np.mean([item[name] for item in seeded]) if by_seed else None for name in ("least", "most")}
            known = mean["least"] if mean["least"] == mean["most"] else None
            rows += [row | {"seed": None, "effective_size": known} | mean, *seeded]
    return rows


def cmd_rows(seeds=SEEDS, reach=0.0, **groups):
    """Of table "circuit_performance". groups: step -> CMD by seed, or None."""
    for group, by_step in groups.items():
        for step, by_seed in by_step.items():
            row = RUN | {"step": step, "group": group, "reason": None if by_seed else "undefined: full model at 0 %"}
            yield row | {"seed": None, "cmd": float(np.mean(by_seed)) if by_seed else None}
            for seed, cmd in zip(seeds, by_seed or [None] * len(seeds), strict=True):
                yield row | {"seed": seed, "cmd": cmd, "reach": None if cmd is None else reach}


def evidence(of_size, of_cmd, seeds=SEEDS, reach=0.0):
    tables = {
        "effective_size": make_frame("effective_size", size_rows(seeds, **of_size)),
        "circuit_performance": make_frame("circuit_performance", list(cmd_rows(seeds, reach, **of_cmd))),
    }
    return Evidence(CONTEXT, {name: table for name, table in tables.items() if len(table)})


ID = {10: (90.0, (50.0, 42.0)), 20: (90.0, (45.0, 50.0)), 30: (90.0, (48.0, 44.0))}
OOD = {10: (0.5, None), 20: (40.0, (85.0, 80.0)), 30: (60.0, (70.0, 80.0))}
MIXED = {10: (45.0, (35.0, 33.0)), 20: (65.0, (70.0, 80.0)), 30: (75.0, (70.0, 85.0))}
SIZES = {"id": ID, "ood": OOD, "mixed": MIXED}
CMD = {
    "id": {10: (20.0, 21.0), 20: (22.0, 20.0), 30: (19.0, 19.5)},
    "j": {10: None, 20: (60.0, 63.0), 30: (50.0, 57.0)},
}


def test_a_flat_size_is_judged_by_both_measures():
    result = sizes.flat_size(evidence(SIZES, CMD), group="id")
    assert result.value == pytest.approx(21 - 19.25) and result.n == 2
    assert mentions(result.detail, "effective size", 1.5, "CMD", 1.8)
    ends = [sizes._range(read(evidence(SIZES, CMD), "id")) for read in (sizes._sizes, sizes._cmd)]
    assert (result.low, result.high) == (min(end.low for end in ends), max(end.high for end in ends))


def test_both_must_support_a_claim_and_both_must_contradict_it():
    seeds, steps = tuple(range(1, 11)), (10, 20, 30)
    rng = np.random.default_rng(1)

    def series(*levels):
        return {step: tuple(level + rng.normal(0, 1, 10)) for step, level in zip(steps, levels, strict=True)}

    flat, rises = ((50, 52, 51), (35, 55, 80))
    verdicts = {}
    for name, of_size, of_cmd in (
        ("both flat", flat, flat), ("both rise", rises, rises), ("apart", flat, rises), ("other", rises, flat)
    ):  # fmt: skip
        by_size = {"id": {step: (90.0, by_seed) for step, by_seed in series(*of_size).items()}}
        result = sizes.flat_size(evidence(by_size, {"id": series(*of_cmd)}, seeds), group="id")
        verdicts[name] = decide_verdict(result, "< 20 points")
    assert verdicts == {
        "both flat": "supported",
        "both rise": "contradicted",
        "apart": "not clear",
        "other": "not clear",
    }


def test_generalising_takes_more_than_the_task():
    """ID and OOD grow by 35 and 47, ID by -5 and 8; CMD on J is 38 and 43 above CMD on ID."""
    result = sizes.rising_size(evidence(SIZES, CMD))
    assert result.value == pytest.approx(40.5)
    assert mentions(result.detail, "effective size", 39.5, 10, 20)
    late_cmd = {group: {step: by_step[step] for step in (20, 30)} for group, by_step in CMD.items()}
    late = {group: {step: by_step[step] for step in (20, 30)} for group, by_step in SIZES.items()}
    with raises(TooFewUnits, 20):
        sizes.rising_size(evidence(late, late_cmd))


@pytest.mark.parametrize("statistic", [partial(sizes.flat_size, group="id"), sizes.rising_size])
def test_an_order_without_sizes_of_single_seeds_has_too_few(statistic):
    """Accuracies that are averaged before they are compared, as in the paper, have one size for all seeds."""
    whole = evidence(SIZES, CMD)
    rows = whole.tables["effective_size"]
    first = rows[rows["seed"].isna()].assign(order="mean-first")
    context = CONTEXT.model_copy(update={"size_order": "mean-first"})
    with raises(TooFewUnits, "mean-first"):
        statistic(Evidence(context, whole.tables | {"effective_size": first}))


def test_a_size_that_is_a_bound_enters_as_a_bound():
    """Of a mixture above 90 at step 20 no number is known, and the interval holds for all from 90 to 100."""
    above = SIZES | {"mixed": MIXED | {20: (65.0, (95.0, 95.0))}}
    result, known = (sizes._mean(sizes._sizes(evidence(item, CMD), "mixed-1:1").at(20)) for item in (above, SIZES))
    assert np.isnan(result.value) and known.value == 75
    assert result.low < 90 and result.high > 100
    assert mentions(result.detail, 20, 90)
    rising, exact = (sizes.rising_size(evidence(item, CMD)).detail for item in (above, SIZES))
    assert mentions(rising, "effective size") and mentions(exact, 39.5) and not mentions(rising, 39.5)
    at_floor = {"id": dict.fromkeys((10, 20, 30), (90.0, (20.0, 20.0)))}
    flat = sizes._range(sizes._sizes(evidence(at_floor, CMD), "id"))
    assert np.isnan(flat.value) and flat.low == 0 and flat.high > 30


def test_pairs_widen_intervals():
    narrow, wide = (sizes.rising_size(evidence({**SIZES}, CMD, reach=reach)) for reach in (0.0, 200.0))
    assert wide.high > narrow.high and wide.low < narrow.low


def test_a_growth_of_sizes_is_within_what_is_possible():
    apart = SIZES | {"mixed": MIXED | {10: (45.0, (25.0, 75.0))}}
    size = sizes.rising_size(evidence(apart, CMD)).measures["effective size"]
    assert (size.low, size.high) == (-200, 200)


def test_without_one_of_the_measures_nothing_is_said():
    with raises(NotComputable, "circuit_performance"):
        sizes.flat_size(evidence(SIZES, {}), group="id")
    with raises(NotComputable, "CMD", "J", 10, 20, "undefined: full model at 0 %"):
        sizes.rising_size(evidence(SIZES, CMD | {"j": {10: None, 20: None}}))
    with raises(NotComputable, 1):
        sizes.flat_size(evidence({"id": {10: ID[10]}}, CMD), group="id")


def test_equal_seeds_decide_nothing():
    same = {"id": dict.fromkeys((10, 20, 30), (90.0, (50.0, 50.0)))}
    result = sizes.flat_size(evidence(same, {"id": dict.fromkeys((10, 20, 30), (20.0, 20.0))}), group="id")
    assert decide_verdict(result, "< 20 points") == "too few"


def curve(values, reach=0.0):
    """[steps, seeds], as the statistics read it from a table."""
    every = [[bounds(value) for value in of_step] for of_step in values]
    least, most = (np.array([[item[end] for item in row] for row in every], dtype=float) for end in ("least", "most"))
    return sizes.Curve(np.arange(len(values)), least, most, np.full_like(least, reach), "")


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("n", [2, 3, 10])
@pytest.mark.parametrize("levels", [(50, 50, 50, 50), (57, 57, 54, 48), (40, 60, 72, 75), (28, 60, 92, 95)])
def test_coverage_of_the_range_over_checkpoints(n, levels):
    """Sizes of seeds have a level of their own and noise; those beyond the grid are bounds. Nominal 95 %, least 90."""
    rng, held, column = np.random.default_rng(n), [], np.array(levels)[:, None]
    every = column + rng.normal(0, 4, (1, 100_000)) + rng.normal(0, 4, (4, 100_000))
    truth = np.ptp(every.clip(0, 100).mean(axis=1))
    for _ in range(DRAWS):
        drawn = (column + rng.normal(0, 4, (1, n)) + rng.normal(0, 4, (4, n))).clip(0, 100)
        result = sizes._range(curve(drawn))
        held.append(result.low <= truth <= result.high)
    assert np.mean(held) >= 0.9


@pytest.mark.sampled
@pytest.mark.parametrize("n", [2, 3, 10])
def test_a_range_of_the_threshold_is_seldom_below_it_and_seldom_above(n):
    """Both measures have a range of 20 points: a verdict is an error, and at most 6 % are either."""
    rng, verdicts = np.random.default_rng(n), []
    for _ in range(DRAWS):
        of_size, of_cmd = (
            curve(np.array([[low], [low + 10], [low + 20]]) + rng.normal(0, 5, (3, n))) for low in (45, 40)
        )
        result = sizes._combine(*map(sizes._range, (of_size, of_cmd)))
        verdicts.append(decide_verdict(result, "< 20 points"))
    assert verdicts.count("supported") <= 0.06 * DRAWS and verdicts.count("contradicted") <= 0.06 * DRAWS


# ---- several fine-tuning seeds, whose evaluation pairs are the same

SHARED = 3.0  # points, standard error over pairs at each checkpoint


def simulate_fine_tuning_seeds(rng, seeds, level, at):
    """Curves of fine-tuning seeds with three pruning seeds each. level: [steps]; at: what is estimated of a curve."""
    level = np.array(level, dtype=float)[:, None]
    pairs = rng.normal(0, SHARED, level.shape)
    seed_noise = rng.normal(0, 4, (seeds, *level.shape)) + rng.normal(0, 4, (seeds, len(level), 3))
    return [at(curve(level + pairs + each, stats.norm.ppf(0.975) * SHARED)) for each in seed_noise]


def judge_measures(draw, threshold):
    """How often each measure's interval holds the threshold, and how often a claim on both is decided."""
    held, verdicts = [], []
    for _ in range(count := amount(800)):
        of_size, of_cmd = draw()
        seeds = [sizes._combine(*both) for both in zip(of_size, of_cmd, strict=True)]
        together = combine_seeds(seeds, f"< {threshold} points", "fine-tuning seeds")
        held.append([each.low <= threshold <= each.high for each in together.measures.values()])
        verdicts.append(decide_verdict(together, f"< {threshold} points"))
    return np.mean(held, axis=0), verdicts, count


@pytest.mark.sampled
@pytest.mark.parametrize("other", [40.0, 65.0])
@pytest.mark.parametrize("seeds", first_fast(10, 2, 3, 5, fast=2))
def test_both_measures_are_needed_over_fine_tuning_seeds(seeds, other):
    """One measure is at the threshold, the other there or well above: to be above it is true of one at most."""
    rng = np.random.default_rng([seeds, int(other)])
    held, verdicts, count = judge_measures(
        lambda: [simulate_fine_tuning_seeds(rng, seeds, [level], sizes._mean) for level in (40.0, other)], 40
    )
    assert held[1] >= 0.9 and (other > 40 or held[0] >= 0.9)  # CMD first
    assert verdicts.count("supported") + verdicts.count("contradicted") <= by_chance(count)


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("levels", [(45, 55, 65), (75, 85, 95)])
@pytest.mark.parametrize("seeds", first_fast(2, 3, 5, 10, fast=2))
def test_a_range_over_fine_tuning_seeds(seeds, levels):
    """A range of noisy means is too large on every seed; sizes above 90 are bounds."""
    rng = np.random.default_rng([seeds, *levels])
    truth = np.ptp((np.array(levels) + rng.normal(0, 4, (100_000, 3))).clip(0, 100), axis=1).mean().round(3)
    held, verdicts, count = judge_measures(
        lambda: [simulate_fine_tuning_seeds(rng, seeds, level, sizes._range) for level in (levels, (45, 55, 65))], truth
    )
    assert (held >= 0.9).all()
    assert verdicts.count("supported") + verdicts.count("contradicted") <= by_chance(count)
