"""Inputs that all pruning runs of one checkpoint share."""

from dataclasses import dataclass

from torch import Tensor

from heuristic_core.common.errors import InputError
from heuristic_core.config.pruning import Prune
from heuristic_core.data.encoded import Encoded
from heuristic_core.interventions.evaluate import require_finite
from heuristic_core.models.ablation import ComponentMeans
from heuristic_core.models.batches import PairTensors, length_multiple
from heuristic_core.models.model import Model


@dataclass(frozen=True)
class PruningInputs:
    """Inputs that all pruning runs of one checkpoint share.

    Attributes:
        model: The full model.
        means: Component means.
        pairs: Training pairs from which batches are drawn.
        full_logits: Logits of the full model, [pairs, classes].
    """

    model: Model
    means: ComponentMeans
    pairs: PairTensors
    full_logits: Tensor


def make_pruning_inputs(
    model: Model, means: ComponentMeans, train: Encoded, full_logits: Tensor, settings: Prune
) -> tuple[PruningInputs, PruningInputs | None]:
    """Return the inputs of pruning, and held-out inputs for choosing a threshold, or None if no pairs are held out.

    Args:
        model: The full model.
        means: Component means.
        train: Training pairs.
        full_logits: Logits of the first ``settings.pairs_needed`` training pairs, [pairs, classes].
        settings: Block `prune` of the configuration.

    Raises:
        InputError: A logit is NaN or infinite, or no pairs are left to prune on.
    """
    require_finite(full_logits, "the full model's stored logits on training pairs")

    def part(start: int, stop: int) -> PruningInputs:
        multiple = length_multiple(model.device, model.dtype)
        pairs = PairTensors(train.slice_pairs(start, stop), model.pad, model.device, multiple)
        return PruningInputs(model, means, pairs, full_logits[start:stop])

    needed = len(train) if settings.pairs_needed is None else settings.pairs_needed
    used = needed - settings.pairs_held_out
    if used < 1:
        raise InputError(f"prune.held_out = {settings.held_out} leaves none of the {needed} training pairs to prune on")
    return part(0, used), part(used, needed) if needed > used else None
