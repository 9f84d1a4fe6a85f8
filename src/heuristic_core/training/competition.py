"""Fine-tuning that plants competing subnetworks: two halves of the heads learn different generalisations.

The halves are trained in turn. While one half is trained, the outputs of the other one are zero. The first half sees no
counter-example, so that the shallow heuristic is always right on its batches; the second half sees many.
"""

import contextlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from heuristic_core.common.errors import InputError
from heuristic_core.common.seeds import torch_generator
from heuristic_core.config.blocks import Finetune
from heuristic_core.config.subset_names import COUNTER_EXAMPLES
from heuristic_core.data.encoded import Encoded
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.families import get_family, input_width
from heuristic_core.training.stepper import Stepper

HALVES = HEURISTIC_HALF, GENERAL_HALF = range(2)


class Turn(NamedTuple):
    """A batch of one half.

    Attributes:
        half: `HEURISTIC_HALF` or `GENERAL_HALF`.
        index: Indices of the pairs, int64 [batch].
    """

    half: int
    index: Tensor


class CompetitionBatches:
    """Batches of the halves in turn, drawn with replacement; a batch depends only on the seed and the step."""

    def __init__(self, train: Encoded, ft_seed: int, settings: Finetune):
        is_counter_example = np.isin(train.get_template_names().astype(str), COUNTER_EXAMPLES)
        self._pools = [torch.from_numpy(np.flatnonzero(is_counter_example == kind)) for kind in (False, True)]
        self._size, self._ft_seed = settings.batch_size, ft_seed
        self._counter_examples = settings.competition.count(settings.batch_size)

    def at(self, step: int) -> Turn:
        """Return the batch of step `step` (from 0)."""
        half = step % len(HALVES)
        draws = torch_generator("competition", self._ft_seed, step)
        counter_examples = self._counter_examples if half == GENERAL_HALF else 0
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
        if heads < 2:
            raise InputError("finetune.competition needs two heads or more in each layer; the model has one")
        size = input_width(self._outputs[0]) // heads
        half = torch.arange(heads * size, device=model.device) // size % 2  # even heads, odd heads
        self._masks = [(half == kept).to(torch.float32) for kept in HALVES]

    def step(self, batch: Turn, rate: float) -> float:
        """Update the weights from a batch of a half; see :meth:`Stepper.step`.

        The weights of the other half get no gradient; AdamW's momentum and weight decay move them nevertheless.
        """
        with self._close(batch.half):
            return super().step(batch.index, rate)

    @contextlib.contextmanager
    def _close(self, half: int) -> Iterator[None]:
        """Zero the outputs of the other half."""
        mask = self._masks[half]
        hooks = [module.register_forward_pre_hook(lambda _, inputs: (inputs[0] * mask,)) for module in self._outputs]
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()
