import pandas as pd
import pytest

from heuristic_core.analysis.accuracy import accuracy, group_means
from heuristic_core.tables import read_table, schema, write_table

RUN = {"study": "s", "model": "m", "task": "t", "ft_seed": 1, "step": 10}
SUBSETS = [("matched", "id", None), ("swap", "ood", "lexical_overlap"), ("if", "ood", "constituent")]


def predictions(correct):
    """correct: (sparsity, seed) -> subset -> list of bools."""
    rows = []
    for (sparsity, seed), by_subset in correct.items():
        for name, group, family in SUBSETS:
            for example, right in enumerate(by_subset.get(name, [])):
                cell = {"sparsity": sparsity, "seed": seed, "subset": name, "group": group, "family": family}
                values = {"example": example, "label": 1, "prediction": int(right), "correct": right}
                rows.append(RUN | cell | values | {"logits": [0.0, 1.0]})
    return rows


@pytest.fixture
def table(tmp_path):
    full = {"matched": [True] * 4, "swap": [True, True, False, False], "if": [True]}
    pruned = {"matched": [True, True, True, False], "swap": [False] * 4, "if": [True]}
    rows = predictions({(0.0, None): full, (0.5, 42): pruned})
    write_table("predictions", rows, tmp_path / "predictions.parquet")
    return read_table(tmp_path / "predictions.parquet")


def test_accuracy_keeps_the_full_model_and_subsets_without_a_family(table, tmp_path):
    result = accuracy(table)
    assert list(result.columns) == schema("accuracy").names
    values = {
        (row.seed if pd.notna(row.seed) else None, row.subset): (row.n, row.accuracy) for row in result.itertuples()
    }
    assert values == {
        (None, "matched"): (4, 100.0),
        (None, "swap"): (4, 50.0),
        (None, "if"): (1, 100.0),
        (42, "matched"): (4, 75.0),
        (42, "swap"): (4, 0.0),
        (42, "if"): (1, 100.0),
    }
    write_table("accuracy", result, tmp_path / "accuracy.parquet")
    pd.testing.assert_frame_equal(read_table(tmp_path / "accuracy.parquet"), result)


def means(frame, subsets=None):
    result = group_means(frame, subsets)
    assert list(result.columns) == [
        "study",
        "model",
        "task",
        "ft_seed",
        "step",
        "sparsity",
        "seed",
        "group",
        "accuracy",
    ]
    return {(row.seed if pd.notna(row.seed) else None, row.group): row.accuracy for row in result.itertuples()}


def test_group_means_weigh_every_subset_the_same(table):
    assert means(accuracy(table)) == {
        (None, "id"): 100.0,
        (None, "ood"): 75.0,
        (42, "id"): 75.0,
        (42, "ood"): 50.0,
    }


def test_group_means_over_chosen_subsets(table):
    assert means(accuracy(table), ["swap"]) == {(None, "ood"): 50.0, (42, "ood"): 0.0}


def test_group_means_name_the_subsets_there_are(table):
    with pytest.raises(ValueError, match="no subset 'paws'; there are if, matched, swap"):
        group_means(accuracy(table), ["swap", "paws"])


def test_a_mean_over_a_missing_accuracy_is_missing(table):
    frame = accuracy(table)
    frame.loc[(frame["subset"] == "swap") & (frame["seed"] == 42), "accuracy"] = None
    result = means(frame)
    assert pd.isna(result[(42, "ood")])
    assert result[(None, "ood")] == 75.0


def test_group_means_of_the_full_model_over_fine_tuning(table):
    curve = accuracy(table)
    curve = curve[curve["seed"].isna()].drop(columns=["sparsity", "seed"])
    assert group_means(curve).set_index("group")["accuracy"].to_dict() == {"id": 100.0, "ood": 75.0}
