"""Lists of distinct numbers, and the sequences that a model learns: list, separator, sorted list."""

from math import floor
from typing import NamedTuple

import torch
from torch import Tensor

from heuristic_core.common.seeds import torch_generator
from heuristic_core.experiments.list_sorting.config import Data

LARGE = 2**62  # of this many integers a remainder has all values alike, but for one in 2**48


class Lists(NamedTuple):
    """Lists of numbers, int64 [lists, length]."""

    train: Tensor
    held_out: Tensor


def lists(data: Data) -> Lists:
    """The lists of a study. No held-out list, a list being its numbers in their order, is a training list."""
    held_out = drawn(data, data.held_out_lists, torch_generator("list sorting held out", data.seed))
    rng = torch_generator("list sorting training", data.seed)
    train, held = drawn(data, data.train_lists, rng), _keys(held_out)
    while again := [row for row, key in enumerate(_in_order(train)) if key in held]:
        train[again] = drawn(data, len(again), rng)
    return Lists(train, held_out)


def drawn(data: Data, count: int, rng: torch.Generator) -> Tensor:
    """`count` lists, int64 [count, length]: every list of distinct numbers from its window is equally likely.

    A window of w consecutive numbers has its first number anywhere; w is `data.window`, or one of the two integers
    beside it, so often that the mean is right. A number near the ends of the range is in fewer windows.
    """
    low = floor(data.window)
    widths = low + (torch.rand(count, generator=rng, dtype=torch.float64) < data.window - low).long()
    left = torch.arange(max(low + 1, data.numbers)).repeat(count, 1)  # per list, numbers of its window not yet drawn
    rows, found = torch.arange(count), []
    for position in range(data.length):
        here = position + torch.randint(LARGE, (count,), generator=rng) % (widths - position)
        found.append(left[rows, here])
        left[rows, here] = left[:, position].clone()
    starts = torch.randint(LARGE, (count,), generator=rng) % (data.numbers - widths + 1)
    return torch.stack(found, 1) + starts[:, None]


def sequences(numbers: Tensor, data: Data) -> Tensor:
    """What a model reads: lists [..., L], then the separator, then the sorted lists; int64 [..., 2 L + 1]."""
    separator = torch.full_like(numbers[..., :1], data.numbers)
    return torch.cat([numbers, separator, numbers.sort(-1).values], -1)


def gaps(numbers: Tensor) -> Tensor:
    """Differences between neighbours of the sorted lists, int64 [..., L - 1]. numbers: [..., L]."""
    return numbers.sort(-1).values.diff(dim=-1)


def _in_order(numbers: Tensor) -> list[bytes]:
    return [row.tobytes() for row in numbers.numpy()]


def _keys(numbers: Tensor) -> set[bytes]:
    return set(_in_order(numbers))
