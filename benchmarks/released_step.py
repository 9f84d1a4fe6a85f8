"""A step of pruning as the paper's released code does it, which `prune_step` compares with: see there."""

import torch
import torch.nn.functional as F
from common import MaskedBert, Size, padded_inputs, tokenizer_of
from torch import Tensor

from heuristic_core.config.pruning import Prune


class Baseline:
    """The plain step. log_alpha: where it starts, [components]."""

    def __init__(self, masked: MaskedBert, rows: list[dict], size: Size, settings: Prune, log_alpha: Tensor):
        self._masked, self._rows, self._size, self._dropout = masked, rows, size, settings.dropout
        self._tokenizer = tokenizer_of(size)
        self.log_alpha = log_alpha.detach().clone().requires_grad_()
        self._lambdas = torch.zeros(2, requires_grad=True)
        descent = {"params": [self.log_alpha], "lr": settings.learning_rate}
        ascent = {"params": [self._lambdas], "lr": settings.controller_learning_rate, "maximize": True}
        self._optimizer = torch.optim.AdamW([descent, ascent], weight_decay=0.01)

    def step(self, index: Tensor, noise: Tensor, target: float) -> None:
        self.gradients(index, noise, target)
        self._optimizer.step()
        self._optimizer.zero_grad()

    def gradients(self, index: Tensor, noise: Tensor, target: float) -> float:
        """Those of one step, over micro-batches with a gate sample each; the mean KL. noise: [draws, components]."""
        total = 0.0
        for part, uniform in zip(index.chunk(len(noise)), noise, strict=True):
            rows = [self._rows[i] for i in part.tolist()]
            inputs = padded_inputs(self._tokenizer, rows, self._size.max_length)
            kl, penalty = self._losses(inputs, uniform, target)
            ((kl + penalty) / len(noise)).backward()
            total += kl.item() / len(noise)
        return total

    def _losses(self, inputs: dict, uniform: Tensor, target: float) -> tuple[Tensor, Tensor]:
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
