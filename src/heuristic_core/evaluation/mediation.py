"""Logits with the outputs of some heads as they are in another run of the same pairs: in the clean one, or without the
core (Vig et al. 2020)."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from heuristic_core.common.progress import Progress
from heuristic_core.evaluation.evaluate import finite
from heuristic_core.models.ablation import ComponentMeans
from heuristic_core.models.batches import PairTensors
from heuristic_core.models.interventions import Part, Patch, Recorder, constants
from heuristic_core.models.micro_batches import BATCH_TOKENS
from heuristic_core.models.model import Model

KINDS = ("input", "head")


class Mediated(NamedTuple):
    """Logits of every pair on the host, in float32 at least: without a core (ablated), [n, classes], and of each set of
    heads, [sets, n, classes], with its outputs as in the clean run while the core is ablated (restored), and as without
    the core while the core is not ablated (transmitted)."""

    ablated: Tensor
    restored: Tensor
    transmitted: Tensor


@torch.no_grad()
def mediated_logits(
    model: Model,
    pairs: PairTensors,
    means: ComponentMeans,
    plan: Sequence[tuple[Sequence[int], Sequence[Sequence[int]]]],
) -> tuple[Tensor, list[Mediated]]:
    """Logits of the full model, float32 [n, classes] on the host, and of every intervention of `plan`.

    means: on the device of `model`; they take a core's place. plan: cores, each with the sets of heads whose outputs
    are exchanged (component indices). What a clean run, and a run without a core, put out is computed once for each
    batch and core. Raises InputError where a logit is not finite.
    """
    full = torch.empty(len(pairs), len(model.labels), dtype=torch.promote_types(model.dtype, torch.float32))
    found = [
        Mediated(full.new_empty(full.shape), *(full.new_empty(len(sets), *full.shape) for _ in range(2)))
        for _, sets in plan
    ]
    constant, done, progress = constants(means), 0, Progress("mediation", len(pairs), unit="pairs")
    for index in pairs.by_length(BATCH_TOKENS[model.device.type]):
        batch, clean = pairs.batch(index), Recorder(KINDS)
        full[index] = model.logits(batch, clean).cpu()
        for (core, sets), into in zip(plan, found, strict=True):
            ablate = Part(core, constant)
            ablated = Recorder(KINDS, Patch(model.grid, ablate))
            into.ablated[index] = model.logits(batch, ablated).cpu()
            for k, heads in enumerate(sets):
                restore = Patch(model.grid, ablate, Part(heads, clean.seen), as_in=ablated.seen)
                into.restored[k, index] = model.logits(batch, restore).cpu()
                transmit = Patch(model.grid, Part(heads, ablated.seen), as_in=clean.seen)
                into.transmitted[k, index] = model.logits(batch, transmit).cpu()
        progress.at(done := done + len(index))
    for logits in (full, *(one.flatten(0, -2) for of_core in found for one in of_core)):
        finite(logits, "logits with patched heads")
    return full, found
