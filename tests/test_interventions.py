"""Edits of heads, queries, keys and values: against Hugging Face's own modules, and against computing by hand."""

import pytest
import torch
from conftest import make_encoded
from families import CASES, make_model
from mentions import raises

from heuristic_core.common.errors import InputError
from heuristic_core.models.ablation import Ablation, component_means, gates_without
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.hooked import HookedModel, model_inputs
from heuristic_core.models.implementation import wrap_model
from heuristic_core.models.interventions import Patch, Recorder, Replacement, mean_source
from heuristic_core.models.model import PROJECTIONS

PAIRS = 16
SHARED = ("gemma2", "llama", "llama-wide-heads", "mistral", "qwen2", "qwen3")  # with fewer keys than queries
SPLIT = [case for case in CASES if not case.startswith("deberta") and case not in SHARED]
EVERY = ("head", *PROJECTIONS)


class Setting:
    """A model of a family in both implementations (the fused one may be the hooked one again), and a padded batch."""

    def __init__(self, case: str):
        self.case, self.bare = case, make_model(case)
        self.hooked, self.view = HookedModel(self.bare), wrap_model(self.bare)
        self.pairs = PairTensors(make_encoded(PAIRS, seed=5), self.hooked.pad)
        self.batch, self.grid = self.pairs.batch(torch.arange(PAIRS)), self.hooked.grid
        self.means = component_means(self.hooked, self.pairs, torch.arange(PAIRS).split(8))

    @property
    def heads(self) -> list[int]:
        return [c.index for c in self.grid if c.kind == "head"]


@pytest.fixture(scope="module", params=SPLIT)
def setting(request):
    return Setting(request.param)


@pytest.fixture(scope="module")
def bert():
    return Setting("bert")


def close(ours, theirs):
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)  # other shapes of products round otherwise


@pytest.mark.parametrize("all_positions", [True, False])
def test_identity_patches_change_nothing(setting, all_positions):
    for model in (setting.hooked, setting.view):
        clean = Recorder(EVERY)
        logits = model.logits(setting.batch, clean, all_positions=all_positions)
        unchanged = [Replacement(setting.heads, clean.activations, kind) for kind in EVERY]
        again = model.logits(setting.batch, Patch(setting.grid, *unchanged), all_positions=all_positions)
        assert torch.equal(logits, again)
        close(logits, model.logits(setting.batch))


def test_both_implementations_see_the_same(setting):
    """Of families whose rotary positions or norms come after the maps too: both are called before them."""
    seen = []
    for model in (setting.hooked, setting.view):
        recorder = Recorder(EVERY)
        model.logits(setting.batch, recorder, all_positions=True)
        seen.append(recorder.activations)
    assert seen[0].keys() == seen[1].keys()
    real = setting.batch.mask()
    for key, value in seen[0].items():
        assert value.shape == (PAIRS, setting.batch.ids.shape[1], setting.grid.heads, setting.hooked.head_size)
        torch.testing.assert_close(value[real], seen[1][key][real], atol=1e-5, rtol=1e-5)


def test_other_queries_keys_and_values_are_what_other_weights_give(setting):
    """Doubling what a head's map gives, by an edit, equals doubling the rows of its weights."""
    family, size, count = setting.hooked.family, setting.hooked.head_size, setting.grid.heads
    if len({id(layer) for layer in setting.hooked._layers}) < setting.grid.layers:
        pytest.skip("layers share their weights")
    head, layer = 1, 1
    for kind in PROJECTIONS:
        number = PROJECTIONS.index(kind)
        first = {
            "separate": head * size,
            "stacked": (number * count + head) * size,
            "interleaved": (head * 3 + number) * size,
        }[family.order]
        other = make_model(setting.case)
        name = family.projections[number if family.order == "separate" else 0]
        projection = family.layers(other)[layer].get_submodule(name)
        rows = slice(first, first + size)
        weight = projection.weight if isinstance(projection, torch.nn.Linear) else projection.weight.T
        weight[rows] *= 2
        if projection.bias is not None:
            projection.bias[rows] *= 2

        def doubled(seen, at, x, kind=kind):
            return x * (1 + (torch.arange(count) == head)[:, None]) if (seen, at) == (kind, layer) else x

        doubled.projections = True
        expected = other(**model_inputs(other, setting.batch)).logits
        for model in (setting.hooked, setting.view):
            result = model.logits(setting.batch, doubled)
            assert not torch.allclose(result, model.logits(setting.batch), atol=1e-4)
            torch.testing.assert_close(result, expected, atol=1e-5, rtol=1e-5)


def test_recorded_projections_are_the_outputs_of_hugging_faces_modules(bert):
    expected = {}
    handles = [
        layer.get_submodule(f"attention.self.{kind}").register_forward_hook(
            lambda _, inputs, output, key=(kind, number): expected.__setitem__(key, output)
        )
        for number, layer in enumerate(bert.bare.bert.encoder.layer)
        for kind in PROJECTIONS
    ]
    bert.bare(**model_inputs(bert.bare, bert.batch))
    for handle in handles:
        handle.remove()
    for model in (bert.hooked, bert.view):
        recorder = Recorder(PROJECTIONS)
        model.logits(bert.batch, recorder, all_positions=True)
        assert recorder.activations.keys() == expected.keys()
        for key, value in recorder.activations.items():
            torch.testing.assert_close(value.flatten(-2), expected[key], atol=2e-6, rtol=0)


def test_patching_means_is_mean_ablation(setting):
    removed = [1, 6]
    for model in (setting.hooked, setting.view):
        edit = Ablation(gates_without(removed, setting.grid), setting.means, setting.grid)
        patch = Patch(setting.grid, Replacement(removed, mean_source(setting.means)))
        assert torch.equal(model.logits(setting.batch, edit), model.logits(setting.batch, patch))


def test_a_later_part_overrides_an_earlier_one(bert):
    clean = Recorder(("head",))
    logits = bert.view.logits(bert.batch, clean)
    ablate, restore = Replacement([0, 5], mean_source(bert.means)), Replacement([0, 5], clean.activations)
    assert torch.equal(bert.view.logits(bert.batch, Patch(bert.grid, ablate, restore)), logits)
    assert not torch.allclose(bert.view.logits(bert.batch, Patch(bert.grid, restore, ablate)), logits)


@pytest.mark.parametrize("kind", PROJECTIONS)
def test_attention_is_observed_under_an_edit(bert, kind):
    """Where heads' outputs are frozen, queries and keys of one head change its attention alone, and values none."""
    clean, observed, changed = Recorder(EVERY), {}, {}
    bert.view.logits(bert.batch, clean, all_positions=True)
    other = {key: value.flip(0) for key, value in clean.activations.items()}
    frozen = Replacement(bert.heads, clean.activations), Replacement([5], other, kind)
    for model in (bert.view, bert.hooked):
        model.observe_attention(bert.batch, observed.__setitem__)
        model.observe_attention(bert.batch, changed.__setitem__, Patch(bert.grid, *frozen))
        for layer in range(bert.grid.layers):
            moved = (observed[layer] - changed[layer]).abs().amax((0, 2, 3)) > 1e-4
            assert moved.nonzero().flatten().tolist() == ([1] if layer == 1 and kind != "value" else [])


@pytest.mark.parametrize("case", ["deberta-v2", "llama"])
def test_a_family_whose_projections_cannot_be_split_is_refused_and_named(case):
    setting = Setting(case)
    with raises(InputError, "model_type", CASES[case][0]):
        setting.hooked.logits(setting.batch, Recorder(PROJECTIONS))
    setting.hooked.logits(setting.batch, Recorder(("head",)))  # heads alone can be edited


def test_an_edit_that_wants_no_projections_is_not_called_with_them(bert):
    for model in (bert.view, bert.hooked):
        kinds = set()
        model.logits(bert.batch, lambda kind, layer, x, kinds=kinds: kinds.add(kind) or x)
        assert kinds == {"head", "mlp"}
