"""Extractive scores against their definition by finite differences, and against full replacement."""

import pytest
import torch
from extractive import STEP, VOCABULARY, WORLD, fall, hop, study, two_models
from mentions import mentions

from heuristic_core.experiments.extractive_structures import scores as scoring
from heuristic_core.experiments.extractive_structures.answers import compute_losses
from heuristic_core.experiments.extractive_structures.counterfactuals import contrast
from heuristic_core.experiments.extractive_structures.data import draw_first_hop, draw_names, draw_second_hop
from heuristic_core.experiments.extractive_structures.model import apply_mlp, attend, run
from heuristic_core.experiments.extractive_structures.patching import measure_replacement
from heuristic_core.experiments.extractive_structures.removal import (
    agreement_rows,
    component_rows,
    correlate,
    removal_rows,
    restore_component,
)
from heuristic_core.experiments.extractive_structures.scores import (
    KINDS,
    average_path_scores,
    compute_scores,
    mask_prompts,
)
from heuristic_core.experiments.extractive_structures.tokens import encode_queries

LAYERS, HEADS = 2, 2


def make_contrast(change: float = 0.05, make=draw_first_hop):
    """A contrast on a hop's implications."""
    data = study().data
    questions = make(WORLD, data, draw_names(WORLD, data, 1).taught, 1).implications
    return contrast(*two_models(change=change), encode_queries(questions, VOCABULARY), 3, 1)


def test_downstream_scores_are_the_slope_towards_the_new_inputs():
    of = make_contrast()
    result, new = compute_scores(of, 2)["downstream"], run(of.new, of.queries.tokens).layers
    for layer in range(LAYERS):
        heads, inner = attend(of.old, layer, new[layer].attention_input), apply_mlp(of.old, layer, new[layer].mlp_input)
        for token in range(of.queries.tokens.shape[1]):
            torch.testing.assert_close(result[:, token, layer, HEADS], fall(of, of.old, (layer, "mlp"), inner, token))
            for head in range(HEADS):
                expected = fall(of, of.old, (layer, "context"), heads, token, head)
                torch.testing.assert_close(result[:, token, layer, head], expected)


def test_upstream_scores_are_the_difference_of_slopes_towards_counterfactual_outputs():
    of = make_contrast()
    result, old = compute_scores(of, 2)["upstream"], run(of.old, of.queries.tokens).layers
    new = run(of.new, of.queries.tokens).layers
    for token in range(of.queries.tokens.shape[1]):
        other = old[1].mlp[of.others, token].mean(1) - old[1].mlp[:, token]  # all prompts are of one length
        towards = [item[1].mlp + other[:, None] for item in (old, new)]
        slopes = [fall(of, p, (1, "mlp"), out, token) for p, out in zip((of.old, of.new), towards, strict=True)]
        torch.testing.assert_close(result[:, token, 1, HEADS], slopes[0] - slopes[1])


@pytest.mark.parametrize("part", range(HEADS + 1))
def test_informative_scores_add_up_to_the_slope_along_the_components_learned_weights(part):
    of = make_contrast()
    result, head = compute_scores(of, 2)["informative"], part if part < HEADS else None
    for layer in range(LAYERS):
        whole = restore_component(of.old, of.new, layer, head)  # the old model with this component as it was taught
        ends = []
        for s in (STEP, -STEP):
            near = {name: value + s * (whole[name] - value) for name, value in of.old.items()}
            ends.append(compute_losses(run(near, of.queries.tokens).logits, of.queries))
        torch.testing.assert_close(result[:, :, layer, part].nansum(1), -(ends[0] - ends[1]) / (2 * STEP))


@pytest.mark.parametrize("make", [draw_first_hop, draw_second_hop])
def test_full_replacement_agrees_where_changes_are_small(make):
    """Of changes of a thousandth, replacement differs from scores by a share of that order; outputs of counterfactual
    prompts are far, and only the difference between the models is small."""
    of = make_contrast(1e-4, make)
    result, full = compute_scores(of, 2), measure_replacement(of)
    for kind in ("informative", "downstream"):
        scale = result[kind].nan_to_num().abs().max()
        torch.testing.assert_close(result[kind], full[kind], rtol=0, atol=5e-3 * float(scale), equal_nan=True)
    rows = {(row["score"], row["kind"], row["over"]): row["r"] for row in agreement_rows(result, full)}
    for part in ("head", "mlp"):
        assert rows["informative", part, "questions"] > 0.999 and rows["downstream", part, "questions"] > 0.999
        assert rows["upstream_path", part, "means"] > rows["upstream", part, "means"]


def test_prompts_that_do_not_fit_together_follow_one_after_another(monkeypatch):
    whole = average_path_scores(make_contrast(), 2)
    monkeypatch.setattr(scoring, "MAX_STORED_ACTIVATIONS", 5 * scoring.STORED_VECTORS * 12 * whole.shape[1] * LAYERS)
    assert scoring.compute_batch_size(make_contrast()) == 5 < 6 * 3
    torch.testing.assert_close(average_path_scores(make_contrast(), 2), whole, rtol=0, atol=1e-12)


def test_a_model_that_is_too_large_for_full_replacement_says_so():
    rows = agreement_rows(compute_scores(make_contrast(), 2), None)
    assert len(rows) == len(KINDS) * 2 * 2 and {row["r"] for row in rows} == {None}
    assert all(mentions(row["reason"], 6, 100) for row in rows)


def test_scores_are_known_within_prompts_and_upstream_with_a_partner_alone():
    of = make_contrast(make=draw_second_hop)
    result, seen = compute_scores(of, 2), mask_prompts(of.queries)
    assert set(result) == set(KINDS) and not seen.all()  # landmarks of one word and of two
    assert torch.equal(result["informative"][..., 0, 0].isnan(), ~seen)
    partnered = (of.partners >= 0).any(1)
    assert torch.equal(result["upstream"][..., 1, 2].isnan(), ~partnered) and torch.equal(seen | partnered, seen)


def test_counterfactual_prompts_are_others():
    of = make_contrast()
    assert of.others.shape == (6, 3)
    assert all(k not in row and len(set(row)) == 3 for k, row in enumerate(of.others.tolist()))


def test_a_model_that_learned_nothing_has_no_scores():
    of = make_contrast()
    result = compute_scores(of._replace(new=of.old), 2)
    for value in result.values():
        assert float(value.nan_to_num().abs().max()) == 0


def test_components_are_rows_and_their_removal_is_measured():
    of = make_contrast()
    rows = component_rows(of, compute_scores(of, 2))
    named = [(row["kind"], row["layer"], row["head"]) for row in rows]
    assert named == [
        (kind, layer, head) for layer in (0, 1) for kind, head in (("head", 0), ("head", 1), ("mlp", None))
    ]

    def mean(p):
        return float(compute_losses(run(p, of.queries.tokens).logits, of.queries).mean())

    last = dict(of.new) | {f"1.{name}": of.old[f"1.{name}"] for name in ("up", "down")}
    assert rows[-1]["restored"] == pytest.approx(mean(last) - mean(of.new))
    same = component_rows(of._replace(new=of.old), compute_scores(of, 2))
    assert all(row["restored"] == 0 != row["ablated"] for row in same)


def test_removal_has_the_signed_correlation_of_scores_and_effects():
    rows = [
        {
            "kind": kind,
            **dict.fromkeys(KINDS, 0.0),
            "informative": float(k),
            "restored": -2.0 * k,
            "ablated": (-1.0) ** k,
        }
        for kind, count in (("head", 4), ("mlp", 2))
        for k in range(count)
    ]
    result = {(row["kind"], row["score"], row["effect"]): row for row in removal_rows(rows)}
    assert result["head", "informative", "restored"]["r"] == pytest.approx(-1)
    assert result["head", "upstream", "restored"]["r"] is None and result["head", "upstream", "restored"]["reason"]
    assert mentions(result["mlp", "informative", "restored"]["reason"], 2)
    r, reason = correlate([1, 2, 3], [1, float("nan"), 3])
    assert r is None and reason
    assert len(result) == 2 * 4 * 2


def test_the_hop_is_the_tiny_studys():
    assert len(hop().implications.sentences) == len(make_contrast().queries.last)
