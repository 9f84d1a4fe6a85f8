"""Pruning: learn which components a subnetwork of a target sparsity keeps (paper, section 2).

The model's weights are frozen. Gates descend, the two Lagrange multipliers ascend on
KL(full || gated) + lambda_1 (t - s) + lambda_2 (t - s)^2.

A step costs one forward pass and one backward pass to the activations, with little padding: the full model's logits and
the means are precomputed, pairs are sorted by length within a step, and each pair keeps its gate sample. Several runs
can share a pass; they share nothing but the batch.
"""

from collections.abc import Sequence
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor

from heuristic_core.common.errors import InputError
from heuristic_core.config.pruning import Prune
from heuristic_core.models.device import allow_cudnn_attention
from heuristic_core.models.micro_batches import pass_tokens
from heuristic_core.pruning.fixed_passes import FixedShapeObjective
from heuristic_core.pruning.gated_model import GatedModel
from heuristic_core.pruning.inputs import PruningInputs
from heuristic_core.pruning.learner import Learner, PruningRun, StepDraws
from heuristic_core.pruning.loop import PruningResult, fit


def prune(
    inputs: PruningInputs,
    runs: Sequence[PruningRun],
    settings: Prune,
    state: Path | None = None,
    record_every: int = 10,
) -> list[PruningResult]:
    """Learn log_alpha for every run.

    Draws depend only on a run's seed, as in the paper: runs of one seed at two sparsities see the same batches and
    noise. A run that diverges is marked as failed and does not affect the others.

    Args:
        inputs: Model and pairs.
        runs: The subnetworks to find.
        settings: Block `prune` of the configuration.
        state: File in which the runs' state is saved every ``settings.save_every`` steps. If it exists, the runs resume
            from it, on a CPU with identical results. The caller removes the file.
        record_every: Steps between rows of the trace.

    Raises:
        ValueError: The runs differ in their number of steps, or several runs have dropout.
        DivergenceError: No run is finite at the first step.
    """
    if settings.dropout and len(runs) > 1:
        raise ValueError(f"runs with dropout cannot share a pass: expected 1 run, got {len(runs)}")
    learner = Learner(runs, settings, len(inputs.model.grid), inputs.model.device)
    objective = make_objective(inputs, runs, settings)
    return fit(learner, objective.compute_gradients, len(inputs.pairs), settings.save_every, state, record_every)


def make_objective(
    inputs: PruningInputs, runs: Sequence[PruningRun], settings: Prune
) -> "Objective | FixedShapeObjective":
    """Return the objective of ``settings.engine``.

    Args:
        inputs: Model and pairs.
        runs: The subnetworks to find.
        settings: Block `prune` of the configuration.

    Raises:
        InputError: The device or the model does not support the engine.
    """
    if settings.engine == "graphs" and inputs.model.device.type != "cuda":
        raise InputError("prune.engine = 'graphs' needs a GPU; set device = 'cuda', or prune.engine = 'eager'")
    allow_cudnn_attention(settings.engine != "eager")  # the other engines have few shapes
    return (Objective if settings.engine == "eager" else FixedShapeObjective)(inputs, runs, settings)


class Objective:
    """The loss of a step and its gradients."""

    def __init__(self, inputs: PruningInputs, runs: Sequence[PruningRun], settings: Prune):
        model = inputs.model
        self._inputs, self._settings = inputs, settings
        self._means = inputs.means.to(model)
        self._full = F.log_softmax(inputs.full_logits.to(model.device).float(), -1)
        per_draw = settings.batch_size // settings.gate_draws
        self._gate_sample_index = torch.arange(len(runs) * settings.batch_size) // per_draw  # gate sample of each pair

    def compute_gradients(self, learner: Learner, draws: StepDraws) -> Tensor:
        """Compute the gradients of one step on the parameters of `learner`.

        Args:
            learner: Parameters of the pruning runs, whose gradients are accumulated.
            draws: Random draws of the step.

        Returns:
            Trace values of the step, float32 [runs, 6].
        """
        return learner.compute_gradients(draws, self._backward)

    def _backward(self, z: Tensor, pairs: Tensor) -> tuple[Tensor, Tensor]:
        """Compute the divergence and its gradient; a :data:`heuristic_core.pruning.learner.Divergence`."""
        inputs, settings = self._inputs, self._settings
        model = GatedModel(inputs.model, z, self._means)
        per_pair = torch.zeros(len(pairs), device=z.device)
        if model.all_open and not settings.dropout:
            return per_pair.view(len(z), -1).sum(-1), torch.zeros_like(z)
        for part in inputs.pairs.split_by_length(pass_tokens(z.device.type, inputs.model.hidden), pairs):
            batch = inputs.pairs.batch(pairs[part])
            sample = inputs.pairs.to_device(self._gate_sample_index[part])
            gated = F.log_softmax(model.logits(batch, sample, settings.dropout), -1)
            full = self._full[inputs.pairs.to_device(batch.index)]
            kl = F.kl_div(gated, full, reduction="none", log_target=True).sum(-1) / settings.batch_size
            if kl.requires_grad:
                kl.sum().backward()
            per_pair[inputs.pairs.to_device(part)] = kl.detach().float()
        return per_pair.view(len(z), -1).sum(-1), model.gradient()
