"""The interface of a classifier that is pruned, ablated and evaluated; `fused` and `hooked` implement it."""

from collections.abc import Callable, Sequence
from typing import Protocol

import torch
from torch import Tensor

from heuristic_core.models.batches import Batch
from heuristic_core.models.components import ComponentGrid

# Called with (kind, layer, activation), returns the activation to use instead. Kind "head": context vectors before the
# output projection, [B, T, H, dh]. Kind "mlp": the output of the MLP's last linear map, bias included, [B, T, d].
# Optional attributes of an edit:
# - projections: if true, the edit is also called with the kinds of `PROJECTIONS`, the outputs of a layer's linear maps,
#   [B, T, H, dh], before norms and rotary positions.
# - inputs: if true, an implementation may also call the edit with kind "input", the input of a layer, [B, T, d].
# - start: (layer, its input) or None. An implementation may start the forward pass there, to skip equal lower layers.
Edit = Callable[[str, int, Tensor], Tensor]
PROJECTIONS = ("query", "key", "value")
# Called with (layer, probabilities [B, H, T, T]).
AttentionObserver = Callable[[int, Tensor], None]


class Model(Protocol):
    """A fine-tuned sequence classifier with frozen weights.

    Attributes:
        grid: The components.
        labels: Class names in logit order.
        hidden: Width of the residual stream.
        head_size: Width of a head's context vector.
        pad: The padding token.
        device: Device of the weights.
        dtype: Type of the weights.
    """

    grid: ComponentGrid
    labels: tuple[str, ...]
    hidden: int
    head_size: int
    pad: int
    device: torch.device
    dtype: torch.dtype

    def logits(
        self, batch: Batch, edit: Edit | None = None, *, all_positions: bool = False, dropout: bool = False
    ) -> Tensor:
        """Compute class logits [B, classes], in float32 or wider.

        Args:
            batch: Encoded pairs.
            edit: Reads or replaces outputs of components.
            all_positions: Whether `edit` sees all positions of the last layer. Otherwise it may see only the classified
                one, [B, 1, ...]; keys and values always cover all positions.
            dropout: Whether to apply dropout at the rates of the model's configuration.

        Raises:
            InputError: An edit needs projections that the family does not have separately for each head.
        """
        ...

    def remove_components(self, removed: Sequence[int], heads: Tensor, mlps: Tensor) -> "Model":
        """Return a physically smaller model with constants in place of removed components.

        Args:
            removed: Component indices.
            heads: Constant output of each head if removed, [layers, H, dh].
            mlps: Constant output of each MLP if removed, [layers, d].
        """
        ...

    def observe_attention(self, batch: Batch, observer: AttentionObserver, edit: Edit | None = None) -> None:
        """Run the model on all positions, and observe its attention.

        Args:
            batch: Encoded pairs.
            observer: Called with the number and the attention probabilities, [B, H, T, T], of each layer.
            edit: Reads or replaces outputs of components.
        """
        ...


def wants_projections(edit: Edit | None) -> bool:
    """Return whether an edit is called with queries, keys and values."""
    return getattr(edit, "projections", False)
