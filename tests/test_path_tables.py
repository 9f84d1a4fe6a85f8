"""Table paths on effects with known answers, and its figure."""

import numpy as np
import pandas as pd
import pytest
from claim_tables import CONTEXT
from known_predictions import COLUMNS, GRID, RUN, core_heads, known_levels, words
from mentions import mentions

from heuristic_core.config.figure import Figure
from heuristic_core.experiments.subnetworks.analysis import path_effects as p
from heuristic_core.experiments.subnetworks.figures import draw


@pytest.fixture(scope="module")
def levels():
    return known_levels()


def test_senders_have_receivers_above_them_and_random_ones_are_outside_the_core():
    first, second, together_ = p.list_senders([1, 6], GRID, 2, 0)
    assert first[0] == ("0.1", "core", (1,), tuple(range(4, 12)))
    assert second[0] == ("1.2", "core", (6,), (8, 9, 10, 11))
    assert together_[0] == ("core", "core", (1, 6), (4, 5, 7, 8, 9, 10, 11))
    for sender, *others in (first, second, together_):
        assert len(others) == 2
        for other in others:
            assert not set(other.heads) & {1, 6} and [h // 4 for h in other.heads] == [h // 4 for h in sender.heads]
            assert set(other.receivers) == set(sender.receivers) - set(other.heads)
    assert len(p.list_senders([5], GRID, 2, 0)) == 1  # a core of one is no other sender


@pytest.fixture(scope="module")
def paths(levels):
    """Head 0.1 lowers OOD log odds through the values of head 1.0 by 1 nat; random senders do nothing but noise."""
    family = p.list_senders([1], GRID, 2, 0)[0]
    about = p.list_targets(family[0], GRID)
    ood, rng = np.isin(COLUMNS["group"], ["ood"]), np.random.default_rng(0)  # whatever tests drew before

    def effects(sender, sends):
        shape = len(COLUMNS["subset"]), len(p.list_targets(sender, GRID))
        odds, accuracy = rng.normal(0, 0.1, shape), np.zeros(shape)
        if sends:
            odds[ood, about.index(("1.0", 4, "value"))] -= 1
            odds[ood, about.index((p.TOTAL, None, None))] -= 2
            accuracy[ood, about.index((p.TOTAL, None, None))] = -100.0
        attention = np.full(shape, np.nan)
        attention[:, 2::3] = attention[:, 3::3] = 0.25
        return p.Effects({"accuracy": accuracy, "log_odds": odds}, attention)

    return p.compute_paths(RUN, family, GRID, "mean", [effects(item, item.role == p.CORE) for item in family], levels)


def edge(paths, receiver, part=None, group="ood", measure="log_odds", sender="0.1"):
    rows = paths[(paths["sender"] == sender) & (paths["receiver"] == receiver) & (paths["measure"] == measure)]
    rows = rows[(rows["group"] == group) & (rows["part"].isna() if part is None else rows["part"] == part)]
    return rows.iloc[0]


def test_an_effect_is_found_where_it_is_and_compared_with_random_senders(paths):
    strong = edge(paths, "1.0", "value")
    assert strong["effect"] == pytest.approx(-1, abs=0.05) and strong["effect_high"] < -0.9
    assert strong["difference"] == pytest.approx(strong["effect"] - strong["random"])
    assert strong["p"] < 1e-6 and strong["p"] < strong["q"] < 1e-4
    others = paths[(paths["role"] == "core") & paths["component"].notna() & (paths["measure"] == "log_odds")]
    others = others[~((others["receiver"] == "1.0") & (others["part"] == "value") & (others["group"] == "ood"))]
    assert (others["q"] > 0.05).mean() > 0.9 and (others["q"] >= others["p"]).all()
    total = edge(paths, "total")
    assert total["effect"] == pytest.approx(-2, abs=0.05) and pd.isna(total["q"]) and pd.isna(total["component"])
    assert edge(paths, "total", group="j", measure="accuracy")["effect"] == -100
    assert not ((paths["group"] == "j") & (paths["measure"] == "log_odds")).any()


def test_an_effect_is_beyond_random_senders_where_it_is_larger_than_each_in_its_own_direction():
    effect, none = np.array([2.0, -2.0, 1.0, -1.0, 0.0, 3.0, 3.0]), np.nan
    others = [np.array([1.0, -1.0, 1.0, 5.0, -1.0, none, none]), np.array([-9.0, 9.0, 0.0, -2.0, 1.0, 2.0, none])]
    assert p._beyond(effect, others) == [True, True, False, False, False, True, None]
    assert p._beyond(effect, []) == [None] * 7


def test_an_effect_that_a_random_sender_has_too_has_no_number_however_small_its_p(paths):
    assert edge(paths, "1.0", "value")["beyond"] and paths[paths["role"] == "random"]["beyond"].isna().all()
    is_edge = (paths["sender"] == "0.1") & (paths["receiver"] == "1.0") & (paths["part"] == "value")
    figure, marks = draw("figure_paths", {"paths": paths.assign(beyond=paths["beyond"].where(~is_edge, False)),
                                     "core": core_heads()}, Figure(), CONTEXT)  # fmt: skip
    strong = marks[(marks["receiver"] == "1.0") & (marks["part"] == "value") & (marks["group"] == "ood")].iloc[0]
    assert strong["q"] < 1e-4 and strong["drawn"] and not strong["differs"]
    assert not figure.axes[0].texts


def test_random_senders_are_reference_values_without_intervals(paths):
    random = paths[paths["role"] == "random"]
    assert set(random["sender"]) == {"random 1 for 0.1", "random 2 for 0.1"}
    assert random[["effect_low", "random", "p", "q"]].isna().all(axis=None) and random["effect"].notna().all()
    mean = np.mean([edge(random, "2.3", "key", sender=name)["effect"] for name in sorted(set(random["sender"]))])
    assert edge(paths, "2.3", "key")["random"] == pytest.approx(mean)


def test_attention_moves_by_queries_and_keys_alone(paths):
    core_paths = paths[(paths["role"] == "core") & (paths["group"] != "j")]
    assert (core_paths[core_paths["part"].isin(["query", "key"])]["attention"] == 0.25).all()
    assert core_paths[~core_paths["part"].isin(["query", "key"])]["attention"].isna().all()


def test_without_random_senders_an_effect_stands_alone(levels):
    family = p.list_senders([1], GRID, 2, 0)[0][:1]
    shape = len(COLUMNS["subset"]), len(p.list_targets(family[0], GRID))
    effect = p.Effects({name: np.ones(shape) for name in ("accuracy", "log_odds")}, np.zeros(shape))
    result = p.compute_paths(RUN, family, GRID, "mean", [effect], levels)
    both = result["group"] == "j"  # J is the sum of two classes
    assert np.allclose(result["effect"], 1 + both) and result[["random", "difference", "p", "q"]].isna().all(axis=None)


def test_figure_paths_draws_the_edge_that_is_there(paths):
    figure, marks = draw("figure_paths", {"paths": paths, "core": core_heads()}, Figure(), CONTEXT)
    drawn = marks[marks["drawn"] & marks["differs"] & (marks["group"] == "ood")]
    first = drawn.sort_values("share", kind="stable").iloc[-1]
    assert (first["receiver"], first["part"]) == ("1.0", "value") and first["share"] == pytest.approx(0.5, abs=0.05)
    assert not marks[(marks["group"] == "id")]["drawn"].any()  # the total is not clear of 0 there
    head_map, logits = figure.axes[0].collections
    receivers = [text.get_text() for text in figure.axes[0].get_xticklabels()][:-1]
    cells = head_map.get_array().reshape(3, len(receivers))
    assert cells[2, receivers.index("1.0")] == first["share"] and logits.get_array().size == 1
    assert marks["drawn"].sum() == cells.count() + 1 and not figure.axes[1].collections
    written = drawn.loc[drawn["share"].abs() >= 0.005, "share"]  # by chance also other edges than the one that is there
    numbers = [text.get_text().replace("−", "-") for text in figure.axes[0].texts]
    assert (
        sorted(numbers) == sorted(f"{100 * share:.0f}" for share in written)
        and f"{100 * first['share']:.0f}" in numbers
    )
    titles = words(figure)
    assert any(mentions(title, 2) for title in titles)  # of fine-tuning seed 2, which has no core head
    assert first["total"] == pytest.approx(-2, abs=0.05)
