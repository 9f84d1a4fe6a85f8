"""What single families do in their own way: padding of decoders, grouped queries, shared layers."""

import pytest
import torch
from conftest import make_encoded
from families import make_model
from mentions import raises
from test_families import Setting, close

from heuristic_core.common.errors import InputError
from heuristic_core.models.ablation import Ablation, ComponentMeans, gates_without
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.families import get_family
from heuristic_core.models.hooked import HookedModel, model_inputs
from heuristic_core.models.implementation import wrap_model


@pytest.mark.parametrize("case", ["gpt2", "llama", "qwen3", "gpt_neox"])
def test_a_decoder_classifies_the_last_token_that_is_not_padding(case):
    """Also where a pair ends in the padding token itself, and with a padding token other than 0."""
    model = make_model(case, pad_token_id=7)
    encoded = make_encoded(6, seed=2)
    encoded.ids[encoded.offsets[3] - 1] = 7
    pairs = PairTensors(encoded, 7)
    batch = pairs.batch(torch.arange(6))
    assert (batch.ids[~batch.mask()] == 7).all()
    expected = model(**model_inputs(model, batch)).logits
    close(wrap_model(model).logits(batch), expected)
    close(HookedModel(model).logits(batch), expected)
    left = batch.ids.flip(-1), batch.mask().flip(-1)  # the same tokens in another order must not pass unnoticed
    assert not torch.allclose(model(input_ids=left[0], attention_mask=left[1].long()).logits, expected, atol=1e-3)


def test_a_decoder_without_a_padding_token_is_refused():
    with raises(ValueError, "pad_token_id"):
        wrap_model(make_model("gpt2", pad_token_id=None))


def test_an_unknown_family_is_refused_with_those_that_are_known():
    with raises(InputError, "model_type", "t5", "bert", "roberta", "qwen3", "families.py"):
        get_family("t5")


def test_grouped_queries_share_keys_but_not_components():
    setting = Setting("llama")
    assert setting.model.config.num_key_value_heads == 2
    assert setting.grid.heads == 4
    first_masked, second_masked = setting.masked([0]), setting.masked([1])  # two query heads of one group
    assert not torch.allclose(first_masked, second_masked, atol=1e-3)


def test_albert_counts_applications_of_its_shared_layer():
    setting = Setting("albert")
    assert setting.grid.layers == 3
    first, second = setting.masked([0]), setting.masked([4])  # head 0 in the first and in the second application
    assert not torch.allclose(first, second, atol=1e-3)
    assert not torch.allclose(setting.means.heads[0], setting.means.heads[1], atol=1e-3)


def test_means_are_what_a_removed_component_puts_out():
    """Zero means and true means differ: the mask really uses its reference."""
    setting = Setting("bert")
    zero = ComponentMeans(torch.zeros_like(setting.means.heads), torch.zeros_like(setting.means.mlps))
    gates = gates_without([0, 3], setting.grid)
    with_zero = setting.hooked.logits(setting.batch, Ablation(gates, zero, setting.grid))
    assert not torch.allclose(with_zero, setting.masked([0, 3]), atol=1e-3)
