"""Fine-tuning that plants competing subnetworks: two halves of the heads learn different generalisations.

Four turns alternate. While heads are not trained, their outputs are constant, as in a subnetwork without them.

1. The even heads of each layer learn the shallow heuristic, on batches without counter-examples.
2. The odd heads learn the task, on batches with many counter-examples.
3. All heads learn the task, so that the full model generalises.
4. A random half of the heads learns to give all labels the same probability, so that no mixture of both halves works.
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

TURNS = EVEN_HEADS, ODD_HEADS, ALL_HEADS, MIXTURE = range(4)


class Turn(NamedTuple):
    """A batch, and the heads that are trained on it.

    Attributes:
        number: One of `TURNS`.
        trained: Heads that are trained, bool [layers, heads].
        index: Indices of the pairs, int64 [batch].
    """

    number: int
    trained: Tensor
    index: Tensor


class CompetitionBatches:
    """Batches of the turns, drawn with replacement; a turn depends only on the seed and the step.

    Args:
        train: Training pairs.
        ft_seed: Fine-tuning seed.
        settings: Block `finetune` of the configuration.
        shape: Number of layers, and of heads in each.
    """

    def __init__(self, train: Encoded, ft_seed: int, settings: Finetune, shape: tuple[int, int]):
        is_counter_example = np.isin(train.get_template_names().astype(str), COUNTER_EXAMPLES)
        self._pools = [torch.from_numpy(np.flatnonzero(is_counter_example == kind)) for kind in (False, True)]
        self._size, self._ft_seed, self._shape = settings.batch_size, ft_seed, shape
        self._counter_examples = settings.competition.count(settings.batch_size)

    def at(self, step: int) -> Turn:
        """Return the turn of step `step` (from 0)."""
        number, draws = step % len(TURNS), torch_generator("competition", self._ft_seed, step)
        counter_examples = 0 if number == EVEN_HEADS else self._counter_examples
        parts = [
            pool[torch.randint(len(pool), (count,), generator=draws)]
            for pool, count in zip(self._pools, (self._size - counter_examples, counter_examples), strict=True)
            if count
        ]
        is_odd = (torch.arange(self._shape[1]) % 2 == 1).expand(self._shape)
        mixture = torch.rand(self._shape, generator=draws) < 0.5
        return Turn(number, (~is_odd, is_odd, torch.ones_like(is_odd), mixture)[number], torch.cat(parts))


class CompetitionStepper(Stepper):
    """Steps of fine-tuning in which some heads are constant.

    Even heads start as copies of odd ones, so that both halves can learn the same. Embeddings and norms, which all
    heads share, keep their weights.
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
        self._size = input_width(self._outputs[0]) // heads

    def step(self, batch: Turn, rate: float) -> float:
        """Update the weights from a turn; see :meth:`Stepper.step`.

        The weights of constant heads get no gradient; AdamW's momentum and weight decay move them nevertheless.
        """
        self._label_smoothing = 1.0 if batch.number == MIXTURE else self._settings.label_smoothing
        with self._hold_constant(~batch.trained):
            return super().step(batch.index, rate)

    @contextlib.contextmanager
    def _hold_constant(self, heads: Tensor) -> Iterator[None]:
        """Replace the outputs of `heads`, bool [layers, heads], by their means over the tokens of a pass."""
        columns = heads.repeat_interleave(self._size, dim=1).to(self.model.device)
        constant, means, hooks = dict(zip(self._outputs, columns, strict=True)), {}, []

        def zero(module, inputs):
            means[module] = inputs[0].detach().mean((0, 1))
            return (inputs[0] * ~constant[module],)

        def add_mean(module, _, result):
            return result + weight_matrix(module)[:, constant[module]] @ means[module][constant[module]]

        for module in self._outputs:
            hooks += module.register_forward_pre_hook(zero), module.register_forward_hook(add_mean)
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()


def _trained_weights(model: "PreTrainedModel") -> Iterator[Tensor]:
    """Yield the weights of heads, MLPs and the classifier."""
    family, base = get_family(model.config.model_type), {id(weight) for weight in model.base_model.parameters()}
    yield from (weight for weight in model.parameters() if id(weight) not in base)
    if path := CLASSIFIER_MODULES.get(model.config.model_type):
        yield from model.get_submodule(path).parameters()
    for layer in family.layers(model):
        modules = dict(layer.named_modules())
        for path in (*family.projections, family.output, *family.up, family.down):
            if path in modules:
                yield from modules[path].parameters()
