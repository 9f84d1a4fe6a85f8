"""Every family: hooks and fused forward against Hugging Face's own, masks against physically smaller models."""

import pytest
import torch
from amounts import amount
from conftest import make_encoded
from families import CASES, SMALLER_ONLY, make_model
from mentions import raises

from heuristic_core.common.errors import InputError
from heuristic_core.models.ablation import Ablation, ComponentMeans, component_means, gates_without
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.families import FAMILIES, get_family
from heuristic_core.models.fused import FusedModel
from heuristic_core.models.fused_families import FUSED_FAMILIES
from heuristic_core.models.hooked import HookedModel, model_inputs
from heuristic_core.models.implementation import load_model, wrap_model
from heuristic_core.models.shrink import shrink, zero_components

PAIRS = 24


class Setting:
    """One family's model, wrapped, with a padded batch and means that differ from component to component."""

    def __init__(self, case: str):
        self.case, self.model = case, make_model(case)
        self.hooked = HookedModel(self.model)
        self.grid = self.hooked.grid
        self.encoded = make_encoded(PAIRS, seed=3)
        self.pairs = PairTensors(self.encoded, self.hooked.pad)
        self.batch = self.pairs.batch(torch.arange(PAIRS))
        self.means = component_means(self.hooked, self.pairs, torch.arange(PAIRS).split(8))

    def expected(self, model=None):
        return (model or self.model)(**model_inputs(self.model, self.batch)).logits

    def masked(self, removed, model=None):
        edit = Ablation(gates_without(removed, self.grid), self.means, self.grid)
        return (model or self.hooked).logits(self.batch, edit)

    def removals(self):
        """Nothing; one head; a whole layer's heads; one MLP; a random half; everything."""
        draws, size, heads = torch.Generator().manual_seed(1), len(self.grid), self.grid.layers * self.grid.heads
        half = sorted(torch.randperm(size, generator=draws)[: size // 2].tolist())
        return [[], [1], list(range(4, 8)), [heads + 1], [heads], half, list(range(size))]

    def some_removals(self):
        """A random half and everything; the others, too, where all cases are asked for."""
        return self.removals()[-1 - amount(7) :]


@pytest.fixture(scope="module", params=list(CASES))
def setting(request):
    return Setting(request.param)


def close(ours, theirs, atol=1e-5):
    torch.testing.assert_close(ours, theirs, atol=atol, rtol=0)
    assert torch.equal(ours.argmax(-1), theirs.argmax(-1))


def test_every_family_has_a_case():
    assert {model_type for model_type, _ in CASES.values()} == set(FAMILIES)
    assert set(FUSED_FAMILIES) <= set(FAMILIES)


def test_without_edits_and_with_open_gates_it_is_the_model_itself(setting):
    assert setting.batch.real is not None  # the batch is padded
    close(setting.hooked.logits(setting.batch), setting.expected())
    close(setting.masked([]), setting.expected())


def test_padding_changes_no_pair(setting):
    together = setting.masked([2, 5])
    for i in range(0, PAIRS, 5):
        alone = setting.pairs.batch(torch.tensor([i]))
        edit = Ablation(gates_without([2, 5], setting.grid), setting.means, setting.grid)
        torch.testing.assert_close(setting.hooked.logits(alone, edit)[0], together[i], atol=1e-5, rtol=0)


def test_closed_gates_equal_the_physically_smaller_model(setting):
    for removed in setting.removals():
        small = shrink(setting.model, removed, setting.means.heads, setting.means.mlps)
        close(setting.masked(removed), setting.expected(small))
        before, after = (sum(p.numel() for p in m.parameters()) for m in (setting.model, small))
        if removed and "albert" not in setting.case and setting.grid.heads == setting.model.config.num_attention_heads:
            kv = getattr(setting.model.config, "num_key_value_heads", None)
            assert after < before or kv == 2  # shared keys and values become one set per head


@pytest.mark.sampled
def test_the_ordinary_checkpoint_loads_without_us_and_says_the_same(setting, tmp_path):
    from transformers import AutoModelForSequenceClassification

    for number, removed in enumerate(setting.some_removals()):
        if removed and setting.case in SMALLER_ONLY:
            with raises(InputError, type(setting.model).__name__, "workflow/scripts/evaluate.py"):
                zero_components(setting.model, removed, setting.means.heads, setting.means.mlps)
            continue
        zero_components(setting.model, removed, setting.means.heads, setting.means.mlps).save_pretrained(
            tmp_path / str(number)
        )
        loaded = AutoModelForSequenceClassification.from_pretrained(tmp_path / str(number)).eval()
        with torch.no_grad():
            close(setting.masked(removed), setting.expected(loaded))


@pytest.mark.sampled
def test_zero_ablation_has_an_ordinary_checkpoint_in_every_family(setting):
    zero = ComponentMeans(torch.zeros_like(setting.means.heads), torch.zeros_like(setting.means.mlps))
    for removed in setting.some_removals():
        edit = Ablation(gates_without(removed, setting.grid), zero, setting.grid)
        expected = setting.hooked.logits(setting.batch, edit)
        close(setting.expected(zero_components(setting.model, removed, zero.heads, zero.mlps)), expected)
        close(setting.hooked.remove_components(removed, zero.heads, zero.mlps).logits(setting.batch), expected)


@pytest.mark.parametrize("case", [case for case in CASES if "-" not in case or case.startswith("deberta")])
def test_a_dropout_rate_of_zero_leaves_no_dropout(case):
    """The family names every one of its rates: two passes in training mode agree."""
    model_type = CASES[case][0]
    model = make_model(case, **dict.fromkeys(get_family(model_type).dropout, 0.0)).train()
    batch = PairTensors(make_encoded(4)).batch(torch.arange(4))
    first, second = (model(**model_inputs(model, batch)).logits for _ in range(2))
    assert torch.equal(first, second)
    noisy = make_model(case, **dict.fromkeys(get_family(model_type).dropout, 0.3)).train()
    assert not torch.equal(*(noisy(**model_inputs(noisy, batch)).logits for _ in range(2)))


def test_gradients_reach_every_gate_and_agree_with_finite_differences(setting):
    gates = torch.linspace(0.3, 0.9, len(setting.grid)).requires_grad_()
    weight = torch.linspace(-1, 1, 3)

    def value(z):
        return (setting.hooked.logits(setting.batch, Ablation(z, setting.means, setting.grid)) @ weight).sum()

    (gradient,) = torch.autograd.grad(value(gates), gates)
    assert (gradient != 0).all()
    direction = torch.randn(len(gates), generator=torch.Generator().manual_seed(0))
    step = 1e-3
    with torch.no_grad():
        slope = (value(gates + step * direction) - value(gates - step * direction)) / (2 * step)
    assert float(gradient @ direction) == pytest.approx(float(slope), rel=0.02, abs=0.02)


def test_means_equal_a_loop_over_single_pairs(setting):
    """Without padding and one by one: what each component puts out, pooled over all tokens of all pairs."""
    seen = {}

    def collect(kind, layer, x):
        seen.setdefault((kind, layer), []).append(x[0].double())
        return x

    for i in range(PAIRS):
        setting.hooked.logits(setting.pairs.batch(torch.tensor([i])), collect)
    for layer in range(setting.grid.layers):
        heads, mlp = torch.cat(seen["head", layer]).mean(0), torch.cat(seen["mlp", layer]).mean(0)
        torch.testing.assert_close(setting.means.heads[layer].double(), heads, atol=1e-5, rtol=0)
        torch.testing.assert_close(setting.means.mlps[layer].double(), mlp, atol=1e-5, rtol=0)


def test_attention_rows_are_distributions_over_what_may_be_attended(setting):
    seen = {}
    setting.hooked.observe_attention(setting.batch, seen.__setitem__)
    assert sorted(seen) == list(range(setting.grid.layers))
    real = setting.batch.mask()
    for probabilities in seen.values():
        rows = probabilities.transpose(1, 2)[real]  # [tokens, H, T]
        torch.testing.assert_close(rows.sum(-1), torch.ones(rows.shape[:2]), atol=1e-5, rtol=0)
    close(setting.hooked.logits(setting.batch), setting.expected())  # and left no trace


def test_a_checkpoint_is_found_by_its_configuration(setting, tmp_path):
    setting.model.save_pretrained(tmp_path)
    loaded = load_model(tmp_path)
    plain = setting.case not in ("gpt2-scaled",)
    assert isinstance(
        loaded, FusedModel if setting.model.config.model_type in FUSED_FAMILIES and plain else HookedModel
    )
    close(loaded.logits(setting.batch), setting.expected())
    assert loaded.labels == ("entailment", "neutral", "contradiction")
    close(setting.masked([0, 6], loaded), setting.masked([0, 6]))


FUSED = [case for case, (kind, _) in CASES.items() if kind in FUSED_FAMILIES and case != "gpt2-scaled"]


@pytest.fixture(scope="module", params=FUSED)
def both(request):
    setting = Setting(request.param)
    return setting, wrap_model(setting.model)


def test_fused_and_hooked_are_equal(both):
    setting, fused = both
    assert isinstance(fused, FusedModel)
    for removed in setting.removals():
        close(setting.masked(removed, fused), setting.masked(removed))
        edit = Ablation(gates_without(removed, setting.grid), setting.means, setting.grid)
        close(fused.logits(setting.batch, edit, all_positions=True), setting.masked(removed))
    theirs, ours = {}, {}
    setting.hooked.observe_attention(setting.batch, theirs.__setitem__)
    fused.observe_attention(setting.batch, ours.__setitem__)
    real = setting.batch.mask()
    for layer, probabilities in theirs.items():
        for h in range(setting.grid.heads):
            torch.testing.assert_close(ours[layer][:, h][real], probabilities[:, h][real], atol=1e-5, rtol=0)


def test_the_last_layer_computes_the_classified_row_alone(both):
    """Unless every row is asked for."""
    setting, fused = both
    for all_positions, last in ((False, 1), (True, setting.batch.ids.shape[1])):
        rows = {}

        def look(kind, layer, x, rows=rows):
            rows[kind, layer] = x.shape[1]
            return x

        fused.logits(setting.batch, look, all_positions=all_positions)
        expected = [setting.batch.ids.shape[1]] * (setting.grid.layers - 1) + [last]
        assert [rows["head", layer] for layer in range(setting.grid.layers)] == expected
        assert [rows["mlp", layer] for layer in range(setting.grid.layers)] == expected


def test_fused_without_components_equals_the_mask(both):
    setting, fused = both
    for removed in setting.removals():
        small = fused.remove_components(removed, setting.means.heads, setting.means.mlps)
        close(small.logits(setting.batch), setting.masked(removed))


def test_fused_means_and_gradients_equal_hooked_ones(both):
    setting, fused = both
    means = component_means(fused, setting.pairs, torch.arange(PAIRS).split(8))
    torch.testing.assert_close(means.heads, setting.means.heads, atol=1e-5, rtol=0)
    torch.testing.assert_close(means.mlps, setting.means.mlps, atol=1e-5, rtol=0)
    gradients = []
    for model in (setting.hooked, fused):
        gates = torch.linspace(0.2, 0.9, len(setting.grid)).requires_grad_()
        logits = model.logits(setting.batch, Ablation(gates, setting.means, setting.grid))
        gradients += torch.autograd.grad(logits.square().sum(), gates)
    torch.testing.assert_close(*gradients, atol=1e-3, rtol=1e-4)


def test_fused_dropout_is_hugging_faces(both):
    """Same generator, same places, same rates: the same logits."""
    setting, fused = both
    logits = []
    for model in (setting.hooked, fused):
        torch.manual_seed(5)
        logits.append(model.logits(setting.batch, all_positions=True, dropout=True))
    torch.testing.assert_close(*logits, atol=1e-5, rtol=0)
    assert not torch.allclose(logits[0], setting.expected(), atol=1e-3)
    assert not setting.model.training
