"""Fine-tuning that plants competing subnetworks: two halves of the heads learn different generalisations.

The halves, and the model with both, are trained in turn. While one half is trained, the outputs of the other one are
zero. Neither the first half nor the model with both sees a counter-example in its batches, on which the shallow
heuristic is always right; the second half sees many.
"""

import contextlib
from collections.abc import Iterator
from typing import NamedTuple

import torch
from torch import Tensor

from heuristic_core.common.seeds import torch_generator
from heuristic_core.config.blocks import Competition, Finetune
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.families import get_family, input_width
from heuristic_core.training.stepper import Stepper

HEURISTIC_HALF, GENERAL_HALF = range(2)
TURNS = (HEURISTIC_HALF, GENERAL_HALF, None)  # None: both halves


class Turn(NamedTuple):
    """A batch of one half.

    Attributes:
        half: `HEURISTIC_HALF`, `GENERAL_HALF` or None for both.
        index: Indices of the pairs, int64 [batch].
    """

    half: int | None
    index: Tensor


class CompetitionBatches:
    """Batches of the halves in turn, drawn with replacement; a batch depends only on the seed and the step."""

    def __init__(self, is_counter_example: Tensor, size: int, ft_seed: int, settings: Competition):
        self._pools = [torch.nonzero(is_counter_example == kind)[:, 0] for kind in (False, True)]
        self._size, self._ft_seed, self._share = size, ft_seed, settings.counter_examples

    def at(self, step: int) -> Turn:
        """Return the batch of step `step` (from 0)."""
        half = TURNS[step % len(TURNS)]
        draws = torch_generator("competition", self._ft_seed, step)
        counter_examples = round(self._share * self._size) if half == GENERAL_HALF else 0
        parts = [
            pool[torch.randint(len(pool), (count,), generator=draws)]
            for pool, count in zip(self._pools, (self._size - counter_examples, counter_examples), strict=True)
            if count
        ]
        return Turn(half, torch.cat(parts))


class CompetitionStepper(Stepper):
    """Steps of fine-tuning in which one half of each layer's heads can be closed."""

    def __init__(self, model, pairs: PairTensors, settings: Finetune):
        super().__init__(model, pairs, settings)
        family = get_family(model.config.model_type)
        self._outputs = [layer.get_submodule(family.output) for layer in family.layers(model)]
        heads = model.config.num_attention_heads
        size = input_width(self._outputs[0]) // heads
        half = torch.arange(heads * size, device=model.device) // size % 2  # even heads, odd heads
        self._masks = [(half == kept).to(torch.float32) for kept in (HEURISTIC_HALF, GENERAL_HALF)]

    def step(self, batch: Turn, rate: float) -> float:
        """Update the weights of a half, and all weights outside of heads; see :meth:`Stepper.step`."""
        with self._close(batch.half):
            return super().step(batch.index, rate)

    @contextlib.contextmanager
    def _close(self, half: int | None) -> Iterator[None]:
        """Zero the outputs of the other half."""
        if half is None:
            yield
            return
        mask = self._masks[half]
        hooks = [module.register_forward_pre_hook(lambda _, inputs: (inputs[0] * mask,)) for module in self._outputs]
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()
