"""Circuits of list-sorting models: every measure by hand."""

import pytest
import torch
from list_sorting import random_parameters, study

from heuristic_core.experiments.list_sorting import circuits as c
from heuristic_core.experiments.list_sorting.data import draw_lists, make_sequences
from heuristic_core.experiments.list_sorting.model import run_models

OV = torch.tensor(
    [
        [[4.0, 0, 2, 9], [0, 0, 3, 9], [6, 0, 0, 9], [9, 9, 9, 9]],  # raises 0, lowers 1 and 2
        [[-3.0, 0, 0, 9], [0, 3, 0, 9], [0, 0, 6, 9], [9, 9, 9, 9]],  # lowers 0, raises 1 and 2
    ]
)[None]
D = torch.tensor([[[2.0, -1.0, -2.0], [-2.0, 2.0, 4.0]]])


def test_the_diagonal_is_relative_to_the_row_and_leaves_the_separator_out():
    torch.testing.assert_close(c.diagonal(OV), D)


@pytest.mark.parametrize(
    ("d", "both", "opposite"),
    [
        (D[0].tolist(), 0.0, 1.0),
        ([[1.0, 2.0], [1.0, 2.0]], 1.0, 0.0),
        ([[1.0, 2.0], [3.0, -1.0]], 0.5, 0.5),
        ([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], 1 / 6, 0.0),
    ],
)
def test_measures_of_two_heads(d, both, opposite):
    d = torch.tensor(d)[None]
    for measure, expected in ((c.both_copy, both), (c.opposite_sign, opposite)):
        assert float(measure(d)) == pytest.approx(expected)


def test_what_is_undefined_is_nan():
    single_head = torch.ones(2, 1, 3)
    for measure in (c.both_copy, c.opposite_sign):
        assert measure(single_head).isnan().tolist() == [True, True]


def test_the_effective_rank_of_equal_singular_values_is_their_number():
    centring = torch.eye(5, dtype=torch.float64) - 0.2  # four singular values of 1
    assert float(c.effective_rank(centring)) == pytest.approx(4)
    rank_one = torch.outer(torch.arange(5.0), torch.arange(5.0)).double()
    assert float(c.effective_rank(rank_one)) == pytest.approx(1)
    assert float(c.effective_rank(rank_one + 100 * torch.arange(5.0)[:, None])) == pytest.approx(1)  # a constant by row
    s = torch.tensor([3.0, 1.0, 0, 0, 0]).double()
    rotation = torch.linalg.qr(torch.randn(5, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64))[0]
    centred = torch.zeros(5, 5, dtype=torch.float64)
    centred[0, :2], centred[1, 2:4] = torch.tensor([1.0, -1]), torch.tensor([1.0, -1])
    assert float(c.effective_rank(rotation @ torch.diag(s) @ centred)) == pytest.approx(100 / 82)


def test_attention_by_distance():
    """One list of two of four numbers: 3 1 | 1 3. The one query that is a number is 1, before it are 3, 1, | and 1."""
    tokens = torch.tensor([[3, 1, 4, 1, 3]])
    attention = torch.tensor([[[[[0.5, 0.5, 0.0, 0.0], [0.4, 0.3, 0.2, 0.1]]]]])
    result = c.average_attention_by_distance(attention, tokens, 4)
    assert result.pairs.tolist() == [[0, 0, 0, 1, 0, 1, 0], [0, 0, 0, 1, 0, 0, 0]]
    assert result.attention[0, 0, 0, 3].item() == pytest.approx(0.3)
    assert result.attention[0, 0, 0, 5].item() == pytest.approx(0.4)
    assert result.attention[0, 0, 1, 3].item() == pytest.approx(0.1)
    assert int(result.attention.isnan().sum()) == 14 - 3


def test_attention_by_distance_counts_no_key_after_its_query():
    made = study()
    tokens = make_sequences(draw_lists(made.data).held_out, made.data)
    attention = run_models(random_parameters(made.data, made.model), tokens).attention
    result = c.average_attention_by_distance(attention, tokens, 12)
    assert int(result.pairs[0].sum()) == 40 * 3 * 4 and int(result.pairs[1].sum()) == 40 * (1 + 2 + 3)
    assert not result.pairs[1, 12:].any()  # among the sorted numbers so far none is larger
    total = (result.attention.nan_to_num() * result.pairs).sum((-2, -1))
    separator = attention[:, :, :, 1:, 4].double().sum((1, 3))
    torch.testing.assert_close(total + separator, torch.full((2, 2), 120.0, dtype=torch.float64))
