"""Effects of heads on the numbers of a list: planted models, and patches by hand."""

import numpy as np
import pytest
import torch
from list_sorting import random_parameters, study

from heuristic_core.experiments.list_sorting import effect_measures as e
from heuristic_core.experiments.list_sorting import effects as effects_module
from heuristic_core.experiments.list_sorting.circuits import attention_similarity, diagonal, fold_circuits
from heuristic_core.experiments.list_sorting.config import Data
from heuristic_core.experiments.list_sorting.data import draw_lists, make_sequences
from heuristic_core.experiments.list_sorting.effects import measure_effects
from heuristic_core.experiments.list_sorting.model import run_models

NUMBERS, ALL = 51, range(51)
LOW, HIGH = range(25), range(25, 51)
DATA = Data(numbers=NUMBERS, length=10, train_lists=300, held_out_lists=300)


def plant(*heads: dict[int, float]) -> dict[str, torch.Tensor]:
    """One model without positions, LayerNorm and biases, whose heads attend to the next number.

    Each dict gives what a head adds to the logit of a number when it attends to it.
    """
    size = NUMBERS + 1
    scores = torch.full((size, size), -1000.0)  # [query, key]
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
        ([dict.fromkeys(range(13), 5.0), dict.fromkeys(range(13, 51), 5.0)], 0.819, 0.0, 0.0),
    ],
    ids=["one copies, one suppresses", "split", "alike", "one idle", "split, one suppresses", "unevenly split"],
)
def test_measures_of_planted_models(heads, splitting, suppression, overlap):
    effects = measure_effects(plant(*heads), sequences(), NUMBERS)
    added = np.array([[adds.get(number, 0) for number in ALL] for adds in heads])
    assert e.splitting(effects.next.effect) == pytest.approx(splitting, abs=1e-3)
    assert e.overlap(effects.next.effect) == pytest.approx(overlap, abs=1e-6)
    for by_target in effects:
        if suppression is not None:
            assert e.share_suppressed(by_target.effect) == pytest.approx(suppression, abs=1e-6)
        seen = by_target.attention[0] > 1e-9  # the lowest number is never attended to before it is next
        assert (np.sign(by_target.effect[0]) == np.sign(added))[seen].all()
    assert (e.copied_numbers(effects)[0] == (added > 0)).all()
    suppressed = (added < 0) & (effects.other.attention[0] > 1e-9)
    assert (e.suppressed_numbers(effects)[0] == suppressed).all()
    assert (e.copying(effects)[0] > 0).tolist() == (added > 0).any(1).tolist()
    assert (e.suppression(effects)[0] > 0).tolist() == (added < 0).any(1).tolist()


def test_the_effect_is_attention_times_d_without_positions_and_layer_norm():
    parameters, tokens = plant(dict.fromkeys(ALL, 5.0), {3: -2.0, 7: 1.0}), sequences()
    d = diagonal(fold_circuits(parameters).ov).numpy()
    for result in measure_effects(parameters, tokens, NUMBERS):
        np.testing.assert_allclose(result.effect, result.attention * d, atol=1e-12)
    result = measure_effects(parameters, tokens, NUMBERS).next
    assert e.sign_agreement(result.effect, d).tolist() == [[1, 2 / 51]]  # 49 numbers have no effect of head 1
    assert e.sign_agreement(result.effect, -d).tolist() == [[0, 0]]
    assert attention_similarity(run_models(parameters, tokens).attention) == pytest.approx(1)


def test_attention_similarity_is_the_share_that_two_heads_have_in_common():
    """Two heads with a quarter of their attention in common, and a third that attends as the first."""
    first, second = [0.5, 0.5, 0, 0], [0, 0.25, 0.75, 0]
    attention = torch.tensor([[[[first], [second]]]]).view(1, 1, 2, 1, 4)
    assert attention_similarity(attention) == pytest.approx(0.25)
    assert attention_similarity(torch.cat([attention, attention[:, :, :1]], 2)) == pytest.approx((0.25 + 1 + 0.25) / 3)


def test_batches_do_not_matter(monkeypatch):
    made = study()
    tokens, p = make_sequences(draw_lists(made.data).held_out, made.data), random_parameters(made.data, made.model)
    whole = measure_effects(p, tokens, 12)
    monkeypatch.setattr(effects_module, "BATCH", 7)
    for by_target, expected in zip(measure_effects(p, tokens, 12), whole, strict=True):
        np.testing.assert_allclose(np.stack(by_target), np.stack(expected), atol=1e-9)


@pytest.mark.parametrize("changes", [{}, {"layer_norm": False}, {"positions": False, "heads": 3}])
def test_effects_are_those_of_patches_by_hand(changes):
    """One list at a time: the head's attention to a number's key, times its value, is taken from the stream."""
    made = study(model=changes)
    tokens = make_sequences(draw_lists(made.data).held_out, made.data)[:6]
    p = {name: value.double() for name, value in random_parameters(made.data, made.model).items()}
    results, forward, length = measure_effects(p, tokens, 12), run_models(p, tokens), made.data.length
    heads = p["output"].shape[1]
    effects = {target: [[[] for _ in range(12)] for _ in range(heads)] for target in ("next", "other")}
    for row, sequence in enumerate(tokens.tolist()):
        for key, number in enumerate(sequence[:length]):
            for head in range(heads):
                by_target = {"next": [], "other": []}
                for rank, following in enumerate(sequence[length + 1 :]):
                    stream = forward.residual[1, row, rank] + sum(
                        forward.contexts[1, row, rank, h] @ p["output"][1, h] for h in range(heads)
                    )
                    share = forward.attention[1, row, head, rank, key]
                    read = share * forward.values[1, row, key, head] @ p["output"][1, head]
                    with_key, without = (relative_logit(p, s, number) for s in (stream, stream - read))
                    by_target["next" if following == number else "other"].append(float(with_key - without))
                for target, values in by_target.items():
                    effects[target][head][number].append(np.mean(values))
    for target, head, number in ((t, h, k) for t in effects for h in range(heads) for k in range(12)):
        values, result = np.array(effects[target][head][number]), getattr(results, target)
        mean = values.mean() if len(values) else np.nan
        assert float(result.effect[1, head, number]) == pytest.approx(mean, nan_ok=True)
        if len(values) > 1:
            error = values.std(ddof=1) / len(values) ** 0.5
            assert float(result.effect_error[1, head, number]) == pytest.approx(error)


def relative_logit(p, stream, number):
    """The logit of a number relative to the mean over numbers, of the second model's stream [d]."""
    if "final_gain" in p:
        stream = (stream - stream.mean()) / (stream.var(unbiased=False) + 1e-5).sqrt()
        stream = stream * p["final_gain"][1] + p["final_bias"][1]
    logits = (stream @ p["unembed"][1] + p["unembed_bias"][1])[:-1]
    return logits[number] - logits.mean()


@pytest.mark.parametrize(
    ("effect", "overlap"),
    [
        ([[2.0, -1.0, -2.0], [-2.0, 2.0, 4.0]], 0.0),
        ([[1.0, 2.0], [1.0, 2.0]], 1.0),
        ([[1.0, 2.0], [3.0, -1.0]], 1 / 5),
        ([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], 1 / 3),
        ([[1.0, np.nan], [1.0, np.nan]], 1.0),
    ],
)
def test_overlap_of_heads(effect, overlap):
    assert e.overlap(np.array([effect])) == pytest.approx(overlap)


def test_ranges_are_runs_of_neighbours():
    for chosen, count in (([1, 1, 0, 1, 0, 0, 1], 3), ([0, 0, 0], 0), ([1, 1, 1], 1)):
        assert e.count_ranges(np.array(chosen, bool)) == count


def test_what_is_undefined_is_nan():
    one_head = measure_effects(plant(dict.fromkeys(ALL, 5.0)), sequences(), NUMBERS).next.effect
    assert np.isnan(e.splitting(one_head)).all() and np.isnan(e.overlap(one_head)).all()
    assert e.share_suppressed(one_head) == 0
    nothing = np.zeros((1, 2, 3))
    for measure in (e.splitting, e.overlap, e.share_suppressed):
        assert np.isnan(measure(nothing)).all()
    few = measure_effects(plant({0: 1.0}), sequences()[:1], NUMBERS)
    for by_target in few:
        assert np.isnan(by_target.effect).sum() == NUMBERS - DATA.length and np.isnan(by_target.effect_error).all()
    assert not np.isnan(e.copying(few)).any() and not e.copied_numbers(few).any()
    assert np.isnan(attention_similarity(torch.ones(1, 3, 1, 2, 4))).all()
