"""Batches of encoded pairs: padded no further than their longest member."""

from collections.abc import Iterator
from typing import NamedTuple

import torch

from heuristic_core.tasks.encoded import Encoded


class Batch(NamedTuple):
    """ids: int64 [B, T]. types: int64 [B, T]. real: bool [B, T], False on padding; None when nothing is padded."""

    ids: torch.Tensor
    types: torch.Tensor
    real: torch.Tensor | None

    def mask(self) -> torch.Tensor:
        """bool [B, T]: True on real tokens."""
        return torch.ones_like(self.ids, dtype=torch.bool) if self.real is None else self.real


class PairTensors:
    """An encoded set as one padded matrix per field, from which batches are cut.

    A set of ``n`` pairs of at most ``T`` tokens takes 3 n T bytes beyond the encoded arrays.
    """

    def __init__(self, encoded: Encoded):
        self.lengths = torch.from_numpy(encoded.lengths)
        self.labels = torch.from_numpy(encoded.labels)
        ids, types = encoded.padded()
        self._ids, self._types = torch.from_numpy(ids), torch.from_numpy(types)

    def __len__(self) -> int:
        return len(self.lengths)

    def batch(self, index: torch.Tensor) -> Batch:
        """The pairs at `index` (int64 [B]), padded to the longest of them."""
        lengths = self.lengths[index]
        longest, shortest = int(lengths.max()), int(lengths.min())
        ids, types = self._ids[index, :longest].long(), self._types[index, :longest].long()
        real = None if longest == shortest else torch.arange(longest) < lengths[:, None]
        return Batch(ids, types, real)

    def by_length(self, tokens: int) -> Iterator[torch.Tensor]:
        """Indices of batches of at most `tokens` padded tokens (at least one pair), pairs of like length together."""
        order = torch.argsort(self.lengths, stable=True)
        start = 0
        while start < len(order):
            stop = start + 1
            while stop < len(order) and (stop + 1 - start) * int(self.lengths[order[stop]]) <= tokens:
                stop += 1
            yield order[start:stop]
            start = stop
