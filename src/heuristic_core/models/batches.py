"""Batches of encoded pairs: padded no further than their longest member."""

from collections.abc import Iterator
from typing import NamedTuple

import torch

from heuristic_core.tasks.encoded import Encoded


class Batch(NamedTuple):
    """ids: int64 [B, T]. types: int64 [B, T]. real: bool [B, T], False on padding; None when nothing is padded.

    index: int64 [B], on the host: which pairs of their set these are. Padding is on the right.
    """

    ids: torch.Tensor
    types: torch.Tensor
    real: torch.Tensor | None
    index: torch.Tensor

    def mask(self) -> torch.Tensor:
        """bool [B, T]: True on real tokens."""
        return torch.ones_like(self.ids, dtype=torch.bool) if self.real is None else self.real


class PairTensors:
    """An encoded set as one padded matrix per field, from which batches are cut.

    A set of ``n`` pairs of at most ``T`` tokens takes 5 n T bytes on `device`, where they stay; lengths stay on the
    host, so that a batch is shaped without waiting for the device. pad: the model's padding token.
    """

    def __init__(self, encoded: Encoded, pad: int = 0, device: str | torch.device = "cpu"):
        self.device = torch.device(device)
        self.lengths = torch.from_numpy(encoded.lengths)
        self.labels = torch.from_numpy(encoded.labels).to(self.device)
        ids, types = encoded.padded(pad)
        self._lengths = self.lengths.to(self.device)
        self._ids, self._types = torch.from_numpy(ids).to(self.device), torch.from_numpy(types).to(self.device)

    def __len__(self) -> int:
        return len(self.lengths)

    def batch(self, index: torch.Tensor) -> Batch:
        """The pairs at `index` (int64 [B], on the host), padded to the longest of them."""
        lengths = self.lengths[index]
        longest, shortest = int(lengths.max()), int(lengths.min())
        rows = self.on_device(index)
        ids, types = self._ids[rows, :longest].long(), self._types[rows, :longest].long()
        real = None
        if longest != shortest:
            real = torch.arange(longest, device=self.device) < self.on_device(lengths)[:, None]
        return Batch(ids, types, real, index)

    @property
    def longest(self) -> int:
        """Tokens of the longest pair, to which the set is padded."""
        return self._ids.shape[1]

    def fixed(self, rows: torch.Tensor, tokens: int) -> Batch:
        """The pairs at `rows` (int64 [B], on the device), padded to `tokens`, of which none has more.

        Shapes depend on nothing but arguments, and nothing is read back: `index` is on the device here.
        """
        real = torch.arange(tokens, device=self.device) < self._lengths[rows][:, None]
        return Batch(self._ids[rows, :tokens].long(), self._types[rows, :tokens].long(), real, rows)

    def by_length(self, tokens: int, among: torch.Tensor | None = None) -> Iterator[torch.Tensor]:
        """Positions in `among` (int64 [m], default: all pairs), cut into batches of pairs of like length.

        A batch has at most `tokens` padded tokens, or one pair. What fits into one batch keeps its order.
        """
        lengths = self.lengths if among is None else self.lengths[among]
        if among is not None and len(lengths) * int(lengths.max()) <= tokens:
            yield torch.arange(len(lengths))
            return
        order = torch.argsort(lengths, stable=True)
        ordered, start = lengths[order].tolist(), 0
        while start < len(order):
            stop = start + 1
            while stop < len(order) and (stop + 1 - start) * ordered[stop] <= tokens:
                stop += 1
            yield order[start:stop]
            start = stop

    def on_device(self, values: torch.Tensor) -> torch.Tensor:
        """A small host tensor, sent without waiting."""
        return values if self.device.type == "cpu" else values.pin_memory().to(self.device, non_blocking=True)
