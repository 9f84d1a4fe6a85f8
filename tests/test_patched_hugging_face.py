"""Mediation and path patching of BERT against plain hooks on Hugging Face's modules, which share no code with edits."""

import pytest
import torch
from conftest import make_encoded
from families import make_model

from heuristic_core.interventions.mediation import mediated_logits
from heuristic_core.interventions.path_patching import path_logits
from heuristic_core.models.ablation import component_means
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.fused import FusedModel
from heuristic_core.models.hooked import HookedModel
from heuristic_core.models.interventions import mean_source

PAIRS, LAYERS, HEADS, SIZE = 12, 3, 4, 8
CORE, SET, RECEIVER = (1, 6), (4, 9), 9  # heads 0.1 and 1.2; heads 1.0 and 2.1
PLACES = {"head": "attention.output.dense", **{kind: f"attention.self.{kind}" for kind in ("query", "key", "value")}}
QUERY, VALUE = 0, 2  # places of parts in what path_logits finds


@pytest.fixture(scope="module")
def bare():
    return make_model("bert").double()


@pytest.fixture(scope="module")
def encoded():
    return make_encoded(PAIRS, seed=11)


@pytest.fixture(scope="module", params=["fused", "hooked"])
def model(request, bare):
    return HookedModel(bare) if request.param == "hooked" else FusedModel(bare.config.to_dict(), bare.state_dict())


@pytest.fixture(scope="module")
def means(bare, encoded):
    model = HookedModel(bare)
    return component_means(model, PairTensors(encoded, model.pad), torch.arange(PAIRS).split(4)).to(model)


class ByHand:
    """One pair through Hugging Face's model, unpadded: its logits, and what heads put out and attend with."""

    def __init__(self, bare, encoded, pair):
        ids, types = (
            torch.tensor(encoded.split_by_pair(flat)[pair].astype(int))[None] for flat in (encoded.ids, encoded.types)
        )
        self._bare, self._inputs = bare, {"input_ids": ids, "token_type_ids": types}

    def run(self, *changes):
        """changes: (kind, head, values by (kind, layer)), in order. Values are [1, T, hidden], or [hidden]."""
        seen, handles = {}, []

        def replaced(kind, layer, x):
            x = x.clone()
            for of, head, values in changes:
                if (of, head // HEADS) == (kind, layer):
                    columns = slice(head % HEADS * SIZE, (head % HEADS + 1) * SIZE)
                    x[..., columns] = values[kind, layer][..., columns]
            seen[kind, layer] = x
            return x

        for number, layer in enumerate(self._bare.bert.encoder.layer):
            for kind, name in PLACES.items():
                module = layer.get_submodule(name)
                if kind == "head":
                    hook = lambda _, inputs, at=number: (replaced("head", at, inputs[0]),)  # noqa: E731
                    handles.append(module.register_forward_pre_hook(hook))
                else:
                    hook = lambda _, inputs, output, kind=kind, at=number: replaced(kind, at, output)  # noqa: E731
                    handles.append(module.register_forward_hook(hook))
        try:
            with torch.no_grad():
                return self._bare(**self._inputs).logits[0], seen
        finally:
            for handle in handles:
                handle.remove()


def ablation(means, heads):
    values = {("head", layer): mean_source(means)["head", layer].reshape(-1) for layer in range(LAYERS)}
    return [("head", head, values) for head in heads]


def close(ours, theirs):
    torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=0)


@pytest.mark.parametrize("pair", [0, 7])
def test_restored_and_transmitted_logits(model, bare, encoded, means, pair):
    full, (result,) = mediated_logits(model, PairTensors(encoded, model.pad), means, [(CORE, [SET])])
    hand = ByHand(bare, encoded, pair)
    logits, clean = hand.run()
    close(full[pair], logits)
    logits, ablated = hand.run(*ablation(means, CORE))
    close(result.ablated[pair], logits)
    restored, _ = hand.run(*ablation(means, CORE), *(("head", head, clean) for head in SET))
    transmitted, _ = hand.run(*(("head", head, ablated) for head in SET))
    close(result.restored[0, pair], restored)
    close(result.transmitted[0, pair], transmitted)
    for item in (logits, restored, transmitted):
        assert (item - full[pair]).abs().max() > 1e-3  # otherwise nothing is compared
    assert (restored - logits).abs().max() > 1e-3


@pytest.mark.parametrize("pair", [0, 7])
def test_direct_effects_on_logits_and_through_queries_and_values_of_a_head(model, bare, encoded, means, pair):
    full, (result,) = path_logits(
        model, PairTensors(encoded, model.pad), lambda index: mean_source(means), [(CORE, [RECEIVER])]
    )
    hand = ByHand(bare, encoded, pair)
    _, clean = hand.run()
    frozen = [("head", head, clean) for head in range(LAYERS * HEADS) if head not in CORE]
    direct, changed = hand.run(*frozen, *ablation(means, CORE))
    close(result.direct[pair], direct)
    for kind, place in (("query", QUERY), ("value", VALUE)):
        through, _ = hand.run((kind, RECEIVER, changed))
        close(result.through_receivers[0, place, pair], through)
        assert (through - full[pair]).abs().max() > 1e-4
    assert (direct - full[pair]).abs().max() > 1e-3
