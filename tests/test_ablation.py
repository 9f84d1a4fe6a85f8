"""Mean ablation against models from which components were really taken out, and means against a naive loop."""

import copy

import pytest
import torch

from heuristic_core.ablation import ComponentMeans, MeanAblation, component_means, gates_without


@pytest.fixture(scope="module")
def means(fused, pairs):
    return component_means(fused, pairs, torch.arange(len(pairs)).split(16))


def test_all_gates_open_is_the_full_model(fused, pairs, means):
    batch = pairs.batch(torch.arange(30))
    edit = MeanAblation(torch.ones(len(fused.grid)), means, fused.grid)
    assert torch.equal(fused.logits(batch, edit), fused.logits(batch))


def physically_without(bert, removed, means, grid):
    """A Hugging Face model in which removed components are cut out and their means folded into output biases."""
    small = copy.deepcopy(bert)
    size = small.config.hidden_size // grid.heads
    with torch.no_grad():
        for index in removed:
            component = list(grid)[index]
            layer = small.bert.encoder.layer[component.layer]
            if component.kind == "head":
                output = layer.attention.output.dense
                rows = slice(component.head * size, (component.head + 1) * size)
                output.bias += output.weight[:, rows] @ means.heads[component.layer, component.head]
                output.weight[:, rows] = 0
            else:
                layer.output.dense.weight.zero_()
                layer.output.dense.bias.copy_(means.mlps[component.layer])
    return small


@pytest.mark.parametrize("removed", [[0], [5, 6], [12], [1, 2, 9, 11, 13, 14], list(range(15))])
def test_closed_gates_equal_the_physically_smaller_model(bert, fused, pairs, means, removed):
    batch = pairs.batch(torch.arange(40))
    masked = fused.logits(batch, MeanAblation(gates_without(removed, fused.grid), means, fused.grid))
    small = physically_without(bert, removed, means, fused.grid)
    with torch.no_grad():
        expected = small(input_ids=batch.ids, attention_mask=batch.mask().long(), token_type_ids=batch.types).logits
    torch.testing.assert_close(masked, expected, atol=1e-5, rtol=0)
    assert torch.equal(masked.argmax(-1), expected.argmax(-1))


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
    together = fused.logits(batch, MeanAblation(rows, means, fused.grid))
    for i in range(12):
        alone = fused.logits(batch, MeanAblation(rows[i], means, fused.grid))[i]
        torch.testing.assert_close(together[i], alone, atol=1e-5, rtol=0)


def test_gradient_reaches_every_gate_and_agrees_with_finite_differences(fused, pairs, means):
    weights = {k: v.double() for k, v in fused._weights.items()}
    config = {
        "model_type": "bert",
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
        return model.logits(batch, MeanAblation(z, exact, model.grid))

    assert torch.autograd.gradcheck(outputs, (gates,), atol=1e-6)
    (gradient,) = torch.autograd.grad(outputs(gates).square().sum(), gates)
    assert (gradient != 0).all()


def test_means_survive_their_file(means, tmp_path):
    means.save(tmp_path / "means.safetensors")
    again = ComponentMeans.load(tmp_path / "means.safetensors")
    assert torch.equal(again.heads, means.heads)
    assert torch.equal(again.mlps, means.mlps)
