"""Heads that are copied compute what their sources compute, in every family."""

import pytest
import torch
from conftest import make_encoded
from families import CASES, make_model
from mentions import raises
from torch.testing import assert_close

from heuristic_core.common.errors import InputError
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.families import get_family
from heuristic_core.models.head_weights import copy_heads, weight_matrix
from heuristic_core.models.hooked import HookedModel

SHARE_LAYERS = ["albert", "albert-groups"]
SHARE_KEYS = ["llama", "llama-wide-heads", "mistral", "qwen2", "qwen3", "gemma2"]
SOURCES = [1, 1, 3, 3]


def read_contexts(model):
    """Context vectors of every layer, [B, T, H, dh] each."""
    contexts = []

    def read(kind, layer, x):
        if kind == "head":
            contexts.append(x)
        return x

    HookedModel(model).logits(PairTensors(make_encoded(8)).batch(torch.arange(8)), read)
    return contexts


@pytest.mark.parametrize("case", [case for case in CASES if case not in SHARE_LAYERS + SHARE_KEYS])
def test_a_copied_head_computes_and_writes_what_its_source_does(case):
    model = make_model(case)
    first = read_contexts(model)[0]
    copy_heads(model, SOURCES)
    contexts = read_contexts(model)
    assert_close(contexts[0], first[..., SOURCES, :])  # later layers read other inputs than before
    for context in contexts:
        assert_close(context, context[..., SOURCES, :])
    family = get_family(model.config.model_type)
    for layer in family.layers(model):
        written = weight_matrix(layer.get_submodule(family.output)).unflatten(1, (4, -1))
        assert torch.equal(written, written[:, SOURCES])


@pytest.mark.parametrize("case", SHARE_LAYERS[:1] + SHARE_KEYS)
def test_heads_that_share_weights_are_refused(case):
    model = make_model(case)
    with raises(InputError, "model_type", model.config.model_type):
        copy_heads(model, SOURCES)
