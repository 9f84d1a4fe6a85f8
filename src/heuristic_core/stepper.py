"""What fine-tuning does in one step, in whatever precision and in however many passes."""

import math
from collections.abc import Iterable

import torch
import torch.nn.functional as F
from torch import Tensor

from heuristic_core.config.blocks import Finetune
from heuristic_core.errors import Diverged
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.hooked import inputs_for
from heuristic_core.models.load import dtype_on


class Stepper:
    """One step of AdamW on `model`: forward and backward in passes over pairs of like length, in the set precision."""

    def __init__(self, model, pairs: PairTensors, settings: Finetune):
        self.model, self._pairs, self._settings = model, pairs, settings
        self.optimizer = torch.optim.AdamW(
            model.parameters(),
            lr=settings.learning_rate,
            betas=settings.adam_betas,
            eps=settings.adam_epsilon,
            weight_decay=settings.weight_decay,
        )
        kind, self._dtype = model.device.type, dtype_on(model.device, settings.precision)
        self._cast = torch.autocast(kind, self._dtype, enabled=self._dtype != torch.float32)
        self.scaler = torch.amp.GradScaler(kind, enabled=self._dtype == torch.float16)

    def step(self, index: Tensor, rate: float) -> float:
        """Learn from the pairs at `index` (int64 [batch]) at learning rate `rate`; their mean loss, nats.

        Raises Diverged, and leaves the weights as they were, where loss or gradient is not finite. In float16 one
        that is not halves the loss scale, and the step is left out; the scale must not vanish.
        """
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad()
        loss = sum(self._backward(index, part) for part in self._passes(index))
        self.scaler.unscale_(self.optimizer)
        weights, largest = self.model.parameters(), self._settings.clip_norm
        if largest:
            norm = torch.nn.utils.clip_grad_norm_(weights, largest)
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

    def _passes(self, index: Tensor) -> Iterable[Tensor]:
        """Positions in `index`, cut into what goes through the model at once."""
        tokens = self._settings.pass_tokens
        return [torch.arange(len(index))] if tokens is None else self._pairs.by_length(tokens, index)

    def _backward(self, index: Tensor, part: Tensor) -> Tensor:
        """Add a pass's share of the batch's gradient; its share of the loss."""
        batch, labels = self._pairs.batch(index[part]), self._pairs.labels[self._pairs.on_device(index[part])]
        with self._cast:
            logits = self.model(**inputs_for(self.model, batch)).logits
        loss = F.cross_entropy(logits.float(), labels, label_smoothing=self._settings.label_smoothing)
        loss = loss * (len(part) / len(index))
        self.scaler.scale(loss).backward()
        return loss.detach()
