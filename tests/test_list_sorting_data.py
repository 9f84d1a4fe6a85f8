"""Lists that a model learns to sort: what their configuration allows, how they are drawn, and their gaps."""

import pytest
import torch
from list_sorting import TINY, study
from mentions import mentions

from heuristic_core.config.reading import ConfigError
from heuristic_core.experiments.list_sorting.conditions import DIGEST_VARIANTS, describe_condition, digest_without
from heuristic_core.experiments.list_sorting.config import Data, parse
from heuristic_core.experiments.list_sorting.data import draw_lists, draw_uniform_lists, make_sequences, neighbour_gaps


def draw(count: int, **settings):
    return draw_uniform_lists(Data(held_out_lists=1, **settings), count, torch.Generator().manual_seed(0))


def test_a_sequence_is_list_separator_and_sorted_list():
    result = make_sequences(torch.tensor([[3, 0, 2]]), Data(numbers=5, length=3, held_out_lists=1))
    assert result.tolist() == [[3, 0, 2, 5, 0, 2, 3]]
    assert neighbour_gaps(torch.tensor([[3, 0, 2]])).tolist() == [[2, 1]]


def test_lists_hold_distinct_numbers_and_held_out_ones_are_no_training_lists():
    data = Data(numbers=5, length=3, train_lists=500, held_out_lists=30)  # of 60 possible ones
    result = draw_lists(data)
    train, held_out = ({tuple(row) for row in part.tolist()} for part in result)
    assert result.train.shape == (500, 3) and result.held_out.shape == (30, 3)
    assert all(len(set(row)) == 3 and set(row) <= set(range(5)) for row in train | held_out)
    assert not train & held_out
    assert len(train) == 60 - len(held_out)  # all others


def test_lists_are_a_function_of_the_seed():
    data = study().data
    assert all(torch.equal(a, b) for a, b in zip(draw_lists(data), draw_lists(data), strict=True))
    assert not torch.equal(draw_lists(data).train, draw_lists(data.model_copy(update={"seed": 1})).train)


def test_every_list_is_equally_likely():
    result = draw(60_000, numbers=4, length=2)
    counts = torch.bincount(result[:, 0] * 4 + result[:, 1], minlength=16).reshape(4, 4)
    assert counts.diagonal().sum() == 0
    others = counts[~torch.eye(4, dtype=torch.bool)]
    assert float(((others - 5000) ** 2 / 5000).sum()) < 31.3  # chi-squared with 11 degrees of freedom, p = 0.001


@pytest.mark.parametrize(("mean_gap", "expected"), [(None, 52 / 11), (52 / 11, 52 / 11), (1.0, 1.0), (2.3, 2.3)])
def test_the_mean_gap_is_what_the_setting_says(mean_gap, expected):
    result = draw(20_000, numbers=51, length=10, mean_gap=mean_gap)
    assert int(result.min()) >= 0 and int(result.max()) <= 50
    assert float(neighbour_gaps(result).double().mean()) == pytest.approx(expected, abs=0.02)
    assert int(neighbour_gaps(result).min()) >= 1


def test_the_nominal_gap_is_what_lists_are_drawn_for():
    assert Data(numbers=51, length=10).nominal_gap == pytest.approx(52 / 11)
    assert Data(numbers=51, length=10, mean_gap=2.3).nominal_gap == pytest.approx(2.3)


def test_digests_tell_conditions_that_differ_in_one_thing_alone():
    without = {"optimiser": "adam", "weight_decay": 0}
    digests = {
        name: {column: digest_without(variant, *left_out) for column, left_out in DIGEST_VARIANTS.items()}
        for name, variant in {
            "base": study(),
            "without": study(training=without),
            "without, other rate": study(training=without | {"learning_rate": 2e-3}),
            "near": study(data={"mean_gap": 2.0}),
            "more numbers": study(data={"numbers": 20}),
            "other seeds and steps kept": study(training={"seeds": [4], "checkpoints": [6], "save_every": 9}),
            "wider": study(model={"width": 12}),
        }.items()
    }
    base = digests.pop("base")
    same = {
        name: [column for column in DIGEST_VARIANTS if variant_digests[column] == base[column]]
        for name, variant_digests in digests.items()
    }
    assert same == {
        "without": ["but_decay"],
        "without, other rate": [],
        "near": ["but_data"],
        "more numbers": ["but_data"],
        "other seeds and steps kept": list(DIGEST_VARIANTS),
        "wider": [],
    }
    row = describe_condition(study(), draw_lists(study().data).held_out)
    assert {column: row[column] for column in DIGEST_VARIANTS} == base and row["nominal_gap"] == pytest.approx(13 / 5)


def test_a_gap_of_one_draws_neighbours_from_anywhere():
    result = draw(5000, numbers=6, length=3, mean_gap=1.0)
    assert {tuple(sorted(row)) for row in result.tolist()} == {(k, k + 1, k + 2) for k in range(4)}


def faults(**blocks) -> list[str]:
    values = {name: block | blocks.get(name, {}) for name, block in TINY.items()}
    with pytest.raises(ConfigError) as raised:
        parse(values, "sorting.yaml")
    return str(raised.value).split("\n")


@pytest.mark.parametrize(
    ("block", "changes", "named"),
    [
        ("data", {"length": 13}, ("length", 13, "numbers", 12)),
        ("data", {"mean_gap": 2.7}, ("mean_gap", 2.7, 1, 2.6)),
        ("data", {"mean_gap": 0.5}, ("mean_gap", 0.5)),
        ("data", {"numbers": 4, "held_out_lists": 13}, ("held_out_lists", 13, 24)),
        ("data", {"lenght": 4}, ("data.lenght", 4, "length")),
        ("data", {"numbers": 1}, ("data.numbers", 1, 2)),
        ("model", {"heads": 0}, ("model.heads", 0)),
        ("training", {"optimiser": "adam"}, ("weight_decay", 0.005, "optimiser", "'adam'")),
        ("training", {"weight_decay": 0}, ("optimiser", "'adam-l2'", "weight_decay")),
        ("training", {"optimiser": "sgd"}, ("training.optimiser", "'sgd'")),
        ("training", {"final_learning_rate": 0.1}, ("final_learning_rate", 0.1, "learning_rate", 0.001)),
        ("training", {"checkpoints": [13]}, ("checkpoints", 13)),
        ("training", {"batch_size": 301}, ("training.batch_size", 301, "data.train_lists", 300)),
        ("training", {"seeds": [1, 1]}, ("training.seeds", 1)),
    ],
)
def test_an_impossible_value_has_one_message(block, changes, named):
    first, *lines = faults(**{block: changes})
    assert mentions(first, "sorting.yaml")
    assert len(lines) == 1 and mentions(lines[0], block, *named), lines


def test_checkpoints_are_listed_or_on_a_logarithmic_grid():
    assert study().training.kept == [0, 4, 8, 12]
    training = study(training={"checkpoints": None, "per_decade": 2, "steps": 2000}).training
    assert training.kept == [0, 10, 32, 100, 316, 1000, 2000]
