"""Summaries over seeds and variances between and within them."""

import numpy as np
import pandas as pd
import pytest
from amounts import amount, first_fast, least_held
from scipy import stats

from heuristic_core.experiments.subnetworks.analysis.core_seeds import compute_core_seeds
from heuristic_core.experiments.subnetworks.analysis.rank_correlation import (
    MAX_SPLITS,
    compute_rank_correlation,
    split_in_halves,
)
from heuristic_core.experiments.subnetworks.analysis.spread import compute_summary, compute_variance
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.models.components import ComponentGrid
from heuristic_core.stats.means import mean_interval
from heuristic_core.stats.seeds import t_half_width
from heuristic_core.tables.schemas import get_schema

CONTEXT = Context(mid=0.3, high=0.5, last=10, seeds=(1, 2, 3), curve_seeds=(1,), repeats=(1, 2))
RUN = {"study": "s", "model": "m", "task": "t"}


def accuracy(values, reach=np.nan):
    """values: (ft_seed, sparsity, seed, repeat) -> accuracy on the only subset. reach: half of its interval."""
    rows = [
        RUN | {"ft_seed": ft, "step": 10, "sparsity": s, "seed": seed, "repeat": repeat, "n": 10, "accuracy": value}
        for (ft, s, seed, repeat), value in values.items()
    ]
    frame = pd.DataFrame(rows).astype({"seed": "Int32"})
    frame = frame.assign(low=frame["accuracy"] - reach, high=frame["accuracy"] + reach)
    return frame.assign(subset="swap", group="ood", family="lexical_overlap"), frame.assign(group="ood", subsets=1)


VALUES = {
    (1, 0.0, None, 0): 80.0, (1, 0.3, 1, 0): 10.0, (1, 0.3, 2, 0): 20.0, (1, 0.3, 3, 0): 60.0,
    (1, 0.3, 1, 1): 12.0, (1, 0.3, 2, 1): 16.0, (1, 0.5, 1, 0): 5.0,
    (2, 0.0, None, 0): 60.0, (2, 0.3, 1, 0): 50.0,
}  # fmt: skip


def pick(table, **where):
    for column, value in where.items():
        table = table[table[column].isna() if value is None else table[column] == value]
    (row,) = table.to_dict("records")
    return row


def test_summary_over_pruning_and_fine_tuning_seeds():
    table = compute_summary(*accuracy(VALUES), CONTEXT)
    assert list(table.columns) == get_schema("summary").names
    row = pick(table, ft_seed=1, sparsity=0.3, subset="swap", over="pruning seeds")
    assert (row["n"], row["mean"], row["min"], row["max"]) == (3, 30, 10, 60)
    assert row["sd"] == pytest.approx(np.std([10, 20, 60], ddof=1))
    assert row["low"] == 0  # Student's t reaches below what an accuracy can be
    over = pick(table, ft_seed=None, sparsity=0.3, subset=None, over="fine-tuning seeds")
    assert (over["n"], over["mean"], over["min"], over["max"]) == (2, 40, 30, 50)
    full = pick(table, ft_seed=None, sparsity=0.0, subset="swap")
    assert (full["n"], full["mean"]) == (2, 70)
    alone = pick(table, ft_seed=2, sparsity=0.3, subset="swap", over="pruning seeds")
    assert alone["n"] == 1 and np.isnan(alone["low"]) and np.isnan(alone["sd"])


def test_intervals_reach_as_far_as_what_is_summarised_can_be():
    """An accuracy is no lower than 0, J no lower than -100."""
    subsets, groups = accuracy({(1, 0.3, seed, 0): value for seed, value in ((1, -90.0), (2, 5.0), (3, 60.0))})
    ends = {}
    for group in ("ood", "j"):
        table = compute_summary(subsets, groups.assign(group=group), CONTEXT)
        ends[group] = pick(table, ft_seed=1, subset=None)["low"]
    assert ends["ood"] == 0 and ends["j"] == -100


def test_errors_of_pairs_are_added_undivided_and_faulty_runs_left_out():
    values = {(ft, 0.3, seed, 0): 40.0 + 10 * ft + seed for ft in (1, 2) for seed in (1, 2, 3)}
    values |= {(ft, 0.0, None, 0): 80.0 + ft for ft in (1, 2)} | {(1, 0.3, 3, 0): 0.0, (1, 0.5, 1, 0): 1.0}
    runs = [RUN | {"ft_seed": ft, "step": 10, "sparsity": s, "seed": k, "repeat": 0} for ft, s, k, _ in values if k]
    runs = pd.DataFrame(runs).assign(actual_sparsity=0.3, missed=False, collapsed=False).astype({"seed": "Int32"})
    faulty = (runs["ft_seed"] == 1) & ((runs["seed"] == 3) | (runs["sparsity"] == 0.5))
    table = compute_summary(*accuracy(values, reach=3.0), CONTEXT, runs.assign(collapsed=faulty))
    row = pick(table, ft_seed=1, sparsity=0.3, subset="swap", over="pruning seeds")
    half = np.hypot(stats.t.ppf(0.975, 1) * np.sqrt(0.5) / np.sqrt(2), 3)
    assert (row["n"], row["left_out"], row["mean"], row["pair_half_width"]) == (2, 1, 51.5, 3)
    assert (row["low"], row["high"]) == pytest.approx((51.5 - half, 51.5 + half))
    none = pick(table, ft_seed=1, sparsity=0.5, subset="swap", over="pruning seeds")
    assert (none["n"], none["left_out"]) == (0, 1) and np.isnan(none["mean"])
    over = pick(table, ft_seed=None, sparsity=0.3, subset="swap")
    assert (over["n"], over["left_out"], over["mean"]) == (2, 1, (51.5 + 62) / 2)
    half = np.hypot(stats.t.ppf(0.975, 1) * np.std([51.5, 62], ddof=1) / np.sqrt(2), 3)
    assert (over["low"], over["high"]) == pytest.approx((max(0, over["mean"] - half), min(100, over["mean"] + half)))
    full = pick(table, ft_seed=None, sparsity=0.0, subset="swap")
    half = np.hypot(stats.t.ppf(0.975, 1) * np.sqrt(0.5) / np.sqrt(2), 3)
    assert (full["low"], full["high"]) == pytest.approx((81.5 - half, 81.5 + half))


@pytest.mark.sampled
@pytest.mark.parametrize("seeds", [3, 10])
def test_coverage_of_the_mean_where_seeds_share_their_pairs(seeds):
    rng, count = np.random.default_rng(seeds), amount(1200)
    context, values = CONTEXT.model_copy(update={"seeds": tuple(range(1, seeds + 1))}), {}
    drawn = 50 + rng.normal(0, 3, (count, 1)) + rng.normal(0, 2, (count, seeds))
    for (study, seed), value in np.ndenumerate(drawn):
        values[study, 0.3, seed + 1, 0] = value
    table = compute_summary(*accuracy(values, reach=stats.norm.ppf(0.975) * 3), context)
    table = table[(table["over"] == "pruning seeds") & table["subset"].isna()]
    assert len(table) == count and ((table["low"] <= 50) & (table["high"] >= 50)).mean() >= 0.9
    assert (abs(table["mean"] - 50) <= t_half_width(table["sd"], seeds)).mean() < 0.85


AT_LIMITS = {  # accuracies, percent, of which about half, or most, are at a limit
    "half at the floor, others anywhere": lambda rng, u: np.where(u < 0.5, 0, rng.uniform(0, 100, u.shape)),
    "half at the floor, others far": lambda rng, u: np.where(u < 0.5, 0, rng.normal(60, 10, u.shape).clip(0, 100)),
    "half at the floor, others near": lambda rng, u: np.where(u < 0.5, 0, rng.lognormal(1, 1, u.shape).clip(0, 100)),
    "most at the floor": lambda rng, u: np.where(u < 0.8, 0, rng.normal(60, 20, u.shape).clip(0, 100)),
    "half at the ceiling": lambda rng, u: np.minimum(rng.normal(100, 3, u.shape), 100),
    "most at the ceiling": lambda rng, u: np.where(u < 0.8, 100, rng.uniform(60, 100, u.shape)),
    "a third at the floor": lambda rng, u: np.where(u < 0.3, 0, rng.uniform(0, 60, u.shape)),
    "all or nothing": lambda rng, u: np.where(u < 0.5, 0.0, 100.0),
    "none at a limit": lambda rng, u: rng.normal(60, 10, u.shape),
}


@pytest.mark.sampled
@pytest.mark.parametrize("seeds", first_fast(3, 5, 12))
@pytest.mark.parametrize("kind", AT_LIMITS)
def test_coverage_of_the_mean_where_seeds_pile_up_at_a_limit(kind, seeds):
    """Student's intervals hold the mean in 49 to 92 % of studies with half or more of three or five seeds at 0."""
    rng, count = np.random.default_rng([seeds, len(kind)]), amount(1000)
    draw = AT_LIMITS[kind]
    truth, drawn = draw(rng, rng.random(1_000_000)).mean(), draw(rng, rng.random((count, seeds)))
    context = CONTEXT.model_copy(update={"seeds": tuple(range(1, seeds + 1))})
    values = {(study, 0.3, seed + 1, 0): value for (study, seed), value in np.ndenumerate(drawn)}
    table = compute_summary(*accuracy(values), context)
    table = table[(table["over"] == "pruning seeds") & table["subset"].isna()]
    held = (table["low"] <= truth) & (table["high"] >= truth)
    assert len(table) == count and table["low"].notna().all() and held.sum() >= least_held(count)
    assert (table["low"] >= 0).all() and (table["high"] <= 100).all()


def test_seeds_that_agree_have_an_interval_at_a_limit_only():
    for level, ends in ((0.0, (0, 100 * (1 - 0.025 ** (1 / 3)))), (50.0, (np.nan, np.nan))):
        values = {(1, 0.3, seed, 0): level for seed in (1, 2, 3)}
        row = pick(compute_summary(*accuracy(values, reach=2.0), CONTEXT), ft_seed=1, subset="swap")
        low, high = (row["low"], row["high"])
        assert (low, high) == pytest.approx((ends[0], np.hypot(ends[1], 2)), nan_ok=True, abs=1e-3)


def test_the_interval_of_symmetric_values_is_students():
    values = [1.0, 2.0, 6.0, 7.0]
    result = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert mean_interval(values) == pytest.approx((4.0, result.low, result.high))


def test_variance_between_and_within_seeds():
    row = pick(compute_variance(*accuracy(VALUES), CONTEXT), ft_seed=1, sparsity=0.3, subset="swap")
    assert row["between_sd"] == pytest.approx(np.std([10, 20, 60], ddof=1))
    assert row["within_sd"] == pytest.approx(np.sqrt((2**2 + 4**2) / 2 / 2))
    assert (row["seeds"], row["repeated"]) == (3, 2)
    none = pick(compute_variance(*accuracy(VALUES), CONTEXT), ft_seed=2, sparsity=0.3, subset="swap")
    assert none["repeated"] == 0 and np.isnan(none["within_sd"])


GRID = ComponentGrid(2, 4)


def components(kept_by_cell):
    """kept_by_cell: (sparsity, seed, repeat) -> kept head indices; MLPs are always kept."""
    rows = [
        RUN | {"ft_seed": 1, "step": 10, "sparsity": s, "seed": seed, "repeat": repeat, "component": c.index}
        | {"name": c.name, "kind": c.kind, "layer": c.layer, "head": c.head, "kept": c.kind == "mlp" or c.index in kept}
        for (s, seed, repeat), kept in kept_by_cell.items() for c in GRID
    ]  # fmt: skip
    return pd.DataFrame(rows).astype({"seed": "Int32"})


MASKS = {
    (0.3, 1, 0): (0, 1, 4, 5), (0.3, 2, 0): (0, 1, 4, 6), (0.3, 3, 0): (0, 2, 4, 7),
    (0.5, 1, 0): (0, 4), (0.5, 2, 0): (0, 5), (0.5, 3, 0): (0, 6), (0.3, 1, 1): (0, 1, 4, 5), (0.3, 2, 1): (0, 1, 4, 7),
}  # fmt: skip


def test_repeated_runs_tell_whether_they_kept_the_same():
    row = pick(compute_variance(*accuracy(VALUES), CONTEXT, components(MASKS)), ft_seed=1, sparsity=0.3, subset="swap")
    assert row["same_masks"] == 1  # of seeds 1 and 2


def test_the_core_shrinks_with_more_seeds_towards_what_all_share():
    table = compute_core_seeds(components(MASKS), CONTEXT, seed=0)
    assert list(table.columns) == get_schema("core_seeds").names
    mid = table[table["set"] == "mid"].set_index("seeds")
    assert mid["heads"].tolist() == pytest.approx([4, (3 + 2 + 2) / 3, 2])
    assert mid["expected"].tolist() == pytest.approx([4, 2, 1])  # two of four in each of two layers: 8 / 2^k
    both = table[table["set"] == "mid+high"].set_index("seeds")
    assert both["heads"].tolist()[-1] == 1
    # Both masks of a seed count as one: what seeds 1, 2 and 3 keep at both is {0, 4}, {0} and {0}.
    assert both["heads"].iloc[0] == both["expected"].iloc[0] == pytest.approx(4 / 3)


def test_rank_correlation_from_shared_and_disjoint_seeds():
    table = compute_rank_correlation(components(MASKS), CONTEXT, 200, seed=0).set_index("seeds")
    mid, high = [3, 2, 1, 0, 3, 1, 1, 1], [3, 0, 0, 0, 1, 1, 1, 0]
    rho = stats.spearmanr(mid, high).statistic
    assert table.loc["shared", ["rho", "n"]].tolist() == pytest.approx([rho, 8])
    assert table.loc["shared", "low"] < rho < table.loc["shared", "high"]
    assert -1 <= table.loc["disjoint", "low"] <= table.loc["disjoint", "rho"] <= table.loc["disjoint", "high"] <= 1


@pytest.mark.parametrize(("seeds", "splits"), [(4, 6), (5, 30), (12, 924), (14, MAX_SPLITS)])
def test_halves_are_all_splits_where_these_are_few(seeds, splits):
    half, other_half = split_in_halves(seeds, np.random.default_rng(0))
    assert half.shape == other_half.shape == (splits, seeds // 2)
    both = {(frozenset(a), frozenset(b)) for a, b in zip(half.tolist(), other_half.tolist(), strict=True)}
    assert all(not a & b for a, b in both) and (len(both) == splits or splits == MAX_SPLITS)


def test_equal_frequencies_have_no_rank_correlation():
    same = dict.fromkeys(((s, seed, 0) for s in (0.3, 0.5) for seed in (1, 2, 3)), tuple(range(8)))
    table = compute_rank_correlation(components(same), CONTEXT, 50, seed=0)
    assert table["rho"].isna().all()
