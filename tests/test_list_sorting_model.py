"""The models of the list-sorting experiment against a plain one, and what can be changed in their heads."""

import pytest
import torch
from list_sorting import Plain, random_parameters, study

from heuristic_core.experiments.list_sorting.config import Data, Model
from heuristic_core.experiments.list_sorting.data import draw_lists, make_sequences
from heuristic_core.experiments.list_sorting.model import (
    HeadReplacement,
    compute_logits,
    compute_losses,
    initialise_parameters,
    parameter_shapes,
    run_models,
)

VARIANTS = [
    {},
    {"heads": 3},
    {"heads": 1},
    {"layer_norm": False},
    {"biases": False},
    {"layer_norm": False, "biases": False},
    {"positions": False},
]


def make_inputs(**changes):
    """Data, parameters of two models, and sequences."""
    made = study(model=changes)
    return (
        made.data,
        random_parameters(made.data, made.model),
        make_sequences(draw_lists(made.data).held_out, made.data),
    )


def test_the_size_of_arenas_model_includes_every_embedding_bias_and_norm():
    """All of token and position embeddings, with the separator and the last position, four matrices and their biases,
    two LayerNorms with gain and bias, unembedding and its bias."""
    made = parameter_shapes(Data(), Model())
    assert sum(torch.Size(shape).numel() for shape in made.values()) == 49_684
    assert made["token"] == (52, 96) and made["position"] == (21, 96)


@pytest.mark.parametrize("changes", VARIANTS)
def test_logits_are_those_of_a_plain_model(changes):
    _, parameters, tokens = make_inputs(**changes)
    exact = {name: value.double() for name, value in parameters.items()}
    result, rounded = compute_logits(exact, tokens), compute_logits(parameters, tokens)
    for m in range(2):
        torch.testing.assert_close(result[m], Plain(exact, m)(tokens), rtol=0, atol=1e-10)
        torch.testing.assert_close(rounded[m], result[m].float(), rtol=1e-5, atol=1e-5)


def test_gradients_are_those_of_a_plain_model():
    _, parameters, tokens = make_inputs()
    leaves = {name: value.requires_grad_() for name, value in parameters.items()}
    compute_losses(leaves, tokens).mean(-1).sum().backward()
    gradients = {name: value.grad.clone() for name, value in leaves.items()}
    for value in leaves.values():
        value.grad = None
    targets = tokens[:, 5:].flatten()
    for m in range(2):
        plain = Plain(leaves, m)
        torch.nn.functional.cross_entropy(plain(tokens).flatten(0, 1), targets).backward()
    for name in leaves:  # a LayerNorm's gradients parameters are copies in the plain model, and have no gradient there
        if "gain" not in name and name not in ("norm_bias", "final_bias"):
            torch.testing.assert_close(gradients[name], leaves[name].grad, rtol=1e-4, atol=1e-6)


def test_a_model_is_the_same_bytes_alone_and_among_others_on_its_own_lists():
    _, parameters, tokens = make_inputs()
    both = torch.stack([tokens, tokens.flip(0)])
    together = compute_logits(parameters, both)
    for m in range(2):
        alone = {name: value[m : m + 1] for name, value in parameters.items()}
        assert torch.equal(compute_logits(alone, both[m])[0], together[m])


def test_a_query_sees_no_later_token():
    _, parameters, tokens = make_inputs()
    before, other = compute_logits(parameters, tokens), tokens.clone()
    other[:, 6:] = other[:, 6:].flip(0)
    assert torch.equal(compute_logits(parameters, other)[:, :, :2], before[:, :, :2])
    assert not torch.equal(compute_logits(parameters, other)[:, :, 2:], before[:, :, 2:])
    attention = run_models(parameters, tokens).attention
    assert attention.shape == (2, 40, 2, 4, 8)
    torch.testing.assert_close(attention.sum(-1), torch.ones(2, 40, 2, 4))
    assert [int(row.count_nonzero()) for row in attention[0, 0, 0]] == [5, 6, 7, 8]


def test_a_replaced_head_is_a_head_with_that_context():
    _, parameters, tokens = make_inputs()
    keep, nothing = torch.tensor([1.0, 0.0]), torch.zeros(())
    result = compute_logits(parameters, tokens, HeadReplacement(keep, nothing))
    for m in range(2):
        torch.testing.assert_close(result[m], Plain(parameters, m)(tokens, without=(1,)), rtol=1e-5, atol=1e-6)
    cached = run_models(parameters, tokens).contexts
    torch.testing.assert_close(
        compute_logits(parameters, tokens, HeadReplacement(keep, cached)), compute_logits(parameters, tokens)
    )
    assert torch.equal(
        compute_logits(parameters, tokens, HeadReplacement(torch.ones(2), nothing)), compute_logits(parameters, tokens)
    )


def test_first_weights_depend_on_the_seed_alone():
    made = study()
    three, single = (
        initialise_parameters(made.data, made.model, (1, 2, 3)),
        initialise_parameters(made.data, made.model, (2,)),
    )
    assert all(torch.equal(three[name][1:2], single[name]) for name in single)
    assert not torch.equal(three["query"][0], three["query"][1])
    wide = initialise_parameters(Data(), Model(), (0,))
    assert float(wide["key"].std()) == pytest.approx(0.8 / 96**0.5, rel=0.03)
    assert set(wide["norm_gain"].flatten().tolist()) == {1.0} and not wide["key_bias"].any()
