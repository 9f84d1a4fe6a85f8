"""Pruning: learn which components a subnetwork of a given sparsity keeps (paper, section 3.2; METHOD, "Objective").

The model's weights are frozen. Gates descend, the two Lagrange multipliers ascend on
KL(full || gated) + lambda_1 (t - s) + lambda_2 (t - s)^2.
"""

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from heuristic_core import gates
from heuristic_core.ablation import ComponentMeans, MeanAblation
from heuristic_core.components import kept_count
from heuristic_core.config.blocks import Prune
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.fused import FusedBert
from heuristic_core.progress import Progress
from heuristic_core.random import generator


@dataclass(frozen=True)
class Pruned:
    """kept: ascending component indices. log_alpha: [components]. trace: one dict per recorded step."""

    kept: list[int]
    log_alpha: Tensor
    trace: list[dict]


@dataclass(frozen=True)
class PruningInputs:
    """What every pruning run of one checkpoint shares.

    pairs: the training pairs drawn from. full_logits: [pairs, classes], the unpruned model's.
    """

    model: FusedBert
    means: ComponentMeans
    pairs: PairTensors
    full_logits: Tensor


def prune(inputs: PruningInputs, sparsity: float, seed: int, settings: Prune, record_every: int = 10) -> Pruned:
    """Find the subnetwork of `sparsity` (share of components removed) for pruning seed `seed`.

    Draws depend on `seed` alone, as in the paper: runs of one seed at two sparsities see the same batches and noise.
    Raises FloatingPointError where the loss is no longer finite.
    """
    model, size, draws = inputs.model, len(inputs.model.grid), settings.gate_draws
    starts, batches, noise = (generator(purpose, seed) for purpose in ("log_alpha", "batches", "gates"))
    log_alpha = torch.normal(
        settings.log_alpha_mean, settings.log_alpha_std, (size,), generator=starts
    ).requires_grad_()
    lambdas = torch.zeros(2, requires_grad=True)
    optimizer = torch.optim.AdamW(
        [
            {"params": [log_alpha], "lr": settings.learning_rate},
            {"params": [lambdas], "lr": settings.controller_learning_rate, "maximize": True},
        ],
        weight_decay=settings.weight_decay,
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, settings))
    targets = F.log_softmax(inputs.full_logits, -1)
    trace = []
    progress = Progress("prune", settings.steps)
    for step in range(settings.steps):
        target = gates.target_at(step, settings.steps, settings.target_warmup, sparsity)
        index = torch.randint(len(inputs.pairs), (settings.batch_size,), generator=batches)
        z = gates.sample(log_alpha, torch.rand(draws, size, generator=noise))  # [draws, components]
        per_pair = z[0] if draws == 1 else z.repeat_interleave(settings.batch_size // draws, 0)
        gated = model.logits(inputs.pairs.batch(index), MeanAblation(per_pair, inputs.means, model.grid))
        kl = F.kl_div(F.log_softmax(gated, -1), targets[index], reduction="batchmean", log_target=True)
        removed = 1 - z.mean(-1)  # [draws]: the controller sees the sparsity of each forward
        loss = kl + gates.penalty(removed, target, lambdas).mean()
        optimizer.zero_grad()
        loss.backward()
        if not torch.isfinite(loss):
            raise FloatingPointError(f"pruning diverged at step {step}: loss {float(loss.detach())}")
        optimizer.step()
        schedule.step()
        if step % record_every == 0 or step == settings.steps - 1:
            row = {
                "prune_step": step,
                "kl": float(kl.detach()),
                "sampled_sparsity": float(removed.detach().mean()),
                "target_sparsity": target,
                "lambda_1": float(lambdas[0].detach()),
                "lambda_2": float(lambdas[1].detach()),
                "log_alpha": float(log_alpha.detach().mean()),
            }
            trace.append(row)
            progress.at(step + 1, kl=row["kl"], sparsity=row["sampled_sparsity"], target=target)
    final = log_alpha.detach()
    return Pruned(gates.keep_largest(final, kept_count(size, sparsity)), final, trace)


def _rate(step: int, settings: Prune) -> float:
    """Learning-rate factor: linear warm-up times linear decay to zero."""
    warm = min(1.0, (step + 1) / settings.warmup_steps) if settings.warmup_steps else 1.0
    return warm * (settings.steps - step) / settings.steps
