"""The embedded model against one written plainly, and how it learns."""

import math

import pytest
import torch
import torch.nn.functional as F
from extractive import VOCABULARY, WORLD, hop, study, two_models
from mentions import raises

from heuristic_core.common.errors import DivergenceError, InputError
from heuristic_core.experiments.extractive_structures.answers import (
    compute_losses,
    compute_ranks,
    mean_rank,
    option_logits,
)
from heuristic_core.experiments.extractive_structures.data import draw_corpus, draw_names
from heuristic_core.experiments.extractive_structures.model import apply_mlp, attend, embed, run, run_from, site_shapes
from heuristic_core.experiments.extractive_structures.parameters import (
    init_parameters,
    parameter_shapes,
    select_weights,
)
from heuristic_core.experiments.extractive_structures.tokens import Queries, encode_examples, encode_queries
from heuristic_core.experiments.extractive_structures.training import (
    Saving,
    answer_loss,
    iterate_batches,
    learn,
    teach,
)


def plain(p, tokens):
    """Logits of one sentence, position by position and head by head."""
    x = p["token"][tokens] + p["position"][: len(tokens)]
    layer = 0
    while f"{layer}.up" in p:
        normed, written = F.layer_norm(x, x.shape[-1:]), torch.zeros_like(x)
        for h in range(p[f"{layer}.query"].shape[1]):
            q, k, v = (normed @ p[f"{layer}.{name}"][:, h] for name in ("query", "key", "value"))
            for i in range(len(tokens)):
                shares = F.softmax(torch.stack([q[i] @ k[j] for j in range(i + 1)]) / math.sqrt(q.shape[1]), -1)
                written[i] += shares @ v[: i + 1] @ p[f"{layer}.output"][h]
        x = x + written
        x = x + F.gelu(F.layer_norm(x, x.shape[-1:]) @ p[f"{layer}.up"]) @ p[f"{layer}.down"]
        layer += 1
    return F.layer_norm(x, x.shape[-1:]) @ p["unembed"]


def test_logits_are_those_of_a_plain_model():
    p, _ = two_models()
    tokens = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]])
    result = run(p, tokens).logits
    for row, sequence in zip(result, tokens, strict=True):
        torch.testing.assert_close(row, plain(p, sequence))


def test_outputs_are_those_of_each_component_alone():
    p, _ = two_models()
    result = run(p, torch.tensor([[3, 1, 4, 1, 5]]))
    for number, layer in enumerate(result.layers):
        torch.testing.assert_close(attend(p, number, layer.attention_input), layer.context)
        torch.testing.assert_close(apply_mlp(p, number, layer.mlp_input), layer.mlp)


def test_what_follows_a_sentence_does_not_matter():
    p, _ = two_models()
    short, long = torch.tensor([[3, 1, 4]]), torch.tensor([[3, 1, 4, 0, 0]])
    torch.testing.assert_close(run(p, long).logits[:, :3], run(p, short).logits)


def test_a_shift_is_added_to_its_site():
    """A shift that undoes an MLP is the model without this MLP; one of every site changes the answer."""
    p, _ = two_models()
    tokens = torch.tensor([[3, 1, 4, 1, 5]])
    whole = run(p, tokens)
    without = run(p | {"1.down": torch.zeros_like(p["1.down"])}, tokens).logits
    torch.testing.assert_close(run(p, tokens, {(1, "mlp"): -whole.layers[1].mlp}).logits, without)
    torch.testing.assert_close(run_from(p, embed(p, tokens)).logits, whole.logits)
    for site, shape in site_shapes(p, 1, 5).items():
        assert not torch.equal(run(p, tokens, {site: torch.randn(shape).double()}).logits, whole.logits), site


def test_the_small_model_has_the_size_of_the_specification():
    model = study(model={"layers": 4, "heads": 4, "width": 128}).model
    assert sum(map(math.prod, parameter_shapes(model, 282).values())) == 860_672
    weights = init_parameters(model, 282, 1)
    assert float(weights["0.up"].std()) == pytest.approx(0.02, rel=0.02)
    assert float(weights["0.down"].std()) == pytest.approx(0.02 / math.sqrt(8), rel=0.02)


def test_a_sentence_that_is_too_long_is_named():
    with raises(InputError, "model.positions", 16, 17):
        embed(two_models()[0], torch.zeros(1, 17, dtype=torch.long))


# ---- answers


def test_ranks_and_losses_by_hand():
    logits = torch.zeros(2, 3, 9)
    logits[0, 1, [4, 5, 6]] = torch.tensor([1.0, 3.0, 2.0])
    logits[1, 2, [4, 5, 6]] = torch.tensor([1.0, 3.0, 2.0])
    questions = Queries(torch.zeros(2, 3).long(), torch.tensor([1, 2]), torch.tensor([4, 5, 6]), torch.tensor([1, 0]))
    result = option_logits(logits, questions)
    assert compute_ranks(result, questions.answer).tolist() == [0, 2]
    assert compute_losses(logits, questions).tolist() == [-1.0, 1.0]


def test_ties_and_what_is_no_number_count_against_the_answer():
    result = torch.tensor([[1.0, 1.0, 0.0], [torch.nan, torch.nan, torch.nan], [2.0, torch.nan, 0.0]])
    assert compute_ranks(result, torch.tensor([0, 2, 0])).tolist() == [1, 2, 1]


# ---- learning


def test_the_loss_is_of_the_answers_tokens_alone():
    p, _ = two_models()
    learnt = encode_examples(hop().facts.sentences, VOCABULARY)
    expected = []
    for row, begin, end in zip(learnt.tokens, learnt.prompt, learnt.length, strict=True):
        scores = plain(p, row[:end]).log_softmax(-1)
        expected += [-scores[k - 1, row[k]] for k in range(int(begin), int(end))]
    torch.testing.assert_close(answer_loss(p, learnt), torch.stack(expected).mean())


def test_an_epoch_has_every_example_once():
    drawn = iterate_batches(10, 4, "x", 1)
    epochs = [torch.cat([next(drawn) for _ in range(3)]).tolist() for _ in range(2)]
    assert [sorted(epoch) for epoch in epochs] == [list(range(10))] * 2 and epochs[0] != epochs[1]


def pretrained(saving=None, steps=6, after=None):
    made = study()
    people = draw_names(WORLD, made.data, 1).people
    learnt = encode_examples(draw_corpus(WORLD, made.data, "whole", people, 1), VOCABULARY)
    start = init_parameters(made.model, len(VOCABULARY), 1)
    return learn(start, learnt, made.pretraining, steps, ("pretraining", 1), after=after, saving=saving)


class Cut(Exception):
    pass


@pytest.mark.parametrize("cut_at", [1, 3, 5])
def test_a_run_that_is_cut_off_and_resumed_ends_with_the_same_bytes(tmp_path, cut_at):
    def after(step, _):
        if step == cut_at:
            raise Cut

    whole, saving = pretrained(), Saving(tmp_path / "state.safetensors", 2)
    with pytest.raises(Cut):
        pretrained(saving, after=after)
    resumed = pretrained(saving)
    assert torch.equal(whole.losses, resumed.losses) and len(whole.losses) == 6
    assert all(torch.equal(value, resumed.parameters[name]) for name, value in whole.parameters.items())
    assert saving.state.is_file()


def test_only_what_shall_learn_changes():
    start = two_models()[0]
    learnt, seen = encode_examples(hop().facts.sentences, VOCABULARY), []
    end = teach(start, learnt, study().finetuning, ("facts", 1), {"0.up"}, lambda epoch, now: seen.append(epoch))
    assert {name for name in start if not torch.equal(start[name], end[name])} == {"0.up"}
    assert seen == [1, 2]


def test_facts_are_learned():
    settings = study(finetuning={"epochs": 60, "learning_rate": 1e-2}).finetuning
    start = {name: value.float() for name, value in two_models(0.1)[0].items()}
    facts = hop().facts
    end = teach(
        start, encode_examples(facts.sentences, VOCABULARY), settings, ("facts", 1), select_weights(start, "layers")
    )
    questions = encode_queries(facts, VOCABULARY)
    assert mean_rank(end, questions) == 0 < mean_rank(start, questions)
    assert torch.equal(start["token"], end["token"])


def test_a_loss_that_is_not_finite_is_named():
    start = two_models()[0]
    start["unembed"][0, 0] = torch.inf
    with raises(DivergenceError, "facts", "step 1", "seed 1", "learning_rate"):
        teach(start, encode_examples(hop().facts.sentences, VOCABULARY), study().finetuning, ("facts", 1))
