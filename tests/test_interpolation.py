"""Between two subnetworks: is the path greedy, and is nothing measured on the pairs that chose it?"""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from mentions import mentions

from heuristic_core.experiments.subnetworks.analysis.interpolation import (
    Halves,
    compute_interpolation,
    order_greedily,
    select_ends,
)
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.models.components import ComponentGrid
from heuristic_core.tables.schemas import get_schema

GRID = ComponentGrid(2, 4)
RUN = {"study": "s", "model": "m", "task": "t", "ft_seed": 1, "step": 30}
ANALYSIS = Analysis(bootstrap=100)
PAIRS = 20  # of each subset
SUBSETS = [
    ("in_domain", "id", None),
    ("swap", "ood", "lexical_overlap"),
    ("verb", "ood", "constituent"),
    ("e_swap", "ood-entailment", "lexical_overlap"),
    ("e_verb", "ood-entailment", "constituent"),
]


def predictor(right, template=lambda pair: "one"):
    """Predictions of sets of components. right: (components, subset, pair) -> whether that pair is right."""

    def predict(kept):
        cells = [(name, group, family, k) for name, group, family in SUBSETS for k in range(PAIRS)]
        result = pd.DataFrame(cells, columns=["subset", "group", "family", "pair"])
        correct = [bool(right(kept, name, k)) for name, _, _, k in cells]
        columns = {"template": result["pair"].map(template), "example": range(len(result)), "correct": correct}
        return result.assign(**columns, correct_merged=correct).to_dict("series")

    return predict


def additive(weights):
    """OOD pairs are right up to the summed weights of kept components, alike on both halves; others always are."""

    def right(kept, subset, pair):
        return subset not in ("swap", "verb") or pair // 2 < sum(weights.get(component, 0) for component in kept)

    return predictor(right)


# ---- choices


def test_every_step_is_the_best_that_is_left():
    value = {}
    rng = np.random.default_rng(0)

    def ood(kept):
        return value.setdefault(kept, rng.uniform(0, 100))

    start, changes = frozenset({0, 5}), {1, 2, 3, 5}
    result = list(order_greedily(start, changes, ood))
    # By brute force: of all orders the one whose values are largest, compared from the first step on.
    orders = {}
    for order in permutations(sorted(changes)):
        kept, values = start, []
        for component in order:
            kept = kept ^ {component}
            values.append(ood(kept))
        orders[order] = values
    assert tuple(component for component, _ in result) == max(orders, key=orders.get)
    assert result[-1][1] == {0, 1, 2, 3}


def test_of_steps_alike_the_first_component_is_taken():
    assert [component for component, _ in order_greedily(frozenset(), {4, 2, 7}, lambda kept: 50.0)] == [2, 4, 7]


def test_of_subnetworks_alike_the_lowest_seed_is_taken():
    learned = {46: frozenset({6}), 44: frozenset({4}), 45: frozenset({5}), 43: frozenset({3})}
    value = {3: 70.0, 4: 10.0, 5: 70.0, 6: 10.0}
    assert select_ends(learned, lambda kept: value[min(kept)]) == (44, 43, 60.0)
    assert select_ends(learned, lambda kept: 5.0) == (43, 44, 0.0)


# ---- halves


def test_what_is_right_on_the_choosing_half_alone_is_chosen_and_not_reported():
    """Subnetwork 2 is right on every other pair, by chance those that choose; subnetwork 3 on 70 % of all pairs."""
    kept = {1: frozenset({1}), 2: frozenset({2}), 3: frozenset({3})}

    def right(components, subset, pair):
        if subset not in ("swap", "verb"):
            return True
        return pair % 2 == 0 if 2 in components else 3 in components and pair % 10 < 7

    result = compute_interpolation(kept, predictor(right), GRID, ANALYSIS, RUN)
    assert set(result["generalising"]) == {2}
    ood = result[(result["group"] == "ood") & result["subset"].isna()].set_index("role")["accuracy"]
    assert ood["M"] == ood["H"] == 0
    assert Halves(predictor(right), ANALYSIS).value(kept[2]) == 100


def test_halves_are_taken_template_by_template():
    halves = Halves(predictor(lambda *_: True, template=lambda pair: "ab"[pair % 2]), ANALYSIS)
    swap = halves.rows(frozenset())
    swap = swap[swap["subset"] == "swap"]
    assert swap["template"].value_counts().to_dict() == {"a": PAIRS // 4, "b": PAIRS // 4}


def test_a_set_is_predicted_once():
    predicted_sets = []
    predict = additive({1: 4})
    halves = Halves(lambda kept: predicted_sets.append(kept) or predict(kept), ANALYSIS)
    halves.value(frozenset({1})), halves.rows(frozenset({1})), halves.value(frozenset())
    assert predicted_sets == [frozenset({1}), frozenset()]


def test_only_analysed_subsets_choose():
    def right(kept, subset, pair):
        return subset == "swap"

    def halves(*subsets):
        result = Halves(predictor(right), Analysis(subsets=[*subsets] or None))
        return result.value(frozenset()), result.measure

    assert halves() == (-50, "j")  # of its two families one has J = 100 + 0 - 100, the other 0 + 0 - 100
    assert halves("in_domain", "swap", "e_swap") == (0, "j")
    assert halves("in_domain", "swap") == (100, "ood")
    assert halves("in_domain", "swap", "verb", "e_swap") == (0, "j")  # a family with one side has no J


def test_a_subnetwork_that_rejects_every_overlap_does_not_generalise():
    """Subnetwork 1 accepts every overlap, 2 rejects it, and 3 gets seven of ten pairs right."""
    learned = {1: frozenset({1}), 2: frozenset({2}), 3: frozenset({3})}

    def right(components, subset, pair):
        if subset == "in_domain" or not components & {2, 3}:
            return not subset.startswith("verb") and subset != "swap"
        return (subset in ("swap", "verb")) if 2 in components else pair % 20 < 14

    result = compute_interpolation(learned, predictor(right), GRID, ANALYSIS, RUN)
    assert set(result["generalising"]) == {3} and set(result["measure"]) == {"j"}
    ood_alone = compute_interpolation(
        learned, predictor(right), GRID, Analysis(bootstrap=100, subsets=["swap", "verb"]), RUN
    )
    assert set(ood_alone["generalising"]) == {2} and set(ood_alone["measure"]) == {"ood"}


# ---- the table


@pytest.fixture(scope="module")
def table():
    """H is heads 0, 1 and MLP 8; M is heads 0, 2, 3 and MLP 9. Of ten pairs 2 adds five, and 1 takes one."""
    learned = {1: frozenset({0, 1, 8}), 2: frozenset({0, 2, 3, 9}), 3: frozenset({0, 2, 8})}
    return compute_interpolation(learned, additive({0: 2, 1: -1, 2: 5, 3: 2, 9: 1}), GRID, ANALYSIS, RUN)


def select_ood(table):
    return table[(table["group"] == "ood") & table["subset"].isna() & table["family"].isna()]


def test_the_path_leads_from_one_subnetwork_to_the_other(table):
    assert list(table.columns) == get_schema("interpolation").names
    assert set(table["heuristic"]) == {1} and set(table["generalising"]) == {2} and table["reason"].isna().all()
    path = select_ood(table)
    path = path[path["role"].isin(["H", "path"])]
    assert path["name"].tolist()[1:] == ["0.2", "0.3", "mlp 1", "0.1", "mlp 0"]
    assert path["added"].tolist()[1:] == [True, True, True, False, False]
    assert path["place"].tolist() == [0, 1, 2, 3, 4, 5]
    np.testing.assert_allclose(path["accuracy"].astype(float), [10, 60, 80, 90, 100, 100])
    assert select_ood(table).set_index("role").loc["M", "accuracy"] == 100


def test_single_components_are_compared_with_their_own_end(table):
    single = select_ood(table)
    single = single[single["role"].isin(["with", "without"])].set_index(["role", "name"])
    assert single.loc["with", "change"].to_dict() == {"0.2": 50, "0.3": 20, "mlp 1": 10}
    assert single.loc["without", "change"].to_dict() == pytest.approx({"0.2": -50, "0.3": -20, "mlp 1": -10})
    assert set(single.loc["with", "against"]) == {"H"} and set(single.loc["without", "against"]) == {"M"}
    assert (single["change_low"] < single["change"]).all() and (single["change"] < single["change_high"]).all()


def test_groups_j_and_families_have_values_of_the_other_half(table):
    m_rows = table[table["role"] == "M"]
    means = m_rows.loc[m_rows["subset"].isna(), ["group", "family"]].itertuples(index=False)
    cells = {(group, family if isinstance(family, str) else None) for group, family in means}
    families = {("j", "lexical_overlap"), ("j", "constituent")}
    assert cells == {("id", None), ("ood", None), ("ood-entailment", None), ("j", None)} | families
    assert (m_rows.loc[m_rows["subset"].notna(), "n"] == PAIRS // 2).all()
    assert m_rows[["low", "high"]].notna().all(axis=None)
    assert m_rows.loc[(m_rows["group"] == "j"), "accuracy"].tolist() == [100] * 3


def test_ends_that_are_near_have_no_path():
    learned = {1: frozenset({0, 1}), 2: frozenset({0, 2})}
    result = compute_interpolation(learned, additive({0: 3}), GRID, ANALYSIS, RUN)
    assert set(result["role"]) == {"H", "M"} and result["accuracy"].notna().all()
    assert all(mentions(reason, "H", "M", "J", 10) for reason in result["reason"])


def test_fewer_than_two_subnetworks_are_told():
    result = compute_interpolation({1: frozenset({0})}, additive({}), GRID, ANALYSIS, RUN)
    (reason,) = result["reason"]
    assert mentions(reason, 1, 2)
    assert result["accuracy"].isna().all() and result["heuristic"].isna().all()
