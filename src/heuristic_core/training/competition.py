"""Fine-tuning that plants competing subnetworks: two halves of the heads learn different generalisations.

The halves, and then all heads, are trained in turn. While one half is trained, the outputs of the other one are
constant, as in a subnetwork without it. The first half sees no counter-example, so that the shallow heuristic is always
right on its batches; the second half and all heads together see many.
"""

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from heuristic_core.common.errors import InputError
from heuristic_core.common.seeds import torch_generator
from heuristic_core.config.blocks import Finetune
from heuristic_core.config.subset_names import COUNTER_EXAMPLES
from heuristic_core.data.encoded import Encoded
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.classifier_heads import CLASSIFIER_MODULES
from heuristic_core.models.families import get_family, input_width
from heuristic_core.models.head_weights import copy_heads, weight_matrix
from heuristic_core.training.stepper import Stepper

if TYPE_CHECKING:
    from transformers import PreTrainedModel

TURNS = HEURISTIC_HALF, GENERAL_HALF, ALL_HEADS = range(3)
HALVES = HEURISTIC_HALF, GENERAL_HALF


class Turn(NamedTuple):
    """A batch, and the heads that are trained on it.

    Attributes:
        half: `HEURISTIC_HALF`, `GENERAL_HALF` or `ALL_HEADS`.
        index: Indices of the pairs, int64 [batch].
    """

    half: int
    index: Tensor


class CompetitionBatches:
    """Batches of the turns, drawn with replacement; a batch depends only on the seed and the step."""

    def __init__(self, train: Encoded, ft_seed: int, settings: Finetune):
        is_counter_example = np.isin(train.get_template_names().astype(str), COUNTER_EXAMPLES)
        self._pools = [torch.from_numpy(np.flatnonzero(is_counter_example == kind)) for kind in (False, True)]
        self._size, self._ft_seed = settings.batch_size, ft_seed
        self._counter_examples = settings.competition.count(settings.batch_size)

    def at(self, step: int) -> Turn:
        """Return the batch of step `step` (from 0)."""
        half = step % len(TURNS)
        draws = torch_generator("competition", self._ft_seed, step)
        counter_examples = 0 if half == HEURISTIC_HALF else self._counter_examples
        parts = [
            pool[torch.randint(len(pool), (count,), generator=draws)]
            for pool, count in zip(self._pools, (self._size - counter_examples, counter_examples), strict=True)
            if count
        ]
        return Turn(half, torch.cat(parts))


class CompetitionStepper(Stepper):
    """Steps of fine-tuning in which the heads of one half can be constant.

    The heads of the first half start as copies of the other half's, so that both can learn the same. What the halves
    share (embeddings, MLPs and norms) keeps its weights; only heads and the classifier are trained.
    """

    def __init__(self, model: "PreTrainedModel", pairs: PairTensors, settings: Finetune):
        family, heads = get_family(model.config.model_type), model.config.num_attention_heads
        if heads % 2:
            raise InputError(f"finetune.competition needs an even number of heads in each layer; the model has {heads}")
        copy_heads(model, [head | 1 for head in range(heads)])
        trained = {id(weight) for weight in _trained_weights(model)}
        for weight in model.parameters():
            weight.requires_grad_(id(weight) in trained)
        super().__init__(model, pairs, settings)
        self._outputs = [layer.get_submodule(family.output) for layer in family.layers(model)]
        size = input_width(self._outputs[0]) // heads
        half = torch.arange(heads * size, device=model.device) // size % 2  # even heads, odd heads
        self._constant = [half != kept for kept in HALVES]

    def step(self, batch: Turn, rate: float) -> float:
        """Update the weights from a batch of a turn; see :meth:`Stepper.step`.

        The weights of a constant half get no gradient; AdamW's momentum and weight decay move them nevertheless.
        """
        with self._hold_constant(batch.half):
            return super().step(batch.index, rate)

    @contextlib.contextmanager
    def _hold_constant(self, half: int) -> Iterator[None]:
        """Replace the outputs of the heads outside `half` by their means over the tokens of a pass."""
        hooks, means = [], {}
        if half in HALVES:
            constant = self._constant[half]

            def zero(module, inputs):
                means[module] = inputs[0].detach().mean((0, 1))
                return (inputs[0] * ~constant,)

            def add_mean(module, _, result):
                return result + weight_matrix(module)[:, constant] @ means[module][constant]

            for module in self._outputs:
                hooks += module.register_forward_pre_hook(zero), module.register_forward_hook(add_mean)
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()


def _trained_weights(model: "PreTrainedModel") -> Iterator[Tensor]:
    """Yield the weights of heads and of the classifier."""
    family, base = get_family(model.config.model_type), {id(weight) for weight in model.base_model.parameters()}
    yield from (weight for weight in model.parameters() if id(weight) not in base)
    if path := CLASSIFIER_MODULES.get(model.config.model_type):
        yield from model.get_submodule(path).parameters()
    for layer in family.layers(model):
        modules = dict(layer.named_modules())
        for path in (*family.projections, family.output):
            if path in modules:
                yield from modules[path].parameters()
