"""Passes of fixed shapes, as CUDA graphs and a compiler need them: on a CPU, where nothing is captured."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from conftest import make_encoded, make_inputs
from mentions import raises
from pruning_runs import SHORT
from pydantic import ValidationError

from heuristic_core.common.errors import InputError
from heuristic_core.config.pruning import Prune
from heuristic_core.models.batches import PairTensors
from heuristic_core.pruning import fixed_passes
from heuristic_core.pruning.fixed_passes import FixedShapeObjective
from heuristic_core.pruning.learner import Learner, PruningRun
from heuristic_core.pruning.prune import Objective, make_objective, prune

BETWEEN = SHORT.model_copy(update={"gate_draws": 4, "log_alpha_mean": 0.0, "log_alpha_std": 1.0})
RUNS = [PruningRun(0.4, 1), PruningRun(0.4, 2)]


def steps(inputs, objective, count=6, settings=BETWEEN):
    """log_alpha after each of the first steps, and what is recorded of them."""
    learner = Learner(RUNS, settings, len(inputs.model.grid), torch.device("cpu"))
    alphas, rows = [], []
    for draw in learner.make_draws(count, len(inputs.pairs)):
        rows.append(objective.compute_gradients(learner, draw))
        learner.advance()
        alphas.append(learner.log_alpha.detach().clone())
    return torch.stack(alphas), torch.stack(rows)


@pytest.mark.parametrize("most", [3, 5, 64])
def test_steps_are_those_of_eager_passes(inputs, monkeypatch, most):
    """Though a pass is cut elsewhere, padded further, and filled with pairs that do not count."""
    monkeypatch.setattr(fixed_passes, "MAX_PASS_PAIRS", most)
    eager = steps(inputs, Objective(inputs, RUNS, BETWEEN))
    fixed = steps(inputs, FixedShapeObjective(inputs, RUNS, BETWEEN))
    for actual, expected in zip(fixed, eager, strict=True):
        torch.testing.assert_close(actual, expected, atol=2e-5, rtol=1e-4)


@pytest.mark.parametrize("most", [5, 64])
def test_targets_are_those_of_eager_passes(fused, monkeypatch, most):
    """Also in passes that are filled up and shorter than the first pair, whose target is its last token."""
    monkeypatch.setattr(fixed_passes, "MAX_PASS_PAIRS", most)
    monkeypatch.setattr(fixed_passes, "TOKEN_MULTIPLE", 4)
    encoded = make_encoded(60, longest=20)
    encoded = encoded.take(np.array([encoded.lengths.argmax(), *np.flatnonzero(encoded.lengths <= 10)]))
    targeted = make_inputs(fused, PairTensors(replace(encoded, target=(encoded.lengths - 1).astype(np.int32))))
    eager = steps(targeted, Objective(targeted, RUNS, BETWEEN))
    fixed = steps(targeted, FixedShapeObjective(targeted, RUNS, BETWEEN))
    for actual, expected in zip(fixed, eager, strict=True):
        torch.testing.assert_close(actual, expected, atol=2e-5, rtol=1e-4)


def test_buffers_that_are_filled_again_give_what_new_tensors_give(inputs, monkeypatch):
    """To the byte: nothing of an earlier pass is left in them."""
    monkeypatch.setattr(fixed_passes, "MAX_PASS_PAIRS", 5)
    monkeypatch.setattr(fixed_passes, "TOKEN_MULTIPLE", 4)
    objective = FixedShapeObjective(inputs, RUNS, BETWEEN)
    kept = steps(inputs, objective)
    assert len(objective._passes) > 1

    class Unbuffered(fixed_passes.BufferedPass):
        def __call__(self, z, chosen):
            return self._work(z.clone(), chosen.clone())

    monkeypatch.setattr(fixed_passes, "BufferedPass", Unbuffered)
    fresh = steps(inputs, FixedShapeObjective(inputs, RUNS, BETWEEN))
    assert all(map(torch.equal, kept, fresh))


def test_shapes_are_few_whatever_is_drawn(inputs, monkeypatch):
    monkeypatch.setattr(fixed_passes, "MAX_PASS_PAIRS", 5)
    objective = FixedShapeObjective(inputs, RUNS, BETWEEN)
    pairs, longest = inputs.pairs, int(inputs.pairs.lengths.max())
    for seed in range(20):
        drawn = torch.randint(len(pairs), (16,), generator=torch.Generator().manual_seed(seed))
        tokens, chosen = objective._split(drawn)
        assert chosen.shape == (4, 3, 5) and set(tokens) <= {16, longest}
        for length, (pair, _, counts) in zip(tokens, chosen, strict=True):
            assert int(pairs.lengths[pair[counts.bool()]].max()) <= length
        counted = chosen[:, 2].bool()
        result = zip(chosen[:, 0][counted].tolist(), chosen[:, 1][counted].tolist(), strict=True)
        assert sorted(result) == sorted(zip(drawn.tolist(), (torch.arange(16) // 2).tolist(), strict=True))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="a compiler of C++ is needed")
def test_compiled_passes_are_eager_ones(inputs):
    settings = BETWEEN.model_copy(update={"engine": "compile"})
    eager, compiled = (prune(inputs, RUNS, item) for item in (BETWEEN, settings))
    for actual, expected in zip(compiled, eager, strict=True):
        torch.testing.assert_close(actual.log_alpha, expected.log_alpha, atol=1e-3, rtol=1e-3)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="a GPU is needed")
@pytest.mark.parametrize("engine", ["graphs", "compile"])
def test_graphs_give_what_eager_passes_give_on_a_gpu(checkpoint, encoded, engine):
    from heuristic_core.interventions.evaluate import all_logits
    from heuristic_core.models.ablation import component_means
    from heuristic_core.models.batches import PairTensors
    from heuristic_core.models.fused import FusedModel
    from heuristic_core.pruning.inputs import PruningInputs

    model = FusedModel.load(checkpoint, "cuda")
    pairs = PairTensors(encoded, model.pad, "cuda")
    means = component_means(model, pairs, torch.arange(len(pairs)).split(16))
    inputs = PruningInputs(model, means, pairs, all_logits(model, pairs))
    result = [prune(inputs, RUNS, BETWEEN.model_copy(update={"engine": item})) for item in ("eager", engine)]
    for expected, actual in zip(*result, strict=True):
        torch.testing.assert_close(expected.log_alpha, actual.log_alpha, atol=1e-3, rtol=1e-3)


@pytest.mark.slow
def test_attention_of_cudnn_is_for_fixed_shapes_alone(inputs):
    for engine, allowed in (("compile", True), ("eager", False)):
        make_objective(inputs, RUNS, BETWEEN.model_copy(update={"engine": engine}))
        assert torch.backends.cuda.cudnn_sdp_enabled() == allowed


def test_graphs_without_a_gpu_are_one_error(inputs):
    with raises(InputError, "prune.engine", "graphs", "device", "cuda"):
        prune(inputs, RUNS, BETWEEN.model_copy(update={"engine": "graphs"}))


def test_a_model_that_is_not_fused_has_no_fixed_shapes(inputs):
    from dataclasses import replace

    with raises(InputError, "prune.engine", "compile", "eager"):
        prune(replace(inputs, model=Unfused(inputs.model)), RUNS, BETWEEN.model_copy(update={"engine": "compile"}))


class Unfused:
    def __init__(self, model):
        self.grid, self.device, self.dtype = model.grid, model.device, model.dtype


def test_a_replayed_pass_has_no_dropout():
    with raises(ValidationError, "engine", "graphs", "dropout"):
        Prune.model_validate(SHORT.model_dump() | {"dropout": True, "engine": "graphs"})


def test_settings_without_an_engine_are_what_they_were():
    """Studies from before the setting are not run again for it."""
    assert "engine" not in SHORT.model_dump_json()
    other = Prune.model_validate(SHORT.model_dump() | {"engine": "compile"})
    assert Prune.model_validate_json(other.model_dump_json()).engine == "compile"


@pytest.mark.parametrize(
    "changes, needed",
    [
        ({"prune": {"engine": "graphs"}, "arithmetic": "native"}, ("device", "cuda")),
        ({"prune": {"engine": "compile"}}, ("arithmetic", "native")),
    ],
)
def test_a_study_is_told_before_anything_runs(changes, needed):
    from reduced import REDUCED

    from heuristic_core.config.reading import ConfigError, read_config
    from heuristic_core.experiments.subnetworks.config.study import parse_study

    values = read_config(REDUCED)
    values |= changes | {"prune": values["prune"] | changes["prune"]}
    with raises(ConfigError, "prune.engine", changes["prune"]["engine"], *needed):
        parse_study(values, REDUCED)
