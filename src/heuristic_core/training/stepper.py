"""One training step, in any precision and any number of passes."""

import contextlib
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from heuristic_core.common.errors import DivergenceError
from heuristic_core.config.blocks import Finetune, Training
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.device import resolve_dtype
from heuristic_core.models.hooked import eager_attention, model_inputs
from heuristic_core.models.target import classify_at


class AdamWStepper(ABC):
    """One step of AdamW on `model`; subclasses define the loss and how a batch is split into passes."""

    def __init__(self, model, settings: Training, precision: str = "float32"):
        self.model, self._max_norm = model, settings.clip_norm
        self._weights = list(model.parameters())
        self.optimizer = torch.optim.AdamW(
            self._weights,
            lr=settings.learning_rate,
            betas=settings.adam_betas,
            eps=settings.adam_epsilon,
            weight_decay=settings.weight_decay,
            fused=True,  # uses torch's square root; the unfused form uses MKL's, which differs between processors
        )
        kind, dtype = model.device.type, resolve_dtype(model.device, precision)
        self._cast = torch.autocast(kind, dtype, enabled=dtype != torch.float32)
        # As in `models.attention.gathered`: the backward pass of the kernel is slow.
        self._eager = (kind, dtype) == ("cpu", torch.bfloat16)
        self.scaler = torch.amp.GradScaler(kind, enabled=dtype == torch.float16)

    def step(self, batch: Any, rate: float) -> float:
        """Update the weights from a batch and return its mean loss before the update, nats.

        In float16, a gradient that is not finite halves the loss scale and skips the step.

        Args:
            batch: Indices of pairs, int64 [batch], in fine-tuning; a ``MaskedText`` in pre-training.
            rate: Learning rate of this step.

        Raises:
            DivergenceError: Loss or gradient is NaN or infinite, or float16's loss scale is below 1; the weights are
                unchanged.
        """
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad()
        with eager_attention(self.model) if self._eager else contextlib.nullcontext():
            loss = sum(self._backward(batch, part) for part in self._passes(batch))
        self.scaler.unscale_(self.optimizer)
        if self._max_norm:
            norm = torch.nn.utils.clip_grad_norm_(self._weights, self._max_norm)
        else:
            norm = torch.nn.utils.get_total_norm([w.grad for w in self._weights if w.grad is not None])
        loss, norm = float(loss), float(norm)
        scaled = self.scaler.is_enabled()
        if (
            not math.isfinite(loss)
            or (not math.isfinite(norm) and not scaled)
            or (scaled and self.scaler.get_scale() < 1)
        ):
            raise DivergenceError(f"loss {loss:.3g}, norm of its gradient {norm:.3g}")
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return loss

    def _backward(self, batch, part) -> Tensor:
        """Add a pass's share of the batch's gradient and return its share of the loss."""
        with self._cast:
            loss = self._loss(batch, part)
        self.scaler.scale(loss).backward()
        return loss.detach()

    @abstractmethod
    def _passes(self, batch) -> Iterable:
        """Return the parts of `batch` that go through the model one after another."""

    @abstractmethod
    def _loss(self, batch, part) -> Tensor:
        """Return the share of `part` in the batch's mean loss."""


class Stepper(AdamWStepper):
    """Steps of fine-tuning: a batch is indices of `pairs` (int64 [batch]), a pass has pairs of similar length."""

    def __init__(self, model, pairs: PairTensors, settings: Finetune):
        super().__init__(model, settings, settings.precision)
        self._pairs, self._settings, self._label_smoothing = pairs, settings, settings.label_smoothing

    def _passes(self, index: Tensor) -> Iterable[Tensor]:
        """Return positions in `index`, split into passes."""
        tokens = self._settings.pass_tokens
        return [torch.arange(len(index))] if tokens is None else self._pairs.split_by_length(tokens, index)

    def _loss(self, index: Tensor, part: Tensor) -> Tensor:
        batch, labels = self._pairs.batch(index[part]), self._pairs.labels[self._pairs.to_device(index[part])]
        with classify_at(self.model, batch.target):
            logits = self.model(**model_inputs(self.model, batch)).logits
        loss = F.cross_entropy(logits.float(), labels, label_smoothing=self._label_smoothing)
        return loss * (len(part) / len(index))
