"""Pruning: it reaches its sparsity, repeats itself exactly, and keeps what matters."""

import pytest
import torch

from heuristic_core.ablation import MeanAblation, component_means
from heuristic_core.components import kept_count
from heuristic_core.config.blocks import Prune
from heuristic_core.evaluate import all_logits
from heuristic_core.prune import PruningInputs, prune

SETTINGS = Prune(
    steps=200,
    batch_size=8,
    log_alpha_mean=2.0,
    learning_rate=0.2,
    controller_learning_rate=0.1,
    warmup_steps=10,
    examples=60,
    mean_examples=60,
)


@pytest.fixture(scope="module")
def inputs(fused, pairs):
    means = component_means(fused, pairs, torch.arange(len(pairs)).split(16))
    return PruningInputs(fused, means, pairs, all_logits(fused, pairs))


def test_the_same_seed_gives_the_same_run_and_another_seed_another(inputs):
    short = SETTINGS.model_copy(update={"steps": 20})
    first, again, other = (prune(inputs, 0.4, seed, short) for seed in (1, 1, 2))
    assert torch.equal(first.log_alpha, again.log_alpha)
    assert first.trace == again.trace
    assert not torch.equal(first.log_alpha, other.log_alpha)


@pytest.mark.parametrize("sparsity", [0.2, 0.5, 0.8])
def test_exactly_k_components_are_kept(inputs, sparsity):
    found = prune(inputs, sparsity, 0, SETTINGS.model_copy(update={"steps": 5}))
    assert len(found.kept) == kept_count(len(inputs.model.grid), sparsity)
    assert found.kept == sorted(found.kept)
    assert min(found.log_alpha[found.kept]) >= max(
        a for i, a in enumerate(found.log_alpha.tolist()) if i not in found.kept
    )


@pytest.mark.parametrize("sparsity", [0.3, 0.6])
def test_the_controller_brings_the_sampled_sparsity_to_its_target(inputs, sparsity):
    found = prune(inputs, sparsity, 3, SETTINGS.model_copy(update={"steps": 400}), record_every=1)
    last = [row["sampled_sparsity"] for row in found.trace[-40:]]
    assert sum(last) / len(last) == pytest.approx(sparsity, abs=1.5 / len(inputs.model.grid))
    assert found.trace[-1]["target_sparsity"] == sparsity


def test_the_subnetwork_keeps_the_models_answers_better_than_most_random_ones(inputs):
    grid = inputs.model.grid

    def kl(kept):
        mask = torch.zeros(len(grid))
        mask[list(kept)] = 1
        gated = all_logits(inputs.model, inputs.pairs, MeanAblation(mask, inputs.means, grid)).log_softmax(-1)
        full = inputs.full_logits.log_softmax(-1)
        return float((full.exp() * (full - gated)).sum(-1).mean())

    found = [prune(inputs, 0.4, seed, SETTINGS).kept for seed in range(4)]
    draws = torch.Generator().manual_seed(0)
    random = sorted(kl(torch.randperm(len(grid), generator=draws)[: len(found[0])].tolist()) for _ in range(40))
    ours = sorted(kl(kept) for kept in found)
    assert ours[2] < random[10]  # at least three of four are better than three quarters of the random ones


def test_several_gate_draws_per_step_change_the_noise_not_the_batches(inputs):
    short = SETTINGS.model_copy(update={"steps": 10})
    one, four = prune(inputs, 0.4, 1, short), prune(inputs, 0.4, 1, short.model_copy(update={"gate_draws": 4}))
    assert not torch.equal(one.log_alpha, four.log_alpha)
    assert len(one.kept) == len(four.kept)


def test_a_diverging_run_stops_and_names_the_step(inputs):
    broken = PruningInputs(inputs.model, inputs.means, inputs.pairs, inputs.full_logits * torch.nan)
    with pytest.raises(FloatingPointError, match="step 0"):
        prune(broken, 0.4, 0, SETTINGS)
