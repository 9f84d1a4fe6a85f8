"""What every pruning run of one checkpoint shares, from its files."""

from dataclasses import dataclass

from torch import Tensor

from heuristic_core.common.errors import InputError
from heuristic_core.config.pruning import Prune
from heuristic_core.evaluation.evaluate import finite
from heuristic_core.models.ablation import ComponentMeans
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.model import Model
from heuristic_core.tasks.encoded import Encoded


@dataclass(frozen=True)
class PruningInputs:
    """What every pruning run of one checkpoint shares.

    pairs: the training pairs drawn from. full_logits: [pairs, classes], the unpruned model's.
    """

    model: Model
    means: ComponentMeans
    pairs: PairTensors
    full_logits: Tensor


def pruning_inputs(
    model: Model, means: ComponentMeans, train: Encoded, full_logits: Tensor, settings: Prune
) -> tuple[PruningInputs, PruningInputs | None]:
    """The inputs of pruning, and the held-out ones on which a threshold is chosen, if one is.

    full_logits: of the first ``settings.pairs_needed`` training pairs. Raises InputError where they are not finite.
    """
    finite(full_logits, "the full model's stored logits on training pairs")

    def part(start: int, stop: int) -> PruningInputs:
        pairs = PairTensors(train.part(start, stop), model.pad, model.device)
        return PruningInputs(model, means, pairs, full_logits[start:stop])

    needed = len(train) if settings.pairs_needed is None else settings.pairs_needed
    used = needed - settings.pairs_held_out
    if used < 1:
        raise InputError(f"prune.held_out = {settings.held_out} leaves none of the {needed} training pairs to prune on")
    return part(0, used), part(used, needed) if needed > used else None
