"""What training does in one step, in whatever precision and in however many passes."""

import contextlib
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable

import torch
import torch.nn.functional as F
from torch import Tensor

from heuristic_core.common.errors import Diverged
from heuristic_core.config.blocks import Finetune, Training
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.device import dtype_on
from heuristic_core.models.hooked import by_products, inputs_for


class AdamWStepper(ABC):
    """One step of AdamW on `model`; what is learned from, and in which passes, a subclass says."""

    def __init__(self, model, settings: Training, precision: str = "float32"):
        self.model, self._largest_norm = model, settings.clip_norm
        self.optimizer = torch.optim.AdamW(
            model.parameters(),
            lr=settings.learning_rate,
            betas=settings.adam_betas,
            eps=settings.adam_epsilon,
            weight_decay=settings.weight_decay,
            fused=True,  # torch's own square root: MKL's, which the other form takes, differs between processors
        )
        kind, dtype = model.device.type, dtype_on(model.device, precision)
        self._cast = torch.autocast(kind, dtype, enabled=dtype != torch.float32)
        # As in `models.attention.gathered`: the backward pass of the kernel is slow.
        self._by_products = (kind, dtype) == ("cpu", torch.bfloat16)
        self.scaler = torch.amp.GradScaler(kind, enabled=dtype == torch.float16)

    def step(self, batch, rate: float) -> float:
        """Learn from `batch` at learning rate `rate`; its mean loss, nats.

        Raises Diverged, and leaves the weights as they were, where loss or gradient is not finite. In float16 one
        that is not halves the loss scale, and the step is left out; the scale must not vanish.
        """
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad()
        with by_products(self.model) if self._by_products else contextlib.nullcontext():
            loss = sum(self._backward(batch, part) for part in self._passes(batch))
        self.scaler.unscale_(self.optimizer)
        weights = self.model.parameters()
        if self._largest_norm:
            norm = torch.nn.utils.clip_grad_norm_(weights, self._largest_norm)
        else:
            norm = torch.nn.utils.get_total_norm([w.grad for w in weights if w.grad is not None])
        loss, norm = float(loss), float(norm)
        scaled = self.scaler.is_enabled()
        if (
            not math.isfinite(loss)
            or (not math.isfinite(norm) and not scaled)
            or (scaled and self.scaler.get_scale() < 1)
        ):
            raise Diverged(f"loss {loss:.3g}, norm of its gradient {norm:.3g}")
        self.scaler.step(self.optimizer)
        self.scaler.update()
        return loss

    def _backward(self, batch, part) -> Tensor:
        """Add a pass's share of the batch's gradient; its share of the loss."""
        with self._cast:
            loss = self._loss(batch, part)
        self.scaler.scale(loss).backward()
        return loss.detach()

    @abstractmethod
    def _passes(self, batch) -> Iterable:
        """The parts of `batch` that go through the model one after another."""

    @abstractmethod
    def _loss(self, batch, part) -> Tensor:
        """The share of the batch's mean loss that `part` has."""


class Stepper(AdamWStepper):
    """Steps of fine-tuning: a batch is positions in `pairs` (int64 [batch]), a pass pairs of like length among them."""

    def __init__(self, model, pairs: PairTensors, settings: Finetune):
        super().__init__(model, settings, settings.precision)
        self._pairs, self._settings = pairs, settings

    def _passes(self, index: Tensor) -> Iterable[Tensor]:
        """Positions in `index`, cut into what goes through the model at once."""
        tokens = self._settings.pass_tokens
        return [torch.arange(len(index))] if tokens is None else self._pairs.by_length(tokens, index)

    def _loss(self, index: Tensor, part: Tensor) -> Tensor:
        batch, labels = self._pairs.batch(index[part]), self._pairs.labels[self._pairs.on_device(index[part])]
        logits = self.model(**inputs_for(self.model, batch)).logits
        loss = F.cross_entropy(logits.float(), labels, label_smoothing=self._settings.label_smoothing)
        return loss * (len(part) / len(index))
