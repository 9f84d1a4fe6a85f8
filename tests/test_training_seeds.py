"""Do intervals over training seeds hold the mean, and do claims on it rarely decide by chance? Simulations, seeded."""

from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from amounts import amount, by_chance, covers, first_fast, least_held
from scipy import stats

from heuristic_core.experiments.extractive_structures.correlations import lowest_correlation, to_z
from heuristic_core.experiments.list_sorting.statistics_modes import gap_slope
from heuristic_core.stats.estimates import TooFewUnits
from heuristic_core.stats.means import UNLIMITED, bound_limited_mean, bound_mean, bound_skewed_mean, widen
from heuristic_core.stats.training_seeds import HIGHEST, LOWEST, PERCENT, extreme_mean, mean_over_seeds
from heuristic_core.stats.verdicts import decide_verdict

SEEDS = (3, 2, 5, 10)
CONDITIONS = 10
WORST_RANK, FACTS = 19, 20
RANKS = (0, WORST_RANK)


def dependent_facts(rng, shape):
    """Mean ranks over facts of which a seed has none or many wrong: 85 % of seeds have none."""
    share = np.where(rng.random(shape) < 0.85, 0, rng.beta(1, 1, shape))
    return rng.binomial(FACTS, share) * rng.uniform(5, 15, shape) / FACTS


MODELS = {  # of one value for each seed, with its limits
    "normal": (lambda rng, shape: rng.normal(50, 4, shape), UNLIMITED),
    "losses": (lambda rng, shape: rng.lognormal(0, 0.5, shape), UNLIMITED),  # sd half of the mean, skewness 1.8
    "counts": (lambda rng, shape: rng.poisson(2, shape) - rng.normal(2, 0.3, shape), UNLIMITED),
    "some at the ceiling": (lambda rng, shape: np.minimum(rng.normal(99.9, 0.1, shape), 100), PERCENT),
    "half at the ceiling": (lambda rng, shape: np.minimum(rng.normal(100, 0.1, shape), 100), PERCENT),
    "most at the ceiling": (lambda rng, shape: np.minimum(rng.normal(100.1, 0.1, shape), 100), PERCENT),
    "errors counted": (
        lambda rng, shape: 100 - rng.binomial(1000, rng.lognormal(-7, 0.5, shape)) / 10,  # of 1,000 lists
        PERCENT,
    ),
    "all or nothing": (lambda rng, shape: 100.0 * (rng.random(shape) < 0.5), PERCENT),  # stages, of all conditions
    "shares": (lambda rng, shape: 100 * rng.binomial(9, rng.beta(1, 1, shape)) / 9, PERCENT),  # of nine conditions
    "most at the floor": (
        lambda rng, shape: np.where(rng.random(shape) < 0.8, 0, rng.lognormal(1, 0.5, shape).clip(*RANKS)),
        RANKS,
    ),
    "half at the floor": (
        lambda rng, shape: np.where(rng.random(shape) < 0.5, 0, rng.lognormal(1, 0.5, shape).clip(*RANKS)),
        RANKS,
    ),
    "some at the floor": (
        lambda rng, shape: np.where(rng.random(shape) < 0.3, 0, rng.lognormal(1, 0.5, shape).clip(*RANKS)),
        RANKS,
    ),
    "dependent facts": (dependent_facts, RANKS),
}


def generator(*key):
    return np.random.default_rng([len(str(part)) if isinstance(part, str) else int(part) for part in key])


def holds(estimate, truth):
    """Whether an interval holds the truth; no interval is no wrong decision."""
    return estimate.low is None or estimate.low <= truth <= estimate.high


def decisions(estimates, truth):
    """How many claims that the truth is above a threshold, which is the truth, are supported, and contradicted."""
    verdicts = [decide_verdict(estimate, f"> {float(truth)!r}") for estimate in estimates]
    return verdicts.count("supported"), verdicts.count("contradicted")


def student(values, truth):
    """Whether Student's interval holds the truth; what the statistic was at first."""
    reach = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return np.ptp(values) == 0 or abs(values.mean() - truth) <= reach


@pytest.mark.sampled
@pytest.mark.parametrize("seeds", first_fast(*SEEDS))
@pytest.mark.parametrize("model", MODELS)
def test_the_mean_over_training_seeds(model, seeds):
    """By Student's t alone 89 and 85 % of intervals hold the mean, of ten seeds of which half or most are at 100."""
    draw, limits = MODELS[model]
    rng = generator(model, seeds)
    truth = draw(rng, 1_000_000).mean()
    values = draw(rng, (count := amount(1000), seeds))
    estimates = [mean_over_seeds(row, "", limits) for row in values]
    held = [holds(estimate, truth) for estimate in estimates]
    assert covers(held) if model == "normal" else np.sum(held) >= least_held(count)
    assert max(decisions(estimates, truth)) <= by_chance(count)
    if seeds == 10 and model in ("half at the ceiling", "most at the ceiling"):
        assert np.mean([student(row, truth) for row in values]) < 0.91


@pytest.mark.sampled
@pytest.mark.parametrize("seeds", first_fast(*SEEDS))
@pytest.mark.parametrize("which", [LOWEST, HIGHEST])
@pytest.mark.parametrize("model", ["normal", "half at the ceiling", "losses", "most at the floor"])
def test_the_extreme_of_conditions_with_the_same_mean(model, which, seeds):
    """The hardest case: any of ten conditions may come out as the lowest or highest."""
    draw, limits = MODELS[model]
    rng = generator(model, which, seeds)
    truth = draw(rng, 1_000_000).mean()
    values = draw(rng, (count := amount(1000), CONDITIONS, seeds))
    estimates = [extreme_mean(dict(enumerate(row)), which, "", limits) for row in values]
    assert np.sum([holds(estimate, truth) for estimate in estimates]) >= least_held(count)
    assert max(decisions(estimates, truth)) <= by_chance(count)


def correlations(rng, shape, components, rho, ranks):
    """Correlations of two scores of a model's components, of which each model has its own."""
    first, second = rng.normal(size=(2, *shape, components))
    of_model = np.tanh(rng.normal(np.arctanh(rho), 0.2, (*shape, 1)))
    second = of_model * first + np.sqrt(1 - of_model**2) * second
    if ranks:
        first, second = (scores.argsort(axis=-1).argsort(axis=-1) for scores in (first, second))
    first, second = (scores - scores.mean(axis=-1, keepdims=True) for scores in (first, second))
    return (first * second).sum(axis=-1) / np.sqrt((first**2).sum(axis=-1) * (second**2).sum(axis=-1))


@pytest.mark.sampled
@pytest.mark.parametrize("seeds", first_fast(*SEEDS))
@pytest.mark.parametrize("rho", [0.0, 0.9])
@pytest.mark.parametrize("components", [4, 16])
def test_the_mean_correlation_of_few_components(components, rho, seeds):
    rng = generator(components, 10 * rho, seeds)
    truth = np.tanh(to_z(correlations(rng, (200_000,), components, rho, ranks=False)).mean())
    values = correlations(rng, (count := amount(1000), seeds), components, rho, ranks=False)
    estimates = []
    for row in values:
        with suppress(TooFewUnits):  # a correlation of 1 to six digits
            estimates.append(lowest_correlation({"": pd.Series(row)}, "r"))
    assert len(estimates) >= 0.95 * count
    assert np.sum([holds(estimate, truth) for estimate in estimates]) >= least_held(count)
    assert max(decisions(estimates, truth)) <= by_chance(count)


@pytest.mark.sampled
@pytest.mark.parametrize("seeds", first_fast(*SEEDS))
@pytest.mark.parametrize("rho", [0.0, 0.9])
@pytest.mark.parametrize("components", [4, 16])
def test_the_mean_rank_correlation_of_few_components(components, rho, seeds):
    """Four ranks agree exactly in one model of 24 by chance, and most often near 0.9."""
    rng = generator(components, 10 * rho, seeds, 1)
    truth = correlations(rng, (200_000,), components, rho, ranks=True).mean()
    values = correlations(rng, (count := amount(1000), seeds), components, rho, ranks=True)
    estimates = [mean_over_seeds(row, "rho", (-1, 1)) for row in np.clip(values, -1, 1)]
    assert np.sum([holds(estimate, truth) for estimate in estimates]) >= least_held(count)
    assert max(decisions(estimates, truth)) <= by_chance(count)


GAPS = {"a": (2.46, 26, 10), "b": (4.73, 51, 10), "c": (8.63, 51, 5), "d": (9.33, 101, 10), "e": (4.73, 202, 10)}


CONDITION_ROWS = pd.DataFrame(list(GAPS.values()), columns=["nominal_gap", "numbers", "length"])
CONDITION_ROWS = CONDITION_ROWS.assign(condition=list(GAPS), but_data=1)


class Gaps:
    """Evidence of list sorting: conditions that differ in their mean gap, and a measure of each seed."""

    def __init__(self, values):
        self.values = pd.DataFrame(values, columns=list(GAPS))

    excluded_conditions = pd.Series(dtype=float)

    def measure_by_seed(self, measure):
        return self.values

    def conditions(self):
        return CONDITION_ROWS


@pytest.mark.sampled
@pytest.mark.parametrize("seeds", first_fast(*SEEDS))
@pytest.mark.parametrize("model", ["normal", "losses", "some at the floor", "shares"])
def test_a_slope_over_gaps_that_is_none(model, seeds):
    """Conditions of a seed are alike by the seed, too. The true rate is 4.3 to 5.3 %."""
    rng = generator(model, seeds)
    draw, _ = MODELS[model]
    values = draw(rng, (count := amount(8000, share=64), seeds, len(GAPS))) + draw(rng, (count, seeds, 1))
    supported = 0
    for row in values:
        with suppress(TooFewUnits):  # two seeds with the same slope
            slope = gap_slope(Gaps(row), measure="splitting")
            supported += decide_verdict(slope, "p < 0.05") == "supported"
    assert supported <= by_chance(count)


# ---- ends by hand


def test_values_at_a_limit_have_the_bound_of_clopper_and_pearson():
    for count in (2, 5, 10):
        low, high = stats.binomtest(0, count).proportion_ci(method="exact")
        ends = [bound_mean(np.zeros(count), quantile, PERCENT) for quantile in (0.025, 0.975)]
        assert ends == pytest.approx([100 * low, 100 * high], abs=1e-4)
        mirrored = [bound_mean(np.full(count, 100.0), quantile, PERCENT) for quantile in (0.025, 0.975)]
        assert mirrored == pytest.approx([100 - 100 * high, 100], abs=1e-4)


@pytest.mark.parametrize("values", [(0, 0, 0, 3, 50), (0, 1, 7, 3, 50), (0, 0, 1e-15, 2e-15, 100)])
def test_the_bound_of_limited_values_is_a_quantile_of_their_random_mean(values):
    weights = np.random.default_rng(0).dirichlet(np.ones(6), 400_000)
    for quantile, limit in ((0.025, 0), (0.975, 100)):
        expected = np.quantile(weights @ np.sort([*values, limit]), quantile)
        assert bound_limited_mean(np.array(values, float), quantile, PERCENT) == pytest.approx(
            expected, rel=0.01, abs=0.01
        )


def test_an_interval_reaches_further_to_the_side_of_the_skewness():
    values = np.array([1.0, 1.2, 1.1, 1.3, 2.9])
    half = stats.t.ppf(0.975, 4) * values.std(ddof=1) / np.sqrt(5)
    assert bound_mean(values, 0.025, UNLIMITED) == pytest.approx(values.mean() - half)
    assert bound_mean(values, 0.975, UNLIMITED) == bound_skewed_mean(values, 0.975) > values.mean() + 1.3 * half
    symmetric = np.array([1.0, 2.0, 3.0])
    assert bound_skewed_mean(symmetric, 0.975) == pytest.approx(2 + stats.t.ppf(0.975, 2) / np.sqrt(3))
    assert bound_mean(values, 0.975, (0, 2)) == 2


def test_a_shared_error_widens_each_side_by_itself():
    assert widen(10.0, 7.0, 14.0, 4.0) == pytest.approx((5.0, 10 + np.sqrt(32)))
    assert widen(10.0, 7.0, 14.0, np.nan) == (7.0, 14.0) and np.isnan(widen(10.0, np.nan, np.nan, 4.0)).all()


def test_the_cubic_removes_skewness():
    """Hall's transformation of the statistic at the end is Student's quantile."""
    values = np.array([1.0, 1.2, 1.1, 1.3, 2.9])
    error, skewness = values.std(ddof=1) / np.sqrt(5), stats.skew(values, bias=False)
    statistic = (values.mean() - bound_skewed_mean(values, 0.025)) / error
    transformed = statistic + skewness / np.sqrt(5) * (statistic**2 / 3 + 1 / 6) + skewness**2 / 5 * statistic**3 / 27
    assert transformed == pytest.approx(stats.t.ppf(0.975, 4))


@pytest.mark.parametrize(("values", "limits"), [([5.0], UNLIMITED), ([0.0], PERCENT), ([5.0, 5.0], PERCENT)])
def test_one_seed_or_seeds_that_agree_have_no_interval(values, limits):
    assert mean_over_seeds(values, "", limits).low is None
