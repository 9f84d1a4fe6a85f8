"""Heads that are taken out of a model stay out, and it computes what zero ablation of them computes."""

import pytest
import torch
from conftest import make_encoded
from families import CASES, make_model
from mentions import raises
from test_finetune import LABELS, MODEL, SETTINGS

from heuristic_core.common.errors import InputError
from heuristic_core.interventions.evaluate import all_logits, subnetwork_logits
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.close_heads import close_heads
from heuristic_core.models.families import get_family
from heuristic_core.models.hooked import HookedModel
from heuristic_core.models.implementation import wrap_model
from heuristic_core.models.pretrained import build_classifier
from heuristic_core.training.finetune import finetune
from heuristic_core.training.stepper import Stepper

HEADS = [(0, 1), (2, 0), (2, 3)]


def read_context(model, layer, head):
    """What the layer's output projection reads of a head's context, [8, out], a copy."""
    family = get_family(model.config.model_type)
    output = family.layers(model)[layer].get_submodule(family.output)
    inputs = output.weight.T if isinstance(output, torch.nn.Linear) else output.weight
    return inputs.detach()[head * 8 : (head + 1) * 8].clone()


@pytest.mark.parametrize("case", ["bert", "gpt2"])
def test_closed_heads_stay_zero_over_steps_of_adamw_with_weight_decay(case):
    model, pairs = make_model(case).requires_grad_(True).train(), PairTensors(make_encoded(16))
    close_heads(model, HEADS)
    before = read_context(model, 0, 0)
    settings = SETTINGS.model_copy(update={"weight_decay": 0.1, "dropout": 0.0})
    stepper = Stepper(model, pairs, settings)
    for step in range(5):
        stepper.step(torch.arange(16)[step : step + 8], 1e-2)
    assert all((read_context(model, *head) == 0).all() for head in HEADS)
    assert (read_context(model, 0, 0) != before).all()  # the head beside a closed one learns


def test_a_lesioned_run_that_was_cut_off_resumes_to_the_same_weights(tmp_path):
    class Cut(Exception):
        pass

    def trained(state, cut=None):
        model = build_classifier(MODEL, LABELS, 50, 0, 1, SETTINGS.dropout)
        close_heads(model, [(0, 1), (1, 0)])

        def keep(step):
            if step == cut:
                raise Cut

        finetune(model, make_encoded(50), make_encoded(30, seed=1), SETTINGS, 1, keep, lambda *_: None, state)
        return model

    whole = trained(tmp_path / "whole.safetensors")
    with pytest.raises(Cut):
        trained(tmp_path / "cut.safetensors", cut=12)
    resumed = trained(tmp_path / "cut.safetensors")
    assert all(
        torch.equal(expected, actual) for expected, actual in zip(whole.parameters(), resumed.parameters(), strict=True)
    )
    assert all((read_context(resumed, *head) == 0).all() for head in ((0, 1), (1, 0)))
    assert not (read_context(resumed, 0, 0) == 0).any()


@pytest.mark.parametrize("case", sorted(set(CASES) - {"albert", "albert-groups"}))
def test_a_model_with_closed_heads_computes_what_zero_ablation_of_them_does(case):
    model = make_model(case).requires_grad_(True)
    hooked = HookedModel(model)
    pairs = PairTensors(make_encoded(24, seed=3), hooked.pad)
    removed = [layer * hooked.grid.heads + head for layer, head in HEADS]
    expected = subnetwork_logits(hooked, pairs, removed, None, "zero")
    whole = all_logits(hooked, pairs)
    close_heads(model, HEADS)
    torch.testing.assert_close(all_logits(wrap_model(model), pairs), expected, atol=1e-5, rtol=0)
    assert not torch.allclose(whole, expected, atol=1e-3)


@pytest.mark.parametrize("case", ["albert", "albert-groups"])
def test_weights_of_several_layers_cannot_be_closed_in_one(case):
    with raises(InputError, "albert"):
        close_heads(make_model(case), HEADS)


def test_an_unknown_family_is_named(bert):
    other = type(bert)(bert.config)
    other.config = type("Config", (), {"model_type": "mamba"})()
    with raises(InputError, "mamba"):
        close_heads(other, HEADS)
