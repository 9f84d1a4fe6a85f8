"""The one interface of a classifier that is pruned, ablated and evaluated; `fused` and `hooked` implement it."""

from collections.abc import Callable, Sequence
from typing import Protocol

import torch
from torch import Tensor

from heuristic_core.models.batches import Batch
from heuristic_core.models.components import ComponentGrid

# Called with ("head" | "mlp", layer, activation) where a component's output can be read or replaced. Heads: the context
# vectors before the output projection, [B, T, H, dh]. MLP: the output of its last linear map, bias included, [B, T, d].
# An edit whose attribute `projections` is true is also called with the kinds of `PROJECTIONS`: what a layer's maps make
# queries, keys and values of, [B, T, H, dh], before whatever the family does to them (norms, rotary positions).
# Where many runs begin alike, time can be saved: an implementation may also call an edit whose attribute `inputs` is
# true with "input", what a layer gets, [B, T, d]; and if an edit has an attribute `start`, (layer, such an input) or
# None, it may begin there.
Edit = Callable[[str, int, Tensor], Tensor]
PROJECTIONS = ("query", "key", "value")
# Called with (layer, probabilities [B, H, T, T]).
AttentionObserver = Callable[[int, Tensor], None]


class Model(Protocol):
    """A fine-tuned sequence classifier with frozen weights.

    Attributes: grid, the components; labels, the class names in logit order; hidden, the width of the residual stream;
    head_size, the width of a head's context vector; pad, the padding token; device and dtype of the weights.
    """

    grid: ComponentGrid
    labels: tuple[str, ...]
    hidden: int
    head_size: int
    pad: int
    device: torch.device
    dtype: torch.dtype

    def logits(
        self, batch: Batch, edit: Edit | None = None, *, every_row: bool = False, dropout: bool = False
    ) -> Tensor:
        """Class logits [B, classes], in float32 where the weights have less.

        edit: reads or replaces component outputs. every_row: `edit` sees all rows of the last layer; otherwise it may
        see there the row alone that is classified, [B, 1, ...], but keys and values of all rows. dropout: at the rates
        of the model's configuration. Raises InputError where an edit wants projections that cannot be told apart.
        """
        ...

    def without(self, removed: Sequence[int], heads: Tensor, mlps: Tensor) -> "Model":
        """The physically smaller model: components at the indices `removed` cut out, constants in their place.

        heads: [layers, H, dh] and mlps: [layers, d], what each removed component puts out.
        """
        ...

    def observe_attention(self, batch: Batch, observer: AttentionObserver, edit: Edit | None = None) -> None:
        """Run the model, on every row and with `edit`, and hand every layer's attention probabilities to `observer`."""
        ...


def wants_projections(edit: Edit | None) -> bool:
    """Whether an edit is called with queries, keys and values."""
    return getattr(edit, "projections", False)
