"""Batches of encoded pairs, padded to their longest pair."""

from collections.abc import Iterator
from typing import NamedTuple

import torch

from heuristic_core.data.encoded import Encoded

# For each new shape, oneDNN compiles a kernel for bfloat16, which takes as long as several products.
BFLOAT16_MULTIPLE = 8


class Batch(NamedTuple):
    """One batch of encoded pairs, padded on the right.

    Attributes:
        ids: Token ids, int64 [B, T].
        types: Token types, int64 [B, T].
        real: bool [B, T], False on padding; None when nothing is padded.
        index: Positions of the pairs in their set, int64 [B], on the host.
        target: Positions of the tokens that are classified, int64 [B]; None for the model's usual one.
    """

    ids: torch.Tensor
    types: torch.Tensor
    real: torch.Tensor | None
    index: torch.Tensor
    target: torch.Tensor | None = None

    def mask(self) -> torch.Tensor:
        """Return a boolean mask [B, T], True on tokens that are not padding."""
        return torch.ones_like(self.ids, dtype=torch.bool) if self.real is None else self.real


def length_multiple(device: torch.device, dtype: torch.dtype) -> int:
    """Return the multiple of tokens to which batches that are learned from are padded.

    Args:
        device: Device of the model.
        dtype: Type of its matrix products.
    """
    return BFLOAT16_MULTIPLE if device.type == "cpu" and dtype == torch.bfloat16 else 1


class PairTensors:
    """An encoded set as one padded matrix per field, from which batches are cut.

    A set of ``n`` pairs of at most ``T`` tokens takes 5 n T bytes on `device`. Lengths stay on the host, so that
    computing the shape of a batch does not wait for the device.

    Args:
        encoded: The set.
        pad: The model's padding token.
        device: Where token ids, types and labels are kept.
        multiple: Batches are padded to a multiple of this number of tokens, or to the longest pair of the set.
    """

    def __init__(self, encoded: Encoded, pad: int = 0, device: str | torch.device = "cpu", multiple: int = 1):
        self.device, self._multiple = torch.device(device), multiple
        self.lengths = torch.from_numpy(encoded.lengths)
        self.labels = torch.from_numpy(encoded.labels).to(self.device)
        ids, types = encoded.pad_to_longest(pad)
        self._lengths = self.lengths.to(self.device)
        self._ids, self._types = torch.from_numpy(ids).to(self.device), torch.from_numpy(types).to(self.device)
        self._target = None if encoded.target is None else torch.from_numpy(encoded.target).long().to(self.device)

    def __len__(self) -> int:
        return len(self.lengths)

    def batch(self, index: torch.Tensor) -> Batch:
        """Return the pairs at `index` (int64 [B], on the host), padded to the longest of them."""
        lengths = self.lengths[index]
        longest, shortest = int(self._pad_lengths(lengths).max()), int(lengths.min())
        rows = self.to_device(index)
        ids, types = self._ids[rows, :longest].long(), self._types[rows, :longest].long()
        real = None
        if longest != shortest:
            real = torch.arange(longest, device=self.device) < self.to_device(lengths)[:, None]
        return Batch(ids, types, real, index, self._select_targets(rows))

    @property
    def longest(self) -> int:
        """Number of tokens of the longest pair, to which the set is padded."""
        return self._ids.shape[1]

    def padded_batch(self, rows: torch.Tensor, tokens: int) -> Batch:
        """Return the pairs at `rows`, padded to `tokens` tokens.

        Shapes depend on the arguments alone and the host never waits for the device; `index` of the batch is on the
        device.

        Args:
            rows: Rows of the pairs, int64 [B], on the device.
            tokens: Length of the batch, T. No pair may be longer.
        """
        real = torch.arange(tokens, device=self.device) < self._lengths[rows][:, None]
        ids, types = self._ids[rows, :tokens].long(), self._types[rows, :tokens].long()
        return Batch(ids, types, real, rows, self._select_targets(rows))

    def _select_targets(self, rows: torch.Tensor) -> torch.Tensor | None:
        """Return the target positions of the pairs at `rows`."""
        return None if self._target is None else self._target[rows]

    def split_by_length(self, tokens: int, among: torch.Tensor | None = None) -> Iterator[torch.Tensor]:
        """Yield positions in `among`, split into batches of pairs of similar length.

        A set that fits into one batch keeps its order.

        Args:
            tokens: Largest number of padded tokens in a batch of more than one pair.
            among: Indices of pairs, int64 [m]; default: all pairs.
        """
        lengths = self._pad_lengths(self.lengths if among is None else self.lengths[among])
        if among is not None and len(lengths) * int(lengths.max()) <= tokens:
            yield torch.arange(len(lengths))
            return
        order = torch.argsort(lengths, stable=True)
        sorted_lengths, start = lengths[order].tolist(), 0
        while start < len(order):
            stop = start + 1
            while stop < len(order) and (stop + 1 - start) * sorted_lengths[stop] <= tokens:
                stop += 1
            yield order[start:stop]
            start = stop

    def _pad_lengths(self, lengths: torch.Tensor) -> torch.Tensor:
        """Round lengths up to the multiple, at most to the longest pair of the set."""
        multiple = self._multiple
        return ((lengths + multiple - 1) // multiple * multiple).clamp_max(self.longest) if multiple > 1 else lengths

    def to_device(self, values: torch.Tensor) -> torch.Tensor:
        """Copy a small host tensor to the device without waiting."""
        return values if self.device.type == "cpu" else values.pin_memory().to(self.device, non_blocking=True)
