"""Mean ablation against models from which components were really taken out, and means against a naive loop."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch
from conftest import make_encoded
from mentions import raises

from heuristic_core.interventions.evaluate import all_logits, draw_donors, subnetwork_logits
from heuristic_core.models.ablation import (
    Ablation,
    ComponentMeans,
    DonorActivations,
    Mask,
    component_means,
    gates_without,
    zero_means,
)
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.hooked import HookedModel
from heuristic_core.models.implementation import wrap_model


@pytest.fixture(scope="module")
def means(fused, pairs):
    return component_means(fused, pairs, torch.arange(len(pairs)).split(16))


def test_all_gates_open_is_the_full_model(fused, pairs, means):
    batch = pairs.batch(torch.arange(30))
    edit = Ablation(torch.ones(len(fused.grid)), means, fused.grid)
    assert torch.equal(fused.logits(batch, edit), fused.logits(batch))


@pytest.mark.parametrize("implementation", ["fused", "hooked"])
@pytest.mark.parametrize("removed", [[0], [5, 6], [12], [4, 5, 6, 7], [1, 2, 9, 11, 13, 14], list(range(15))])
def test_evaluation_equals_the_mask_for_either_implementation(bert, fused, pairs, means, removed, implementation):
    model = fused if implementation == "fused" else HookedModel(bert)
    gates = gates_without(removed, fused.grid)
    expected = all_logits(fused, pairs, Mask(gates, means, fused.grid))
    ours = subnetwork_logits(model, pairs, removed, means)
    torch.testing.assert_close(ours, expected, atol=1e-5, rtol=0)
    assert torch.equal(ours.argmax(-1), expected.argmax(-1))


def activations(bert, pair):
    """Context vectors and MLP outputs per layer of one pair, through plain hooks."""
    seen, hooks = {"head": [], "mlp": []}, []
    for layer in bert.bert.encoder.layer:
        hooks.append(layer.attention.output.dense.register_forward_pre_hook(lambda _, i: seen["head"].append(i[0][0])))
        hooks.append(layer.output.dense.register_forward_hook(lambda _, __, o: seen["mlp"].append(o[0])))
    bert(input_ids=pair.ids, token_type_ids=pair.types)
    for hook in hooks:
        hook.remove()
    return seen


@pytest.mark.parametrize("removed", [[1], [13], [0, 6, 9, 12]])
def test_zero_ablation_is_a_model_with_zeroed_output_weights(bert, fused, pairs, removed):
    batch = pairs.batch(torch.arange(40))
    masked = all_logits(fused, pairs, Mask(gates_without(removed, fused.grid), zero_means(fused), fused.grid))[:40]
    small = copy.deepcopy(bert)
    for component in (list(fused.grid)[index] for index in removed):
        layer = small.bert.encoder.layer[component.layer]
        if component.kind == "head":
            layer.attention.output.dense.weight[:, component.head * 8 : component.head * 8 + 8] = 0
        else:
            layer.output.dense.weight.zero_()
            layer.output.dense.bias.zero_()
    expected = small(input_ids=batch.ids, attention_mask=batch.mask().long(), token_type_ids=batch.types).logits
    torch.testing.assert_close(masked, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("removed", [[1], [13], [0, 6, 9, 12]])
def test_resample_ablation_puts_another_pairs_activations_in_place(bert, fused, pairs, removed):
    """Pair by pair against Hugging Face's modules with the donor's activations written in by hooks."""
    donors = PairTensors(draw_donors(make_encoded(90, seed=5), len(pairs), 3, 0))
    reference = DonorActivations(fused, pairs, donors)
    ours = all_logits(fused, pairs, Mask(gates_without(removed, fused.grid), reference, fused.grid))
    assert torch.equal(ours, subnetwork_logits(fused, pairs, removed, None, "resample", donors))
    full = all_logits(fused, pairs)
    for index in (0, 7, 20, 41):
        donor = activations(bert, donors.batch(torch.tensor([index])))
        length, donor_length = int(pairs.lengths[index]), len(donor["mlp"][0])
        tokens = [round(t * (donor_length - 1) / (length - 1)) for t in range(length)]
        assert tokens[0] == 0 and tokens[-1] == donor_length - 1
        hooks = []
        for component in (list(fused.grid)[i] for i in removed):
            layer, part = bert.bert.encoder.layer[component.layer], slice(None)
            if component.kind == "head":
                part = slice(component.head * 8, component.head * 8 + 8)

            def put(x, values=donor[component.kind][component.layer][tokens], part=part):
                x = x.clone()
                x[0, :, part] = values[:, part]
                return x

            if component.kind == "head":
                hook = layer.attention.output.dense.register_forward_pre_hook(lambda _, i, put=put: (put(i[0]),))
            else:
                hook = layer.output.dense.register_forward_hook(lambda _, __, o, put=put: put(o))
            hooks.append(hook)
        pair = pairs.batch(torch.tensor([index]))
        expected = bert(input_ids=pair.ids, token_type_ids=pair.types).logits[0]
        for hook in hooks:
            hook.remove()
        torch.testing.assert_close(ours[index], expected, atol=1e-4, rtol=0)
        assert not torch.allclose(ours[index], full[index], atol=1e-3)


def test_donors_as_long_as_their_pairs_give_activations_token_by_token(fused, pairs, encoded):
    """All components of the minimal pair in the place of a pair's: what the model says of the minimal pair."""
    rng = np.random.default_rng(1)
    words = encoded.special == 0
    ids = np.where(words & (rng.random(len(words)) < 0.3), rng.integers(5, 50, len(words)), encoded.ids)
    minimal = PairTensors(replace(encoded, ids=ids.astype(np.int32)))
    # The model classifies the first token, whose embedding both pairs share: all else of its stream is components'.
    everything, full = list(range(len(fused.grid))), all_logits(fused, pairs)
    ours = subnetwork_logits(fused, pairs, everything, None, "counterfactual", minimal)
    torch.testing.assert_close(ours, all_logits(fused, minimal), atol=1e-5, rtol=0)
    ablated = subnetwork_logits(fused, pairs, [0, 5], None, "counterfactual", minimal)
    assert not torch.allclose(ablated, full, atol=1e-3) and not torch.allclose(ablated, ours, atol=1e-3)


def test_donors_are_training_pairs_that_seed_and_draw_name():
    train = make_encoded(90, seed=5)
    of_train = {row.tobytes() for row in train.split_by_pair(train.ids)}

    def rows(*names):
        drawn = draw_donors(train, 400, *names)
        return [row.tobytes() for row in drawn.split_by_pair(drawn.ids)]

    assert rows(3, 0) == rows(3, 0) and len(rows(3, 0)) == 400
    assert set(rows(3, 0)) <= of_train
    assert rows(3, 0) != rows(3, 1) and rows(3, 0) != rows(4, 0)
    assert len(set(rows(3, 0))) > 80  # 400 draws of 90 pairs reach nearly all


def test_resample_ablation_needs_a_donor_for_each_pair(fused, pairs):
    with raises(ValueError, len(pairs), 3):
        DonorActivations(fused, pairs, PairTensors(make_encoded(3)))


def test_means_equal_a_naive_loop_over_hugging_face_activations(bert, fused, encoded, pairs, means):
    contexts, outputs, hooks = [[] for _ in range(3)], [[] for _ in range(3)], []
    for number, layer in enumerate(bert.bert.encoder.layer):
        hooks += [
            layer.attention.output.dense.register_forward_pre_hook(
                lambda _, inputs, number=number: contexts[number].append(inputs[0][0])
            ),
            layer.output.dense.register_forward_hook(
                lambda _, __, output, number=number: outputs[number].append(output[0])
            ),
        ]
    for pair in range(len(pairs)):  # one by one: no padding at all
        tokens = slice(encoded.offsets[pair], encoded.offsets[pair + 1])
        ids = torch.from_numpy(encoded.ids[tokens]).long()[None]
        types = torch.from_numpy(encoded.types[tokens]).long()[None]
        with torch.no_grad():
            bert(input_ids=ids, token_type_ids=types)
    for hook in hooks:
        hook.remove()
    for number in range(3):
        expected = torch.cat(contexts[number]).mean(0).view(4, 8)
        torch.testing.assert_close(means.heads[number], expected, atol=1e-5, rtol=0)
        torch.testing.assert_close(means.mlps[number], torch.cat(outputs[number]).mean(0), atol=1e-5, rtol=0)


def test_one_row_of_gates_per_pair(fused, pairs, means):
    index = torch.arange(12)
    batch = pairs.batch(index)
    rows = torch.rand(12, len(fused.grid), generator=torch.Generator().manual_seed(3))
    together = fused.logits(batch, Ablation(rows, means, fused.grid))
    for i in range(12):
        alone = fused.logits(batch, Ablation(rows[i], means, fused.grid))[i]
        torch.testing.assert_close(together[i], alone, atol=1e-5, rtol=0)


def test_gradient_reaches_every_gate_and_agrees_with_finite_differences(fused, pairs, means):
    weights = {k: v.double() for k, v in fused._weights.items()}
    config = {
        "model_type": "bert",
        "pad_token_id": 0,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "hidden_size": 32,
        "layer_norm_eps": 1e-12,
        "hidden_act": "gelu",
        "id2label": {"0": "a", "1": "b", "2": "c"},
    }
    model = type(fused)(config, weights)
    exact = ComponentMeans(means.heads.double(), means.mlps.double())
    gates = torch.linspace(0.2, 0.9, len(fused.grid), dtype=torch.float64, requires_grad=True)
    batch = pairs.batch(torch.arange(4))

    def outputs(z):
        return model.logits(batch, Ablation(z, exact, model.grid))

    assert torch.autograd.gradcheck(outputs, (gates,), atol=1e-6)
    (gradient,) = torch.autograd.grad(outputs(gates).square().sum(), gates)
    assert (gradient != 0).all()


def test_means_survive_their_file(means, tmp_path):
    means.save(tmp_path / "means.safetensors")
    again = ComponentMeans.load(tmp_path / "means.safetensors")
    assert torch.equal(again.heads, means.heads)
    assert torch.equal(again.mlps, means.mlps)


@pytest.mark.parametrize("precision", ["float16", "bfloat16"])
def test_means_over_many_tokens_in_half_precision(bert, precision):
    """A sum over this many tokens has no place in float16, and next to no digits in bfloat16."""
    many = PairTensors(make_encoded(4000))
    every = [torch.arange(len(many))]
    exact, result = (component_means(wrap_model(bert, p), many, every) for p in ("float32", precision))
    for name in ("heads", "mlps"):
        assert float((getattr(result, name) - getattr(exact, name)).abs().max()) < 0.02
