"""Lists of distinct numbers, and the sequences to learn: list, separator, sorted list."""

from math import floor
from typing import NamedTuple

import torch
from torch import Tensor

from heuristic_core.common.seeds import torch_generator
from heuristic_core.experiments.list_sorting.config import Data

RANDOM_RANGE = 2**62  # remainders of integers below this bound are uniform up to one part in 2**48


class Lists(NamedTuple):
    """Lists of numbers, int64 [lists, length].

    Attributes:
        train: Training lists.
        held_out: Held-out lists, none of them a training list.
    """

    train: Tensor
    held_out: Tensor


def draw_lists(data: Data) -> Lists:
    """Draw the lists of a study.

    No held-out list, its numbers in the same order, is a training list.
    """
    held_out = draw_uniform_lists(data, data.held_out_lists, torch_generator("list sorting held out", data.seed))
    rng = torch_generator("list sorting training", data.seed)
    train, held = draw_uniform_lists(data, data.train_lists, rng), set(_list_keys(held_out))
    while duplicates := [row for row, key in enumerate(_list_keys(train)) if key in held]:
        train[duplicates] = draw_uniform_lists(data, len(duplicates), rng)
    return Lists(train, held_out)


def draw_uniform_lists(data: Data, count: int, rng: torch.Generator) -> Tensor:
    """Draw `count` lists, int64 [count, length], uniformly from the lists of distinct numbers in a random window.

    A window of w consecutive numbers starts anywhere in the range. w is `data.window` or, if that is not an integer,
    one of its two neighbours, so that the mean is `data.window`. Numbers near the ends of the range are in fewer
    windows.

    Args:
        data: Range of the numbers, length of a list, and mean width of a window.
        count: Number of lists.
        rng: Generator of the draws, whose state advances.
    """
    low = floor(data.window)
    widths = low + (torch.rand(count, generator=rng, dtype=torch.float64) < data.window - low).long()
    left = torch.arange(max(low + 1, data.numbers)).repeat(count, 1)  # per list, numbers of its window not yet drawn
    rows, columns = torch.arange(count), []
    for position in range(data.length):
        chosen = position + torch.randint(RANDOM_RANGE, (count,), generator=rng) % (widths - position)
        columns.append(left[rows, chosen])
        left[rows, chosen] = left[:, position].clone()
    starts = torch.randint(RANDOM_RANGE, (count,), generator=rng) % (data.numbers - widths + 1)
    return torch.stack(columns, 1) + starts[:, None]


def make_sequences(numbers: Tensor, data: Data) -> Tensor:
    """Return what a model reads: the lists, the separator and the sorted lists.

    Args:
        numbers: Lists, int64 [..., L].
        data: Settings of the data.

    Returns:
        Sequences, int64 [..., 2 L + 1].
    """
    separator = torch.full_like(numbers[..., :1], data.numbers)
    return torch.cat([numbers, separator, numbers.sort(-1).values], -1)


def neighbour_gaps(numbers: Tensor) -> Tensor:
    """Return the differences between neighbours of the sorted lists, int64 [..., L - 1].

    Args:
        numbers: Lists, int64 [..., L].
    """
    return numbers.sort(-1).values.diff(dim=-1)


def _list_keys(numbers: Tensor) -> list[bytes]:
    """Return one hashable key per list."""
    return [row.tobytes() for row in numbers.numpy()]
