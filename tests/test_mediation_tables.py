"""Table mediation on predictions with known answers, its statistics, and its figure."""

import numpy as np
import pandas as pd
import pytest
from claim_tables import CONTEXT
from known_predictions import COLUMNS, GRID, PAIRS, RUN, core_heads, known_levels, values
from matplotlib.collections import PathCollection

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis import mediation as m
from heuristic_core.experiments.subnetworks.analysis.contrasts import Levels
from heuristic_core.experiments.subnetworks.figures import draw
from heuristic_core.stats.bootstrap import wilson_zero_bound

FULL = values(in_domain=100, a=80, b=60, c=90)
ABLATED = values(in_domain=90, a=10, b=0, c=90)


def together(parts):
    return {name: np.concatenate([part[name] for part in parts], axis=1) for name in parts[0]}


@pytest.fixture(scope="module")
def levels():
    return known_levels()


# ---- measures


def test_levels_are_the_means_of_their_subsets_and_j(levels):
    means = levels.means(FULL["accuracy"])
    result = {
        (level.identity["subset"], level.identity["group"], level.identity["family"]): float(
            (level.weights @ means + level.offset)[0]
        )
        for level in levels.levels
    }
    assert result == pytest.approx({
        ("in_domain", "id", None): 100, ("a", "ood", "f"): 80, ("b", "ood", "f"): 60, ("c", "ood-entailment", "f"): 90,
        (None, "id", None): 100, (None, "ood", None): 70, (None, "ood-entailment", None): 90,
        (None, "ood", "f"): 70, (None, "ood-entailment", "f"): 90, (None, "j", None): 60, (None, "j", "f"): 60,
    })  # fmt: skip


def test_subsets_that_are_left_out_enter_no_mean():
    few = Levels(COLUMNS, ["in_domain", "a", "c"], 20, 0)
    means = few.means(FULL["accuracy"])
    of = {level.identity["group"]: level for level in few.levels if level.identity["subset"] is None}
    assert (of["ood"].weights @ means)[0] == pytest.approx(80) and of["ood"].identity["n"] == PAIRS
    assert sum(level.identity["subset"] is not None for level in few.levels) == 4


def test_p_is_that_of_students_test_and_one_where_nothing_differs(levels):
    from scipy.stats import ttest_1samp

    difference = np.stack(
        [np.random.default_rng(0).normal(0.3, 1, len(COLUMNS["subset"])), np.zeros(len(COLUMNS["subset"]))], axis=1
    )
    level = levels.levels[0]
    many = Levels(COLUMNS, None, 20_000, 0)
    p_value, same = many.compute_p_values(level, many.resample(difference))
    assert p_value == pytest.approx(ttest_1samp(difference[:PAIRS, 0], 0).pvalue, rel=0.1)
    assert same == 1


@pytest.mark.slow
def test_a_share_holds_the_truth_in_about_95_of_100_samples():
    """Ratio of mean differences whose truth is 0.5, of 40 pairs."""
    inside = 0
    for sample in range(200):
        rng = np.random.default_rng(sample)
        columns = {name: column[PAIRS : 2 * PAIRS] for name, column in COLUMNS.items()}
        cost = rng.normal(2, 1, (PAIRS, 1))
        sampled = Levels(columns, None, 300, sample)
        gained = 0.5 * cost + rng.normal(0, 0.5, (PAIRS, 1))
        _, low, high = sampled.estimate_ratios(
            sampled.levels[0], sampled.resample(gained), sampled.resample(cost), "log_odds"
        )
        inside += low[0] <= 0.5 <= high[0]
    assert 180 <= inside <= 199


def test_a_class_of_pairs_that_never_differs_widens_j_and_shares_by_what_unseen_pairs_allow(levels):
    """Two OOD subsets of 40 pairs, of which some differ, and 40 entailed ones, of which none does."""
    means = [level for level in levels.levels if not level.identity["subset"] and not level.identity["family"]]
    of = {mean.identity["group"]: mean for mean in means}
    j, ood = of["j"], of["ood"]
    drawn = levels.resample(FULL["accuracy"] * (COLUMNS["group"] == "ood")[:, None])
    (value,), (low,), (high,) = levels.estimate_effects(j, drawn, "accuracy")
    (same,), (near,), (far,) = levels.estimate_effects(ood, drawn, "accuracy")
    assert value == same == 70 and near < 70 < far
    assert 70 - low == pytest.approx(np.hypot(70 - near, wilson_zero_bound(40))) and high - 70 == pytest.approx(
        np.hypot(far - 70, wilson_zero_bound(40))
    )
    share, low, high = levels.estimate_ratios(j, drawn, drawn, "accuracy")
    reach = np.hypot(wilson_zero_bound(80), wilson_zero_bound(40)) / 70
    assert share == 1 and low == pytest.approx(1 - reach) and high == pytest.approx(1 + reach)
    assert levels.estimate_ratios(ood, drawn, drawn, "accuracy")[1] == pytest.approx(1 - wilson_zero_bound(80) / 70)
    assert levels.estimate_ratios(ood, drawn, drawn, "log_odds")[1] == 1


# ---- which sets


def test_the_plan_has_every_later_head_alone_by_layer_and_together():
    learned, *others = m.plan_mediation([1, 6], [9, 2, 1], GRID, 20, 0)
    assert learned[:2] == ("learned", (1, 6))
    by_role = {role: [item for item in learned.sets if item.role == role] for role in ("single", "layer", "all later")}
    later = (4, 5, 7, 8, 9, 10, 11)
    assert [item.heads for item in by_role["single"]] == [(head,) for head in later]
    assert [(item.name, item.heads) for item in by_role["layer"]] == [
        ("layer 1", (4, 5, 7)),
        ("layer 2", (8, 9, 10, 11)),
    ]
    assert [item.heads for item in by_role["all later"]] == [later]
    (counter,) = [item for item in learned.sets if item.role == "counter-heuristic"]
    assert counter.heads == (9,)  # head 0.2 is below, head 0.1 in the core
    random = [item.heads for item in learned.sets if item.role == "random"]
    assert sorted(random) == [(8,), (10,), (11,)]
    assert len(others) == 4 * 4 - 1 and all(len(other.heads) == 2 and other.heads != (1, 6) for other in others)
    for other in others:
        by_role = {item.role: item.heads for item in other.sets}
        every = tuple(head for head in range(4, 12) if head not in other.heads)
        assert by_role == {"all later": every} | ({"counter-heuristic": (9,)} if 9 in every else {})


def test_without_counter_heuristic_heads_other_sets_remain():
    for item in m.plan_mediation([1, 6], [], GRID, 20, 0):
        assert {members.role for members in item.sets} <= {"single", "layer", "all later"} and item.sets


@pytest.mark.parametrize("core", [[], [9], [8, 10]])
def test_without_a_core_or_later_heads_nothing_is_planned(core):
    assert m.plan_mediation(core, [9], GRID, 20, 0) == []


# ---- table mediation


def patched_set(name, role):
    return m.PatchedSet(name, role, (5,), "1")


@pytest.fixture(scope="module")
def mediation(levels):
    """A set that restores half of a, one that restores everything, one that restores nothing, and random ones."""
    half = values(in_domain=90, a=45, b=0, c=90)
    sets = [patched_set("half", m.LAYER), patched_set("all", m.ALL_LATER), patched_set("none", m.COUNTER_HEURISTIC)]
    sets += [patched_set(f"random {k}", m.RANDOM) for k in range(20)]
    restored = together([half, FULL, ABLATED, *[values(in_domain=90, a=11 + k, b=0, c=90) for k in range(20)]])
    transmitted = together([half, ABLATED, ABLATED, *[FULL] * 20])
    cores = [m.Core(m.LEARNED, (1,), sets), *(m.Core(f"random {k}", (2,), sets[:2]) for k in range(1, 21))]
    same, less = together([FULL] * 2), together([ABLATED, values(in_domain=100, a=20, b=20, c=90)])
    result = [(ABLATED, restored, transmitted), *[(FULL, same, same)] * 19, (ABLATED, same, less)]
    return m.compute_mediation(RUN, cores, levels, FULL, result)


def cell(table, **wanted):
    rows = table[(table[list(wanted)] == pd.Series(wanted)).all(axis=1)]
    rows = rows[rows["subset"].isna() & rows["family"].isna()]
    return rows.iloc[0] if len(rows) == 1 else rows


OF_J = {"core": "learned", "measure": "accuracy", "group": "j"}


def test_points_and_shares_are_what_the_definition_says(mediation):
    half = cell(mediation, set="half", direction="restored", **OF_J)
    assert tuple(half[["full", "ablated", "patched"]]) == pytest.approx((60, -5, 12.5))
    assert half["points"] == pytest.approx(17.5) and half["share"] == pytest.approx(17.5 / 65)
    assert half["share_low"] < half["share"] < half["share_high"] and half["points_low"] < 17.5 < half["points_high"]
    half = cell(mediation, set="half", direction="transmitted", **OF_J)
    assert half["points"] == pytest.approx(60 - 12.5) and half["share"] == pytest.approx(47.5 / 65)
    odds = cell(mediation, core="learned", set="half", direction="restored", measure="log_odds", group="ood")
    assert odds["points"] == pytest.approx(0.35) and odds["full"] == pytest.approx(0.4)


def test_everything_restored_is_one_and_nothing_restored_is_zero(mediation):
    for group in ("id", "ood", "j"):
        known = {"core": "learned", "measure": "accuracy", "group": group, "direction": "restored"}
        assert cell(mediation, set="all", **known)["share"] == 1
        assert cell(mediation, set="none", **known)["points"] == 0
        assert cell(mediation, set="none", **known)["share"] == 0


def test_a_share_of_a_cost_that_is_not_clear_of_0_is_null_with_a_reason(mediation):
    known = cell(mediation, set="half", direction="restored", **OF_J)
    assert pd.notna(known["share"]) and pd.isna(known["reason"])
    for name in ("id", "ood", "j"):
        row = cell(mediation, core="random 1", set="half", direction="restored", measure="accuracy", group=name)
        assert row["full"] == row["ablated"] and pd.isna(row["share"]) and pd.isna(row["share_low"])
        assert isinstance(row["reason"], str)
        assert row["points"] == 0


def test_random_sets_have_levels_of_groups_alone(mediation):
    random = mediation[mediation["role"] == "random"]
    assert random["subset"].isna().all() and random["family"].isna().all()
    assert mediation[mediation["role"] == "layer"]["subset"].notna().any()


# ---- figure


def test_figure_mediation_shows_every_set_and_says_where_there_is_no_core(mediation):
    figure, marks = draw("figure_mediation", {"mediation": mediation, "core": core_heads()}, Figure(), CONTEXT)
    assert set(marks["role"]) == {"layer", "all later", "counter-heuristic", "random"}
    assert set(marks["group"]) == {"id", "ood", "ood-entailment", "j"} and len(marks) == 23 * 2 * 4
    panels = np.reshape(figure.axes, (2, 4))
    assert all(ax.get_ylabel() for ax in panels[:, 0]) and [bool(ax.texts) for ax in panels[:, 0]] == [False, True]
    rows = [text.get_text() for text in panels[0, 0].get_yticklabels()]
    for ax, group in zip(panels[0], ("id", "ood", "ood-entailment", "j"), strict=True):
        drawn = pd.concat(
            pd.DataFrame(marks.get_offsets().tolist()) for marks in ax.collections if isinstance(marks, PathCollection)
        )
        assert sorted(drawn[0]) == pytest.approx(sorted(marks.loc[marks["group"] == group, "points"]))
        assert set(drawn[1].round()) == set(range(len(rows)))
    without = mediation[~mediation["role"].isin(["counter-heuristic", "random"])]
    figure, marks = draw("figure_mediation", {"mediation": without, "core": core_heads()}, Figure(), CONTEXT)
    assert set(marks["role"]) == {"layer", "all later"}
    left = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert set(left) < set(rows) and len(rows) - len(left) == 2
