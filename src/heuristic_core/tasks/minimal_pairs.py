"""Minimal pairs that the generated language gives exactly: token for token the same but for what makes the label."""

from dataclasses import replace

import numpy as np

from heuristic_core.common.errors import InputError
from heuristic_core.tasks.encoded import Encoded

SWAPPED = "ln_so_swap"  # its hypothesis has subject and object of its premise swapped


def swapped_and_identity(evaluation: Encoded) -> tuple[Encoded, Encoded] | None:
    """The pairs of subset ln_so_swap, with their subset, and as many in which the hypothesis is the premise.

    judges saw kings => kings saw judges, and judges saw kings => judges saw kings: the first is no entailment, the
    second is an entailment. Both have the labels of the first. None where the set has no such subset. Raises
    InputError where a hypothesis is no reordering of its premise, so that tokens do not align.
    """
    subset = next((s for s in evaluation.subsets if s.name == SWAPPED), None)
    if subset is None:
        return None
    positions = np.arange(subset.start, subset.stop)
    swapped = evaluation.take(positions, (replace(subset, start=0, stop=len(positions)),))
    ids, word = swapped.ids.copy(), swapped.special == 0
    for first, end in zip(swapped.offsets[:-1], swapped.offsets[1:], strict=True):
        here = slice(first, end)
        premise, hypothesis = (first + np.flatnonzero(word[here] & (swapped.types[here] == of)) for of in (0, 1))
        if sorted(ids[premise]) != sorted(ids[hypothesis]):
            raise InputError(f"subset {SWAPPED}: a hypothesis has other words than its premise; they must be swapped")
        ids[hypothesis] = ids[premise]
    return swapped, replace(swapped, ids=ids)
