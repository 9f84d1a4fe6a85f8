"""The lean forward against Hugging Face's own."""

import json

import pytest
import torch
from conftest import make_encoded
from mentions import raises

from heuristic_core.common.errors import InputError
from heuristic_core.interventions.evaluate import all_logits
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.fused import FusedModel
from heuristic_core.models.fused_families import fused_family
from heuristic_core.models.implementation import load_model, wrap_model


def reference_logits(bert, batch):
    with torch.no_grad():
        return bert(input_ids=batch.ids, attention_mask=batch.mask().long(), token_type_ids=batch.types).logits


@pytest.mark.parametrize("all_positions", [False, True])
def test_equals_hugging_face_on_padded_batches(bert, fused, pairs, all_positions):
    batch = pairs.batch(torch.arange(40))
    assert not batch.mask().all()
    torch.testing.assert_close(
        fused.logits(batch, all_positions=all_positions), reference_logits(bert, batch), atol=1e-5, rtol=0
    )


def test_equals_hugging_face_without_padding(bert, fused, encoded, pairs):
    length = int(torch.mode(pairs.lengths).values)
    batch = pairs.batch(torch.nonzero(pairs.lengths == length).flatten())
    assert batch.real is None
    torch.testing.assert_close(fused.logits(batch), reference_logits(bert, batch), atol=1e-5, rtol=0)


def test_padding_does_not_change_a_pair(fused, pairs):
    together = fused.logits(pairs.batch(torch.arange(20)))
    alone = torch.cat([fused.logits(pairs.batch(torch.tensor([i]))) for i in range(20)])
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=0)


def test_all_logits_come_in_the_order_of_the_pairs(fused, pairs):
    expected = torch.cat([fused.logits(pairs.batch(torch.tensor([i]))) for i in range(len(pairs))])
    torch.testing.assert_close(all_logits(fused, pairs), expected, atol=1e-5, rtol=0)


def test_attention_equals_hugging_face(bert, fused, pairs):
    batch = pairs.batch(torch.arange(8))
    seen = {}
    fused.observe_attention(batch, seen.__setitem__)
    bert.set_attn_implementation("eager")
    with torch.no_grad():
        expected = bert(
            input_ids=batch.ids,
            attention_mask=batch.mask().long(),
            token_type_ids=batch.types,
            output_attentions=True,
        ).attentions
    bert.set_attn_implementation("sdpa")
    for layer, probabilities in enumerate(expected):
        torch.testing.assert_close(seen[layer], probabilities, atol=1e-5, rtol=0)


def test_labels_stand_in_logit_order(fused):
    assert fused.labels == ("entailment", "neutral", "contradiction")


@pytest.mark.parametrize(
    ("key", "value"), [("model_type", "llama"), ("hidden_act", "swish"), ("position_embedding_type", "relative_key")]
)
def test_a_forward_that_this_is_not_is_refused(checkpoint, key, value):
    config = json.loads((checkpoint / "config.json").read_text()) | {key: value}
    assert fused_family(config) is None
    with raises(ValueError, "model_type"):
        FusedModel(config, {})


def test_a_missing_gpu_is_said_before_anything_is_read(checkpoint):
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with raises(InputError, "device", "'cuda'", "'cpu'"):
        load_model(checkpoint, "cuda")


@pytest.mark.parametrize("longest", [12, 13, 14, 15, 16])
@pytest.mark.parametrize("padded", [False, True])
def test_filled_vectors_change_nothing(bert, longest, padded):
    """Lengths just short of 16, where masked keys are added, with and without padding among the pairs."""
    pairs = PairTensors(make_encoded(12, shortest=5 if padded else longest, longest=longest))
    index = torch.cat([torch.arange(11), pairs.lengths.argmax()[None]])
    batch = pairs.batch(index)
    torch.testing.assert_close(wrap_model(bert).logits(batch), reference_logits(bert, batch), atol=1e-5, rtol=0)


def test_part_of_a_set_is_cut_by_length_and_keeps_its_order_where_it_fits(pairs):
    among = torch.tensor([5, 3, 8, 1])
    assert [p.tolist() for p in pairs.split_by_length(1000, among)] == [[0, 1, 2, 3]]
    parts = list(pairs.split_by_length(20, among))
    assert sorted(torch.cat(parts).tolist()) == [0, 1, 2, 3]
    lengths = [int(pairs.lengths[among[p]].max()) for p in parts]
    assert lengths == sorted(lengths)


def test_batches_by_length_cover_every_pair_once_within_the_token_limit(pairs):
    batches = list(pairs.split_by_length(64))
    assert sorted(torch.cat(batches).tolist()) == list(range(len(pairs)))
    for index in batches:
        assert len(index) == 1 or len(index) * int(pairs.lengths[index].max()) <= 64


def test_batches_of_few_shapes_hold_the_same_pairs(encoded):
    """Lengths are rounded up, at most to the longest pair, and what is added is padding."""
    plain, rounded = PairTensors(encoded), PairTensors(encoded, multiple=4)
    for index in rounded.split_by_length(64):
        batch, expected = rounded.batch(index), plain.batch(index)
        ids, tokens, longest = batch.ids, batch.ids.shape[1], expected.ids.shape[1]
        assert longest <= tokens < longest + 4 and (tokens % 4 == 0 or tokens == plain.longest)
        assert len(index) == 1 or len(index) * tokens <= 64
        assert torch.equal(ids[:, :longest], expected.ids) and not ids[:, longest:].any()
        assert torch.equal(batch.mask(), ids != 0)


def test_pair_tensors_hold_the_encoded_pairs(encoded):
    pairs = PairTensors(encoded)
    batch = pairs.batch(torch.tensor([3, 4]))
    for row, pair in enumerate((3, 4)):
        tokens = encoded.ids[encoded.offsets[pair] : encoded.offsets[pair + 1]]
        assert batch.ids[row, : len(tokens)].tolist() == tokens.tolist()
        assert batch.mask()[row].sum() == len(tokens)
