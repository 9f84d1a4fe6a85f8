"""Direct effects of heads on later heads and on the logits.

Path patching (Wang et al. 2023; Goldowsky-Dill et al. 2023) replaces the outputs of the senders by a donor's. In the
first pass, all other heads are frozen at their outputs in the clean run and MLPs are recomputed. Changes of the logits,
and of the queries, keys and values of later heads, are then direct effects of the senders, through the residual stream
and MLPs only. In the second pass, one receiver gets these queries (or keys, or values) in an otherwise clean run, and
everything after it is recomputed.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from heuristic_core.common.progress import Progress
from heuristic_core.interventions.evaluate import require_finite
from heuristic_core.models.batches import Batch, PairTensors
from heuristic_core.models.interventions import Patch, Recorder, Replacement, Source
from heuristic_core.models.micro_batches import BATCH_TOKENS
from heuristic_core.models.model import PROJECTIONS, Model

ATTENTION_PROJECTIONS = ("query", "key")  # projections that determine attention probabilities
RECORDED_KINDS = ("input", "head", *PROJECTIONS)
Donor = Callable[[Tensor], Source]  # from the indices of a batch, [B], to replacement outputs of heads


class PathEffects(NamedTuple):
    """Effects of one set of senders on every pair, in float32 or wider on the host.

    Attributes:
        total: Logits with all later components recomputed, [n, classes].
        direct: Logits with all other heads frozen, [n, classes].
        through_receivers: Logits by receiver and its changed projection, [receivers, 3, n, classes], in the order of
            `PROJECTIONS`.
        attention_shift: Total variation, 0 to 1, between a receiver's attention and that in the clean run, mean over
            query tokens, by changed projection, [receivers, 2, n], in the order of `ATTENTION_PROJECTIONS`.
    """

    total: Tensor
    direct: Tensor
    through_receivers: Tensor
    attention_shift: Tensor


def donor_from_pairs(model: Model, donors: PairTensors) -> Donor:
    """Return the donor that gives pair i the outputs of heads on `donors[i]`, a pair of equal length.

    Args:
        model: The model that runs the donors.
        donors: A donor for each pair.
    """

    def record_heads(index: Tensor) -> Source:
        recorder = Recorder(("head",))
        model.logits(donors.batch(index), recorder)
        return recorder.activations

    return record_heads


@torch.no_grad()
def path_logits(
    model: Model, pairs: PairTensors, donor: Donor, senders: Sequence[tuple[Sequence[int], Sequence[int]]]
) -> tuple[Tensor, list[PathEffects]]:
    """Compute logits of the full model and the effects of every set of senders.

    Args:
        model: The full model.
        pairs: Encoded pairs.
        donor: Replacement outputs of the senders.
        senders: Sets of heads that send together, each with its receivers (component indices). Receivers are in layers
            above the lowest sender, and not among the senders.

    Returns:
        Logits of the full model, float32 or wider [n, classes] on the host, and one entry per set of senders.

    Raises:
        InputError: A logit is NaN or infinite.
    """
    full = torch.empty(len(pairs), len(model.labels), dtype=torch.promote_types(model.dtype, torch.float32))
    results = [_empty_effects(full, len(receivers)) for _, receivers in senders]
    done, progress = 0, Progress("path patching", len(pairs), unit="pairs")
    for index in pairs.split_by_length(BATCH_TOKENS[model.device.type]):
        batch, replacement = pairs.batch(index), donor(index)
        clean = Recorder(RECORDED_KINDS)
        full[index] = model.logits(batch, clean).cpu()
        attention_changes = _AttentionChanges(model, batch)
        for (heads, receivers), effects in zip(senders, results, strict=True):
            sender_part = Replacement(heads, replacement)
            effects.total[index] = model.logits(batch, Patch(model.grid, sender_part, cached=clean.activations)).cpu()
            changed = Recorder(
                PROJECTIONS,
                Patch(model.grid, _all_heads(model, clean.activations), sender_part, cached=clean.activations),
            )
            effects.direct[index] = model.logits(batch, changed).cpu()
            for k, receiver in enumerate(receivers):
                for j, kind in enumerate(PROJECTIONS):
                    edit = Patch(
                        model.grid, Replacement([receiver], changed.activations, kind), cached=clean.activations
                    )
                    effects.through_receivers[k, j, index] = model.logits(batch, edit).cpu()
            if len(receivers):
                effects.attention_shift[:, :, index] = attention_changes.total_variation(sender_part, receivers).to(
                    full
                )
        progress.update(done := done + len(index))
    for logits in (full, *(tensor.flatten(0, -2) for paths in results for tensor in paths[:3])):
        require_finite(logits, "logits with patched paths")
    return full, results


class _AttentionChanges:
    """Attention of one batch at all positions, in the clean run and under changes."""

    def __init__(self, model: Model, batch: Batch):
        clean = Recorder(RECORDED_KINDS)
        model.logits(batch, clean, all_positions=True)
        self._model, self._batch, self._clean = model, batch, clean.activations
        self._clean_attention = self._observe(None)

    def total_variation(self, sender_part: Replacement, receivers: Sequence[int]) -> Tensor:
        """Return total variation [receivers, 2, B] when the senders change queries only, or keys only."""
        grid, all_heads = self._model.grid, _all_heads(self._model, self._clean)
        real = self._batch.mask()
        moved = []
        for kind in ATTENTION_PROJECTIONS:
            frozen = [all_heads._replace(kind=other) for other in ATTENTION_PROJECTIONS if other != kind]
            after = self._observe(Patch(grid, all_heads, sender_part, *frozen))
            changes = [
                (a - b).abs().sum(-1) * 0.5 for a, b in zip(after, self._clean_attention, strict=True)
            ]  # [B, H, T]
            rows = [torch.where(real[:, None], change, 0).sum(-1) / real.sum(-1)[:, None] for change in changes]
            moved.append(torch.stack([rows[head // grid.heads][:, head % grid.heads] for head in receivers]))
        return torch.stack(moved, 1)

    def _observe(self, edit: Patch | None) -> list[Tensor]:
        attention: dict[int, Tensor] = {}
        self._model.observe_attention(self._batch, attention.__setitem__, edit)
        return [attention[layer] for layer in range(self._model.grid.layers)]


def _all_heads(model: Model, source: Source) -> Replacement:
    """Return a part that freezes all heads at `source`."""
    return Replacement(range(model.grid.layers * model.grid.heads), source)


def _empty_effects(full: Tensor, receivers: int) -> PathEffects:
    shapes = (
        full.shape,
        full.shape,
        (receivers, len(PROJECTIONS), *full.shape),
        (receivers, len(ATTENTION_PROJECTIONS), len(full)),
    )
    return PathEffects(*(full.new_empty(shape) for shape in shapes))
