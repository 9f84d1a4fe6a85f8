"""Effects of heads on the next number: planted models, and patches by hand."""

import numpy as np
import pytest
import torch
from list_sorting import random_parameters, study

from heuristic_core.experiments.list_sorting import effects as e
from heuristic_core.experiments.list_sorting.circuits import diagonal, fold_circuits, soft_overlap
from heuristic_core.experiments.list_sorting.config import Data
from heuristic_core.experiments.list_sorting.data import draw_lists, make_sequences
from heuristic_core.experiments.list_sorting.model import run_models

NUMBERS, ALL = 12, range(12)
LOW, HIGH = range(6), range(6, 12)
DATA = Data(numbers=NUMBERS, length=4, train_lists=300, held_out_lists=200)


def plant(*heads: dict[int, float]) -> dict[str, torch.Tensor]:
    """One model without positions, LayerNorm and biases, whose heads attend to the next number.

    Each dict gives what a head adds to the logit of a number when it attends to it.
    """
    size = NUMBERS + 1
    scores = torch.full((size, size), -50.0)  # [query, key]
    for query in range(size):
        for key in range((query + 1) % size, NUMBERS):
            scores[query, key] = -3.0 * (key - (query + 1) % size)
    output = torch.zeros(1, len(heads), size, size)
    for head, adds in enumerate(heads):
        for number, logit in adds.items():
            output[0, head, number, number] = logit
    identity = torch.eye(size)[None]
    by_head = identity[:, None].expand(-1, len(heads), -1, -1)
    query = (scores * size**0.5)[None, None].expand(-1, len(heads), -1, -1)
    parts = {"token": identity, "unembed": identity, "query": query, "key": by_head, "value": by_head, "output": output}
    return {name: value.double() for name, value in parts.items()}


def sequences():
    return make_sequences(draw_lists(DATA).held_out, DATA)


@pytest.mark.parametrize(
    ("heads", "splitting", "suppression", "overlap"),
    [
        ([dict.fromkeys(ALL, 5.0), dict.fromkeys(ALL, -2.0)], 0.0, 0.4, 0.0),
        ([dict.fromkeys(LOW, 5.0), dict.fromkeys(HIGH, 5.0)], 1.0, 0.0, 0.0),
        ([dict.fromkeys(ALL, 5.0), dict.fromkeys(ALL, 5.0)], 0.0, 0.0, 1.0),
        ([dict.fromkeys(ALL, 5.0), {}], 0.0, 0.0, 0.0),
        ([dict.fromkeys(LOW, 4.0) | dict.fromkeys(HIGH, -1.0), dict.fromkeys(HIGH, 4.0)], 1.0, None, 0.0),
        ([dict.fromkeys(range(3), 5.0), dict.fromkeys(range(3, 12), 5.0)], 0.811, 0.0, 0.0),
    ],
    ids=["one copies, one suppresses", "split", "alike", "one idle", "split, one suppresses", "unevenly split"],
)
def test_measures_of_planted_models(heads, splitting, suppression, overlap):
    effect = e.measure_effects(plant(*heads), sequences(), NUMBERS).effect
    assert e.splitting(effect) == pytest.approx(splitting, abs=1e-3)
    assert float(soft_overlap(torch.from_numpy(effect))) == pytest.approx(overlap, abs=1e-6)
    if suppression is not None:
        assert e.suppression(effect) == pytest.approx(suppression, abs=1e-6)
    added = np.array([[adds.get(number, 0) for number in ALL] for adds in heads])
    assert (np.sign(effect[0]) == np.sign(added)).all()
    assert e.copied(effect)[0] - e.suppressed(effect)[0] == pytest.approx(effect[0].mean(-1))
    assert (e.copied(effect)[0] > 0).tolist() == (added > 0).any(1).tolist()


def test_the_effect_is_attention_times_d_without_positions_and_layer_norm():
    parameters, tokens = plant(dict.fromkeys(ALL, 5.0), {3: -2.0, 7: 1.0}), sequences()
    result = e.measure_effects(parameters, tokens, NUMBERS)
    d = diagonal(fold_circuits(parameters).ov).numpy()
    np.testing.assert_allclose(result.effect, result.attention * d, atol=1e-12)
    assert e.sign_agreement(result.effect, d).tolist() == [[1, 2 / 12]]  # ten numbers have no effect of head 1
    assert e.sign_agreement(result.effect, -d).tolist() == [[0, 0]]
    assert e.attention_similarity(run_models(parameters, tokens).attention) == pytest.approx(1)


def test_attention_similarity_is_the_share_that_two_heads_have_in_common():
    """Two heads with a quarter of their attention in common, and a third that attends as the first."""
    first, second = [0.5, 0.5, 0, 0], [0, 0.25, 0.75, 0]
    attention = torch.tensor([[[[first], [second]]]]).view(1, 1, 2, 1, 4)
    assert e.attention_similarity(attention) == pytest.approx(0.25)
    assert e.attention_similarity(torch.cat([attention, attention[:, :, :1]], 2)) == pytest.approx(
        (0.25 + 1 + 0.25) / 3
    )


def test_batches_do_not_matter(monkeypatch):
    made = study()
    tokens, p = make_sequences(draw_lists(made.data).held_out, made.data), random_parameters(made.data, made.model)
    whole = e.measure_effects(p, tokens, 12)
    monkeypatch.setattr(e, "BATCH", 7)
    for value, expected in zip(e.measure_effects(p, tokens, 12), whole, strict=True):
        np.testing.assert_allclose(value, expected, atol=1e-5)


@pytest.mark.parametrize("changes", [{}, {"layer_norm": False}, {"positions": False, "heads": 3}])
def test_effects_are_those_of_patches_by_hand(changes):
    """One list at a time: the head's attention to the next number's key, times its value, is taken from the stream."""
    made = study(model=changes)
    tokens = make_sequences(draw_lists(made.data).held_out, made.data)[:6]
    p = {name: value.double() for name, value in random_parameters(made.data, made.model).items()}
    result, forward, length = e.measure_effects(p, tokens, 12), run_models(p, tokens), made.data.length
    heads = p["output"].shape[1]
    by_number = [[[] for _ in range(12)] for _ in range(heads)]
    for row, sequence in enumerate(tokens.tolist()):
        for rank, number in enumerate(sequence[length + 1 :]):
            key = sequence.index(number)
            stream = forward.residual[1, row, rank] + sum(
                forward.contexts[1, row, rank, h] @ p["output"][1, h] for h in range(heads)
            )
            for head in range(heads):
                share = forward.attention[1, row, head, rank, key]
                read = share * forward.values[1, row, key, head] @ p["output"][1, head]
                with_key, without = (relative_logit(p, s, number) for s in (stream, stream - read))
                by_number[head][number].append(float(with_key - without))
    for head, number in ((h, k) for h in range(heads) for k in range(12)):
        values = torch.tensor(by_number[head][number], dtype=torch.float64)
        assert float(result.effect[1, head, number]) == pytest.approx(float(values.mean()), nan_ok=True)
        if len(values) > 1:
            assert float(result.effect_error[1, head, number]) == pytest.approx(
                float(values.std() / len(values) ** 0.5)
            )


def relative_logit(p, stream, number):
    """The logit of a number relative to the mean over numbers, of the second model's stream [d]."""
    if "final_gain" in p:
        stream = (stream - stream.mean()) / (stream.var(unbiased=False) + 1e-5).sqrt()
        stream = stream * p["final_gain"][1] + p["final_bias"][1]
    logits = (stream @ p["unembed"][1] + p["unembed_bias"][1])[:-1]
    return logits[number] - logits.mean()


def test_what_is_undefined_is_nan():
    one_head = e.measure_effects(plant(dict.fromkeys(ALL, 5.0)), sequences(), NUMBERS)
    assert np.isnan(e.splitting(one_head.effect)).all() and e.suppression(one_head.effect) == 0
    nothing = np.zeros((1, 2, 3))
    assert np.isnan(e.splitting(nothing)).all() and np.isnan(e.suppression(nothing)).all()
    few = e.measure_effects(plant({0: 1.0}), sequences()[:1], NUMBERS)
    assert np.isnan(few.effect).sum() == NUMBERS - 4 and np.isnan(few.effect_error).all()
    assert not np.isnan(e.copied(few.effect)).any()
    assert np.isnan(e.attention_similarity(torch.ones(1, 3, 1, 2, 4))).all()
