"""Two list-sorting studies against each other: differences with intervals, what only one side has, and messages."""

import json

import numpy as np
import pandas as pd
import pytest
from mentions import raises
from scipy import stats

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.list_sorting.compare import MEASURES, compare, unshared_conditions
from heuristic_core.experiments.list_sorting.sides import parse_sides
from heuristic_core.experiments.list_sorting.tables import TABLES


def models(values: dict[str, list[float]], step: int = 40, **null) -> pd.DataFrame:
    """What :func:`compare` reads: by condition every seed's loss at the last step, and 9 before; other measures 0.5."""
    rows = [
        {"condition": condition, "seed": seed, "step": at, **dict.fromkeys(MEASURES, 0.5), "loss": loss} | null
        for condition, losses in values.items()
        for seed, last in enumerate(losses)
        for at, loss in ((0, 9.0), (step, last))
    ]
    return pd.DataFrame(rows).reindex(columns=[*TABLES["sorting_models"].columns])


def select_row(differences: pd.DataFrame, measure: str, condition: str) -> pd.Series:
    chosen = (differences["quantity"] == MEASURES[measure]) & (differences["group_or_subset"] == condition)
    return differences[chosen].squeeze()


def test_a_difference_is_of_means_over_seeds_at_the_last_step_with_welchs_interval():
    a, b = [1.0, 2.0, 4.0], [3.2, 3.3]
    row = select_row(compare(models({"l2": a, "x": a}), models({"l2": b}, step=80)), "loss", "l2")
    assert (row.a, row.b, row.difference) == pytest.approx((7 / 3, 3.25, 3.25 - 7 / 3))
    assert (row.step_a, row.step_b, row.n_a, row.n_b) == (40, 80, 3, 2)
    va, vb = np.var(a, ddof=1) / 3, np.var(b, ddof=1) / 2
    half = stats.t.ppf(0.975, (va + vb) ** 2 / (va**2 / 2 + vb**2)) * np.sqrt(va + vb)
    assert (row.low, row.high) == pytest.approx((row.difference - half, row.difference + half))
    assert row.a_low == 0  # Student's is below 0, which no loss is
    assert row.b_low == pytest.approx(3.25 - stats.t.ppf(0.975, 1) * np.sqrt(vb))


def test_what_has_no_interval_has_a_reason():
    alike = compare(models({"l2": [1.0, 2.0]}), models({"l2": [1.0, 2.0]}))
    reasons = [select_row(alike, "entropy", "l2").reason]
    assert pd.isna(select_row(alike, "loss", "l2").reason)
    single = select_row(compare(models({"l2": [1.0]}), models({"l2": [1.0, 2.0]})), "loss", "l2")
    assert single.difference == 0.5 and np.isnan(single.low)
    none = select_row(compare(models({"l2": [1.0, 2.0]}, overlap=None), models({"l2": [1.0, 2.0]})), "overlap", "l2")
    assert np.isnan(none.difference) and none.b == 0.5
    reasons += [single.reason, none.reason]
    assert all(isinstance(reason, str) for reason in reasons) and len(set(reasons)) == 3


def test_conditions_of_one_side_are_named_and_not_compared():
    a, b = models({"l2": [1.0], "x": [1.0]}), models({"l2": [1.0], "y": [1.0]})
    assert (unshared_conditions(a, b), unshared_conditions(b, a)) == (["x"], ["y"])
    assert set(compare(a, b)["group_or_subset"]) == {"l2"}


@pytest.mark.parametrize(
    ("experiment", "text", "named"),
    [
        ("list-sorting", "one", ["compare", "one"]),
        ("list-sorting", "nowhere one", ["nowhere"]),
        ("list-sorting", "one one", ["one/tables", "sorting_models"]),
        (None, "one one", ["one", "heuristic-core", "compare="]),
    ],
)
def test_what_is_no_finished_study_is_named(tmp_path, monkeypatch, experiment, text, named):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one").mkdir()
    (tmp_path / "one/study.json").write_text(json.dumps({"context": None, "settings": {"experiment": experiment}}))
    with raises(InputError, *named):
        parse_sides(text)
