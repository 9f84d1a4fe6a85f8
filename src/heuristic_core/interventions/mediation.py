"""Mediation analysis: logits with the outputs of some heads taken from another run of the same pairs.

The other run is the clean one, or one without the core (Vig et al. 2020).
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from heuristic_core.common.progress import Progress
from heuristic_core.interventions.evaluate import require_finite
from heuristic_core.models.ablation import ComponentMeans
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.interventions import Patch, Recorder, Replacement, mean_source
from heuristic_core.models.micro_batches import BATCH_TOKENS
from heuristic_core.models.model import Model

RECORDED_KINDS = ("input", "head")


class MediatedLogits(NamedTuple):
    """Logits of every pair for one core, on the host, in float32 or wider.

    Attributes:
        ablated: Without the core, [n, classes].
        restored: Without the core, but with each set of heads as in the clean run, [sets, n, classes].
        transmitted: With the core, but with each set of heads as in the run without it, [sets, n, classes].
    """

    ablated: Tensor
    restored: Tensor
    transmitted: Tensor


@torch.no_grad()
def mediated_logits(
    model: Model,
    pairs: PairTensors,
    means: ComponentMeans,
    plan: Sequence[tuple[Sequence[int], Sequence[Sequence[int]]]],
) -> tuple[Tensor, list[MediatedLogits]]:
    """Compute logits of the full model and of every intervention of `plan`.

    The clean run is computed once per batch, the run without a core once per batch and core.

    Args:
        model: The full model.
        pairs: Encoded pairs.
        means: Replace an ablated core; on the device of `model`.
        plan: Cores, each with the sets of heads whose outputs are exchanged (component indices).

    Returns:
        Logits of the full model, float32 or wider [n, classes] on the host, and one entry per core.

    Raises:
        InputError: A logit is NaN or infinite.
    """
    full = torch.empty(len(pairs), len(model.labels), dtype=torch.promote_types(model.dtype, torch.float32))
    results = [
        MediatedLogits(full.new_empty(full.shape), *(full.new_empty(len(sets), *full.shape) for _ in range(2)))
        for _, sets in plan
    ]
    constant, done, progress = mean_source(means), 0, Progress("mediation", len(pairs), unit="pairs")
    for index in pairs.split_by_length(BATCH_TOKENS[model.device.type]):
        batch, clean = pairs.batch(index), Recorder(RECORDED_KINDS)
        full[index] = model.logits(batch, clean).cpu()
        for (core, sets), result in zip(plan, results, strict=True):
            ablate = Replacement(core, constant)
            ablated = Recorder(RECORDED_KINDS, Patch(model.grid, ablate))
            result.ablated[index] = model.logits(batch, ablated).cpu()
            for k, heads in enumerate(sets):
                restore = Patch(model.grid, ablate, Replacement(heads, clean.activations), cached=ablated.activations)
                result.restored[k, index] = model.logits(batch, restore).cpu()
                transmit = Patch(model.grid, Replacement(heads, ablated.activations), cached=clean.activations)
                result.transmitted[k, index] = model.logits(batch, transmit).cpu()
        progress.update(done := done + len(index))
    for logits in (full, *(tensor.flatten(0, -2) for result in results for tensor in result)):
        require_finite(logits, "logits with patched heads")
    return full, results
