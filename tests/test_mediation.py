"""Mediation and path patching against the same edits written out by hand."""

import numpy as np
import pytest
import torch
from conftest import make_encoded
from families import make_model

from heuristic_core.interventions.mediation import mediated_logits
from heuristic_core.interventions.path_patching import donor_from_pairs, path_logits
from heuristic_core.models.ablation import component_means
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.fused import FusedModel
from heuristic_core.models.hooked import HookedModel
from heuristic_core.models.interventions import mean_source
from heuristic_core.models.model import PROJECTIONS

PAIRS, HEADS = 20, 4
CORE = [1, 6]  # heads 0.1 and 1.2


class Setting:
    def __init__(self, model):
        self.model = model
        self.encoded = make_encoded(PAIRS, seed=7)
        self.pairs = PairTensors(self.encoded, model.pad)
        self.means = component_means(model, self.pairs, torch.arange(PAIRS).split(8)).to(model)
        self.donors = PairTensors(self.encoded.take(np.arange(PAIRS)), model.pad)


@pytest.fixture(scope="module", params=["fused", "hooked", "hooked decoder", "fused decoder"])
def setting(request):
    """In float64, so that batches and single pairs agree to far more digits than are asked for."""
    bare = make_model("gpt2" if "decoder" in request.param else "bert").double()
    fused = FusedModel(bare.config.to_dict(), bare.state_dict()) if "fused" in request.param else None
    return Setting(fused or HookedModel(bare))


def close(ours, theirs):
    torch.testing.assert_close(ours.double(), theirs.double(), atol=1e-6, rtol=1e-6)


def by_hand(setting, pair, edit=None):
    """Logits of one pair on every row, and what was seen, by (kind, layer); edit: (kind, layer, x) -> x."""
    seen = {}

    def noted(kind, layer, x):
        x = x if edit is None else edit(kind, layer, x)
        seen[kind, layer] = x
        return x

    noted.projections = True
    batch = setting.pairs.batch(torch.tensor([pair]))
    return setting.model.logits(batch, noted, all_positions=True)[0], seen


def replaced(*changes):
    """An edit that copies one head's values after another; changes: (kind, head, values by (kind, layer))."""

    def edit(kind, layer, x):
        x = x.clone()
        for of, head, values in changes:
            if (of, head // HEADS) == (kind, layer):
                x[:, :, head % HEADS] = values[kind, layer][..., head % HEADS, :]
        return x

    return edit


def ablation(setting, heads):
    return [("head", head, mean_source(setting.means)) for head in heads]


def test_mediation_equals_exchanging_outputs_by_hand(setting):
    sets = [[9], [4, 8, 11]]
    full, (result,) = mediated_logits(setting.model, setting.pairs, setting.means, [(CORE, sets)])
    for pair in (0, 7, 19):
        logits, clean = by_hand(setting, pair)
        close(full[pair], logits)
        logits, ablated = by_hand(setting, pair, replaced(*ablation(setting, CORE)))
        close(result.ablated[pair], logits)
        for k, heads in enumerate(sets):
            restored = [*ablation(setting, CORE), *(("head", head, clean) for head in heads)]
            close(result.restored[k, pair], by_hand(setting, pair, replaced(*restored))[0])
            transmitted = [("head", head, ablated) for head in heads]
            close(result.transmitted[k, pair], by_hand(setting, pair, replaced(*transmitted))[0])


def test_nothing_restored_is_the_ablation_and_everything_is_the_full_model(setting):
    every = list(range(3 * HEADS))
    later = [head for head in range(HEADS, 3 * HEADS) if head not in CORE]
    full, (result,) = mediated_logits(setting.model, setting.pairs, setting.means, [(CORE, [[], every, later])])
    batch, small = (
        setting.pairs.batch(torch.arange(PAIRS)),
        setting.model.remove_components(CORE, *vars(setting.means).values()),
    )
    close(full, setting.model.logits(batch))
    close(result.ablated, small.logits(batch))
    assert torch.equal(result.restored[0], result.ablated) and torch.equal(result.transmitted[0], full)
    assert torch.equal(result.restored[1], full)
    assert not torch.allclose(result.restored[2], full, atol=1e-4)  # without the core's direct path


def test_an_empty_core_is_the_full_model(setting):
    full, (result,) = mediated_logits(setting.model, setting.pairs, setting.means, [([], [[5]])])
    assert all(torch.equal(item, full) for item in (result.ablated, result.restored[0], result.transmitted[0]))


@pytest.mark.parametrize("donated", ["means", "pairs"])
@pytest.mark.parametrize("senders", [[1], CORE, [10]])
def test_paths_equal_loops_by_hand(setting, senders, donated):
    if donated == "pairs":  # a pair of as many tokens with other words
        ids = setting.pairs._ids.clone()
        setting.donors._ids = torch.where((ids > 4) & (ids < 45), ids + 3, ids)
        donor = donor_from_pairs(setting.model, setting.donors)
    else:
        donor = lambda index: mean_source(setting.means)  # noqa: E731
    every = range(3 * HEADS)
    receivers = [head for head in every if head // HEADS > min(senders) // HEADS and head not in senders]
    full, (result,) = path_logits(setting.model, setting.pairs, donor, [(senders, receivers)])
    for pair in (0, 11):
        logits, clean = by_hand(setting, pair)
        close(full[pair], logits)
        values = mean_source(setting.means)
        if donated == "pairs":
            true_pairs, setting.pairs = setting.pairs, setting.donors
            values = by_hand(setting, pair)[1]
            setting.pairs = true_pairs
        sent = [("head", head, values) for head in senders]
        close(result.total[pair], by_hand(setting, pair, replaced(*sent))[0])
        frozen = [("head", head, clean) for head in every if head not in senders]
        logits, changed = by_hand(setting, pair, replaced(*frozen, *sent))
        close(result.direct[pair], logits)
        for k, receiver in enumerate(receivers):
            for j, kind in enumerate(PROJECTIONS):
                edit = replaced((kind, receiver, changed))
                close(result.through_receivers[k, j, pair], by_hand(setting, pair, edit)[0])
                if kind != "value":
                    close(result.attention_shift[k, j, pair], moved(setting, pair, edit, receiver))


def moved(setting, pair, edit, receiver):
    """Total variation of one receiver's attention under `edit`, before which nothing else has changed."""
    edit.projections = True
    batch, seen = setting.pairs.batch(torch.tensor([pair])), ({}, {})
    for applied, into in zip((None, edit), seen, strict=True):
        setting.model.observe_attention(batch, into.__setitem__, applied)
    before, after = (item[receiver // HEADS][0, receiver % HEADS] for item in seen)
    return torch.stack([(b - a).abs().sum() / 2 for a, b in zip(before, after, strict=True)]).mean()


def test_donors_that_are_the_pairs_themselves_change_nothing(setting):
    full, (result,) = path_logits(
        setting.model, setting.pairs, donor_from_pairs(setting.model, setting.pairs), [([1], [4, 9])]
    )
    for logits in (result.total, result.direct, *result.through_receivers.flatten(0, 1)):
        close(logits, full)
    assert result.attention_shift.abs().max() < 1e-6
