"""Decoders of Hugging Face in the experiment's own terms: the same logits, and scores as they are defined."""

import pytest
import torch
from decoders import DECODERS, make_decoder
from extractive import STEP, fall
from mentions import raises

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.extractive_structures.answers import compute_losses
from heuristic_core.experiments.extractive_structures.counterfactuals import contrast
from heuristic_core.experiments.extractive_structures.decoders import convert_parameters, load_parameters
from heuristic_core.experiments.extractive_structures.model import apply_mlp, attend, repeat_heads, run, run_from
from heuristic_core.experiments.extractive_structures.parameters import CONSTANT_PREFIX, count_layers, select_weights
from heuristic_core.experiments.extractive_structures.patching import measure_replacement
from heuristic_core.experiments.extractive_structures.removal import restore_component
from heuristic_core.experiments.extractive_structures.scores import compute_first_order
from heuristic_core.experiments.extractive_structures.tokens import Queries

TOKENS = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6], [2, 7, 1, 8, 2, 8, 1, 8]])
family = pytest.mark.parametrize("name", DECODERS)


def doubled(name: str) -> dict[str, torch.Tensor]:
    """Parameters in float64."""
    return {key: value.double() for key, value in convert_parameters(make_decoder(name)).items()}


def changed(p: dict, by: float, seed: int = 3) -> dict[str, torch.Tensor]:
    rng = torch.Generator().manual_seed(seed)

    def near(key: str, value: torch.Tensor) -> torch.Tensor:
        moves = key[0].isdigit() and value.dim() > 1
        return value + by * torch.randn(value.shape, generator=rng, dtype=value.dtype) if moves else value

    return {key: near(key, value) for key, value in p.items()}


@family
def test_logits_are_those_of_transformers(name):
    model = make_decoder(name)
    result = run(convert_parameters(model), TOKENS).logits
    torch.testing.assert_close(result, model(TOKENS).logits, rtol=2e-5, atol=2e-5)


@family
def test_every_constant_matters(name):
    p = convert_parameters(make_decoder(name))
    whole = run(p, TOKENS).logits
    for key in (key for key in p if key.startswith(CONSTANT_PREFIX)):
        other = torch.tensor(0) if key.endswith("activation") else p[key] * 1.5 + 0.01
        assert not torch.equal(run(p | {key: other}, TOKENS).logits, whole), key


@family
def test_components_alone_give_the_runs_outputs(name):
    p = convert_parameters(make_decoder(name))
    whole = run(p, TOKENS)
    for number, layer in enumerate(whole.layers):
        torch.testing.assert_close(attend(p, number, layer.attention_input), layer.context)
        torch.testing.assert_close(apply_mlp(p, number, layer.mlp_input), layer.mlp)
        torch.testing.assert_close(run_from(p, layer.residual, first=number).logits, whole.logits)


def made(name: str, by: float):
    old = doubled(name)
    queries = Queries(TOKENS, torch.tensor([7, 6]), torch.tensor([11, 12, 13, 14]), torch.tensor([2, 0]))
    return contrast(old, changed(old, by), queries, 1, 1)


@family
def test_scores_are_finite_differences_of_their_definition(name):
    """Each informative score is the slope of R as the component's own matrices learn at one token."""
    of, by = made(name, 0.01), 1e-4
    result = compute_first_order(of)
    part_of_change = {
        key: value + by * (of.new[key] - value) if not key.startswith(CONSTANT_PREFIX) else value
        for key, value in of.old.items()
    }
    full = measure_replacement(of._replace(new=part_of_change))["informative"] / by
    seen = ~result["informative"].isnan()
    assert seen.sum() == (8 + 7) * count_layers(of.old) * 5
    torch.testing.assert_close(result["informative"][seen], full[seen], rtol=2e-3, atol=1e-7)
    moved = measure_replacement(made(name, 1e-6))["downstream"]
    small = compute_first_order(made(name, 1e-6))["downstream"]
    torch.testing.assert_close(small[seen], moved[seen], rtol=1e-2, atol=1e-11)


@family
def test_scores_are_slopes_of_runs_that_know_nothing_of_them(name):
    """Of shifted outputs, and of runs whose weights are moved a little; all prompts are of one length."""
    of = made(name, 0.01)
    of = of._replace(queries=of.queries._replace(last=torch.tensor([7, 7])))
    of = contrast(of.old, of.new, of.queries, 1, 1)
    result = compute_first_order(of)
    old, new = (run(p, TOKENS).layers for p in (of.old, of.new))
    heads, inner = attend(of.old, 1, new[1].attention_input), apply_mlp(of.old, 1, new[1].mlp_input)
    for token in range(8):
        expected = fall(of, of.old, (1, "mlp"), inner, token)
        torch.testing.assert_close(result["downstream"][:, token, 1, 4], expected, rtol=1e-4, atol=1e-9)
        for head in range(4):
            expected = fall(of, of.old, (1, "context"), heads, token, head)
            torch.testing.assert_close(result["downstream"][:, token, 1, head], expected, rtol=1e-4, atol=1e-9)
    for part in range(5):
        whole, ends = restore_component(of.old, of.new, 1, part if part < 4 else None), []
        for step in (STEP, -STEP):
            near = {}
            for key, value in of.old.items():
                if key.startswith(CONSTANT_PREFIX):
                    near[key] = value
                    continue
                aligned = value if value.shape == whole[key].shape else repeat_heads(value, 4)  # shared keys and values
                near[key] = aligned + step * (whole[key] - aligned)
            ends.append(compute_losses(run(near, TOKENS).logits, of.queries))
        slope = -(ends[0] - ends[1]) / (2 * STEP)
        torch.testing.assert_close(result["informative"][:, :, 1, part].nansum(1), slope, rtol=1e-4, atol=1e-9)
    partnered = ~result["upstream"][..., 1, 4].isnan()
    assert partnered.any()
    for token in partnered.all(0).nonzero()[:, 0].tolist():
        partner = of.partners[torch.arange(2), 0, token]
        other = old[1].mlp[of.others[:, 0], partner] - old[1].mlp[:, token]
        shifted = [item[1].mlp.index_add(1, torch.tensor([token]), other[:, None]) for item in (old, new)]
        slopes = [fall(of, p, (1, "mlp"), to, token) for p, to in zip((of.old, of.new), shifted, strict=True)]
        torch.testing.assert_close(result["upstream"][:, token, 1, 4], slopes[0] - slopes[1], rtol=1e-3, atol=1e-9)


@family
def test_all_heads_restored_are_the_former_attention(name):
    old = doubled(name)
    now = new = changed(old, 0.1)
    for head in range(4):
        now = restore_component(now, old, 1, head)
    before, after, taught = (run(p, TOKENS).layers[1].attention_input for p in (old, now, new))
    assert torch.equal(after, taught)  # layer 0 is as it was taught
    torch.testing.assert_close(attend(now, 1, after), attend(old, 1, after))
    assert not torch.equal(before, after)
    without = restore_component(now, old, 1, None)
    torch.testing.assert_close(apply_mlp(without, 1, after), apply_mlp(old, 1, after))


@family
def test_folder_is_loaded_as_it_was_saved(tmp_path, name):
    model = make_decoder(name)
    model.save_pretrained(tmp_path)
    result, expected = load_parameters(tmp_path), convert_parameters(model)
    assert result.keys() == expected.keys()
    assert all(torch.equal(value, expected[key]) for key, value in result.items())
    assert select_weights(result, "layers") == {key for key in result if key[0].isdigit()} and count_layers(result) == 2


def test_another_family_is_named(tmp_path):
    from transformers import GPT2Config, GPT2LMHeadModel

    GPT2LMHeadModel(GPT2Config(n_layer=1, n_embd=8, n_head=2, vocab_size=9)).save_pretrained(tmp_path)
    with raises(InputError, "model_type", "gpt2", "olmo", "llama", "gemma2", "qwen2"):
        load_parameters(tmp_path)


def test_the_answers_loss_reaches_every_parameter():
    p = {key: value.requires_grad_(not key.startswith(CONSTANT_PREFIX)) for key, value in doubled("qwen2").items()}
    queries = Queries(TOKENS, torch.tensor([7, 6]), torch.tensor([11, 12]), torch.tensor([1, 0]))
    compute_losses(run(p, TOKENS).logits, queries).sum().backward()
    learns = [key for key in p if not key.startswith(CONSTANT_PREFIX)]
    # A key's bias adds the same to all of a query's scores where positions do not turn it: here they do.
    assert all(p[key].grad.abs().max() > 0 for key in learns)
