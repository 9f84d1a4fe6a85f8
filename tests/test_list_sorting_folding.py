"""Folded matrices of list-sorting models against the models themselves, where folding is exact and where it is not."""

import pytest
import torch
from list_sorting import random_parameters, study

from heuristic_core.experiments.list_sorting import folding as f
from heuristic_core.experiments.list_sorting.circuits import fold_circuits
from heuristic_core.experiments.list_sorting.data import draw_lists, make_sequences
from heuristic_core.experiments.list_sorting.model import run_models


def make_inputs(**changes):
    made = study(model=changes)
    parameters = random_parameters(made.data, made.model)
    return {k: v.double() for k, v in parameters.items()}, make_sequences(draw_lists(made.data).held_out, made.data)


def without_positions(**changes):
    """Models to which all positions are alike, and in which nothing but the heads speaks: folding is exact."""
    parameters, tokens = make_inputs(**changes)
    parameters["position"][:] = 0
    return parameters, tokens


def fold_attention(qk, tokens):
    """What a softmax over the folded scores of earlier tokens gives, [M, B, H, L, 2 L]."""
    length = tokens.shape[1] // 2
    scores = qk[:, :, tokens[:, length:-1, None], tokens[:, None, :-1]].permute(0, 2, 1, 3, 4)
    later = torch.full((length, 2 * length), -torch.inf).triu(length + 1)
    return torch.softmax(scores + later, -1)


def written_logits(parameters, ov, attention, tokens):
    """Logits of the heads alone by the folded matrices, [M, B, L, V]."""
    return torch.einsum("mbhij,mhbjv->mbiv", attention, ov[:, :, tokens[:, :-1]])


@pytest.mark.parametrize("changes", [{}, {"layer_norm": False}, {"biases": False}, {"heads": 3}])
def test_without_positions_the_folded_scores_give_the_models_attention(changes):
    parameters, tokens = without_positions(**changes)
    torch.testing.assert_close(
        fold_attention(fold_circuits(parameters).qk, tokens), run_models(parameters, tokens).attention
    )


@pytest.mark.parametrize("changes", [{"layer_norm": False}, {"layer_norm": False, "biases": False, "heads": 3}])
def test_without_positions_and_layer_norm_folded_logits_are_the_models(changes):
    parameters, tokens = without_positions(**changes)
    result, length = run_models(parameters, tokens), tokens.shape[1] // 2
    rest = (
        result.residual @ parameters["unembed"][:, None]
        + parameters.get("unembed_bias", torch.zeros(2, 13))[:, None, None]
    )
    expected = rest + written_logits(parameters, fold_circuits(parameters).ov, result.attention, tokens)
    assert length == 4
    torch.testing.assert_close(result.logits, expected)


def test_with_layer_norm_folded_logits_are_the_models_but_for_one_factor_per_sorted_number():
    """The heads' share of the logits, times that number's own scale, is exact; the matrices have the mean scale."""
    parameters, tokens = without_positions()
    result = run_models(parameters, tokens)
    residual = result.residual + torch.einsum("mblhw,mhwd->mbld", result.contexts, parameters["output"])
    scale = (residual.var(-1, unbiased=False) + 1e-5) ** -0.5
    direct = result.residual
    direct = (
        (direct - direct.mean(-1, keepdim=True))
        * parameters["final_gain"][:, None, None]
        @ parameters["unembed"][:, None]
    )
    constant = parameters["final_bias"][:, None] @ parameters["unembed"] + parameters["unembed_bias"][:, None]
    heads = written_logits(parameters, fold_circuits(parameters).ov, result.attention, tokens)
    torch.testing.assert_close(result.logits, scale[..., None] * (direct + heads) + constant[:, None])
    mean = f.final_scales(parameters, result).mean((1, 2))
    torch.testing.assert_close(mean, scale.mean((1, 2)))
    torch.testing.assert_close(fold_circuits(parameters, mean).ov, fold_circuits(parameters).ov * mean.view(2, 1, 1, 1))


def test_with_positions_the_error_of_folding_is_in_proportion_to_them():
    parameters, tokens = make_inputs()
    errors = []
    for share in (1e-2, 1e-3):
        model = parameters | {"position": share * parameters["position"]}
        result, near = run_models(model, tokens), f.measure_folding(model, tokens)
        exact = fold_attention(fold_circuits(model).qk, tokens) - result.attention
        torch.testing.assert_close(near.attention, exact.abs().sum(-1).mean((1, 3)) / 2)
        errors.append(near.attention)
    assert (errors[1] < 0.15 * errors[0]).all() and (errors[0] < 0.1).all() and (errors[1] > 0).all()


def test_the_error_of_folding_is_none_where_folding_is_exact():
    parameters, tokens = without_positions(layer_norm=False)
    near = f.measure_folding(parameters, tokens)
    assert near.attention.shape == near.written.shape == (2, 2)
    assert float(near.attention.max()) < 1e-12 and float(near.written.max()) < 1e-12
    assert near.agreement.tolist() == [[1, 1], [1, 1]]


def test_the_error_of_what_heads_write_is_a_share_of_its_variance():
    """With matrices of twice the size the error is all of what a head writes."""
    parameters, tokens = without_positions(layer_norm=False)
    result = run_models(parameters, tokens)
    twice = fold_circuits(parameters)._replace(ov=2 * fold_circuits(parameters).ov)
    torch.testing.assert_close(f.written_error(parameters, tokens, result, twice.ov), torch.ones(2, 2).double())


def test_what_a_head_writes_by_number_is_the_sum_over_its_keys():
    parameters, tokens = make_inputs()
    result, length = run_models(parameters, tokens), 4
    residual = result.residual + torch.einsum("mblhw,mhwd->mbld", result.contexts, parameters["output"])
    scale = (residual.var(-1, unbiased=False) + 1e-5) ** -0.5
    expected = torch.zeros(13, 13, dtype=torch.float64)
    for b, sequence in enumerate(tokens):
        for key in range(2 * length):
            written = result.values[1, b, key, 0] @ parameters["output"][1, 0]
            rows = (written - written.mean()) * parameters["final_gain"][1] @ parameters["unembed"][1]
            expected[sequence[key]] += rows * (scale[1, b] * result.attention[1, b, 0, :, key]).sum()
    torch.testing.assert_close(f.sum_logits_by_number(parameters, tokens, result)[1, 0], expected)


def test_agreement_is_a_share_of_the_numbers_that_lists_have():
    """Matrices that are wrong of one of ten numbers agree on nine; what they say of two others does not matter."""
    parameters, tokens = without_positions(layer_norm=False)
    tokens = tokens[(tokens[:, :4] < 10).all(-1)]
    assert set(tokens[:, :4].flatten().tolist()) == set(range(10))
    result, ov = run_models(parameters, tokens), fold_circuits(parameters).ov
    ov[0, 1, [0, 10, 11]] *= -1
    assert f.agreement(parameters, tokens, result, ov).tolist() == [[1, 0.9], [1, 1]]
