"""Pruning step of the paper's released code, the baseline of `prune_step`."""

import torch
import torch.nn.functional as F
from common import MaskedBert, Size, make_tokenizer, pad_inputs
from torch import Tensor

from heuristic_core.config.pruning import Prune


class Baseline:
    """Pruning step of the released code.

    Args:
        masked: Model.
        rows: Rows of table `sentences` to train on.
        size: Sizes of the benchmark.
        settings: Settings of pruning.
        log_alpha: Initial value, [components].
    """

    def __init__(self, masked: MaskedBert, rows: list[dict], size: Size, settings: Prune, log_alpha: Tensor):
        self._masked, self._rows, self._size, self._dropout = masked, rows, size, settings.dropout
        self._tokenizer = make_tokenizer(size)
        self.log_alpha = log_alpha.detach().clone().requires_grad_()
        self._lambdas = torch.zeros(2, requires_grad=True)
        descent = {"params": [self.log_alpha], "lr": settings.learning_rate}
        ascent = {"params": [self._lambdas], "lr": settings.controller_learning_rate, "maximize": True}
        self._optimizer = torch.optim.AdamW([descent, ascent], weight_decay=0.01)

    def step(self, index: Tensor, noise: Tensor, target: float) -> None:
        self.compute_gradients(index, noise, target)
        self._optimizer.step()
        self._optimizer.zero_grad()

    def compute_gradients(self, index: Tensor, noise: Tensor, target: float) -> float:
        """Compute the gradients of one step, over micro-batches with a gate sample each, and return the mean KL.

        Args:
            index: Pairs of the step.
            noise: Uniform noise of the gate samples, [draws, components].
            target: Target sparsity.
        """
        total = 0.0
        for micro_batch, uniform in zip(index.chunk(len(noise)), noise, strict=True):
            rows = [self._rows[i] for i in micro_batch.tolist()]
            inputs = pad_inputs(self._tokenizer, rows, self._size.max_length)
            kl, penalty = self._compute_losses(inputs, uniform, target)
            ((kl + penalty) / len(noise)).backward()
            total += kl.item() / len(noise)
        return total

    def _compute_losses(self, inputs: dict, uniform: Tensor, target: float) -> tuple[Tensor, Tensor]:
        model = self._masked.model
        self._masked.gates = None
        with torch.no_grad():
            full = F.log_softmax(model.eval()(**inputs).logits, -1)
        uniform = uniform.clamp(1e-6, 1 - 1e-6)
        soft = torch.sigmoid((uniform.log() - (1 - uniform).log() + self.log_alpha) / (2 / 3))
        z = self._masked.gates = (1.2 * soft - 0.1).clamp(0, 1)
        gated = F.log_softmax(model.train(self._dropout)(**inputs).logits, -1)
        gap = target - (1 - z.mean())
        penalty = self._lambdas[0] * gap + self._lambdas[1] * gap**2
        return F.kl_div(gated, full, reduction="batchmean", log_target=True), penalty
