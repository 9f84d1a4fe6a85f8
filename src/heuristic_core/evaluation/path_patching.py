"""Direct effects of heads on later heads and on the logits.

Path patching (Wang et al. 2023; Goldowsky-Dill et al. 2023): the outputs of the senders are replaced by a donor's. In a
first pass all other heads are frozen at their outputs in the clean run and MLPs are computed again, so that what the
queries, keys and values of a later head become is the direct effect of the senders, through the residual stream and
MLPs alone; so are the logits of this pass. In a second pass one receiver has these queries (or keys, or values) in an
otherwise clean run, and everything after it is computed again.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from heuristic_core.common.progress import Progress
from heuristic_core.evaluation.evaluate import finite
from heuristic_core.models.batches import Batch, PairTensors
from heuristic_core.models.interventions import Part, Patch, Recorder, Source
from heuristic_core.models.micro_batches import BATCH_TOKENS
from heuristic_core.models.model import PROJECTIONS, Model

ATTENDING = ("query", "key")  # what a head attends to depends on these
EVERY = ("input", "head", *PROJECTIONS)
Donor = Callable[[Tensor], Source]  # from the indices of a batch, [B], to what heads put out instead


class Paths(NamedTuple):
    """What one set of senders does, of every pair, float32 on the host.

    total: logits [n, classes] with all later components computed again. direct: with all other heads frozen.
    through: [receivers, 3, n, classes], by `PROJECTIONS`. moved: [receivers, 2, n], by `ATTENDING`: total variation, 0
    to 1, between the receiver's attention then and in the clean run, mean over the rows of real tokens.
    """

    total: Tensor
    direct: Tensor
    through: Tensor
    moved: Tensor


def on_pairs(model: Model, donors: PairTensors) -> Donor:
    """The donor that gives pair i what heads put out on `donors[i]`, a pair of as many tokens."""

    def of(index: Tensor) -> Source:
        recorder = Recorder(("head",))
        model.logits(donors.batch(index), recorder)
        return recorder.seen

    return of


@torch.no_grad()
def path_logits(
    model: Model, pairs: PairTensors, donor: Donor, senders: Sequence[tuple[Sequence[int], Sequence[int]]]
) -> tuple[Tensor, list[Paths]]:
    """Logits of the full model, float32 [n, classes] on the host, and the paths from every set of senders.

    senders: heads that send together, each set with its receivers, which are in layers above the lowest sender and send
    nothing themselves (component indices). Raises InputError where a logit is not finite.
    """
    full = torch.empty(len(pairs), len(model.labels), dtype=torch.promote_types(model.dtype, torch.float32))
    found = [_empty(full, len(receivers)) for _, receivers in senders]
    done, progress = 0, Progress("path patching", len(pairs), unit="pairs")
    for index in pairs.by_length(BATCH_TOKENS[model.device.type]):
        batch, instead = pairs.batch(index), donor(index)
        clean = Recorder(EVERY)
        full[index] = model.logits(batch, clean).cpu()
        attended = _Attended(model, batch)
        for (heads, receivers), into in zip(senders, found, strict=True):
            sent = Part(heads, instead)
            into.total[index] = model.logits(batch, Patch(model.grid, sent, as_in=clean.seen)).cpu()
            changed = Recorder(PROJECTIONS, Patch(model.grid, _all_heads(model, clean.seen), sent, as_in=clean.seen))
            into.direct[index] = model.logits(batch, changed).cpu()
            for k, receiver in enumerate(receivers):
                for j, kind in enumerate(PROJECTIONS):
                    edit = Patch(model.grid, Part([receiver], changed.seen, kind), as_in=clean.seen)
                    into.through[k, j, index] = model.logits(batch, edit).cpu()
            if len(receivers):
                into.moved[:, :, index] = attended.moved(sent, receivers).to(full)
        progress.at(done := done + len(index))
    for logits in (full, *(one.flatten(0, -2) for paths in found for one in paths[:3])):
        finite(logits, "logits with patched paths")
    return full, found


class _Attended:
    """The attention of one batch, which is observed on every row, in the clean run and under changes."""

    def __init__(self, model: Model, batch: Batch):
        clean = Recorder(EVERY)
        model.logits(batch, clean, every_row=True)
        self._model, self._batch, self._clean = model, batch, clean.seen
        self._before = self._observed(None)

    def moved(self, sent: Part, receivers: Sequence[int]) -> Tensor:
        """Total variation [receivers, 2, B] where queries alone, or keys alone, are what the senders make of them."""
        grid, every = self._model.grid, _all_heads(self._model, self._clean)
        real = self._batch.mask()
        moved = []
        for kind in ATTENDING:
            held = [every._replace(kind=other) for other in ATTENDING if other != kind]
            after = self._observed(Patch(grid, every, sent, *held))
            changes = [(a - b).abs().sum(-1) * 0.5 for a, b in zip(after, self._before, strict=True)]  # [B, H, T]
            rows = [torch.where(real[:, None], change, 0).sum(-1) / real.sum(-1)[:, None] for change in changes]
            moved.append(torch.stack([rows[head // grid.heads][:, head % grid.heads] for head in receivers]))
        return torch.stack(moved, 1)

    def _observed(self, edit: Patch | None) -> list[Tensor]:
        seen: dict[int, Tensor] = {}
        self._model.observe_attention(self._batch, seen.__setitem__, edit)
        return [seen[layer] for layer in range(self._model.grid.layers)]


def _all_heads(model: Model, source: Source) -> Part:
    return Part(range(model.grid.layers * model.grid.heads), source)


def _empty(full: Tensor, receivers: int) -> Paths:
    shapes = full.shape, full.shape, (receivers, len(PROJECTIONS), *full.shape), (receivers, len(ATTENDING), len(full))
    return Paths(*(full.new_empty(shape) for shape in shapes))
