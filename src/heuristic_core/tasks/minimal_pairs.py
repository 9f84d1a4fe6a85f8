"""Minimal pairs: for a pair of an evaluation set, one of the other label with as many tokens and few other ones.

They are an encoded set with the same subsets, labels and offsets: at the place of each pair its minimal pair, and the
pair itself where it has none. So both sets are thinned alike. The generated language gives them exactly; in files they
are the nearest pairs.
"""

import logging
from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from heuristic_core.tasks.encoded import Encoded

LOGGER = logging.getLogger(__name__)
SWAPPED = "ln_so_swap"  # subset of the generated language; its minimal pair has the premise as its hypothesis
SIDES = ("ood", "ood-entailment")  # groups in which overlap says entailment, wrongly and rightly
CHUNK = 256  # pairs that are compared at once with all of the other side


class Paired(NamedTuple):
    """The pairs that have a minimal pair. places: int64 [m], of each in the whole set. pairs, minimal: sets of m."""

    places: np.ndarray
    pairs: Encoded
    minimal: Encoded


def nearest(evaluation: Encoded) -> Encoded:
    """Of each pair the nearest of its family in the other of `SIDES`: the fewest other tokens, then the first in order.

    Both sentences have as many tokens as those of the pair. Pairs without a family have none.
    """
    ids, layout = evaluation.ids.copy(), layouts(evaluation)
    alike: dict[tuple, dict[str, list[int]]] = defaultdict(lambda: {side: [] for side in SIDES})
    for subset in evaluation.subsets:
        if subset.family is not None and subset.group in SIDES:
            for place in range(subset.start, subset.stop):
                alike[subset.family, layout[place]][subset.group].append(place)
    for places in alike.values():
        sides = [np.array(places[side], np.int64) for side in SIDES]
        if all(map(len, sides)):
            for here, there in (sides, sides[::-1]):
                _put_nearest(ids, evaluation, here, there)
    return replace(evaluation, ids=ids)


def _put_nearest(ids: np.ndarray, evaluation: Encoded, here: np.ndarray, there: np.ndarray) -> None:
    """Write into `ids` at each place of `here` the nearest of `there`; all of them have as many tokens."""
    tokens = np.arange(evaluation.lengths[here[0]])
    others = evaluation.ids[evaluation.offsets[there][:, None] + tokens]
    for start in range(0, len(here), CHUNK):
        flat = evaluation.offsets[here[start : start + CHUNK]][:, None] + tokens
        apart = sum(evaluation.ids[flat[:, [k]]] != others[:, k] for k in tokens)  # [pairs, others]
        ids[flat] = others[np.where(apart, apart, len(tokens) + 1).argmin(axis=1)]  # an identical pair is none


def changed_tokens(evaluation: Encoded, minimal: Encoded) -> np.ndarray:
    """int64 [n]: how many tokens of each pair are others in its minimal pair; 0 where it has none."""
    return np.add.reduceat((evaluation.ids != minimal.ids).astype(np.int64), evaluation.offsets[:-1])


def paired(evaluation: Encoded, minimal: Encoded, names: Collection[str] | None = None) -> Paired | None:
    """The pairs that have a minimal pair, in the subsets `names` or in all, with their subsets; None if there are none.

    Both sets have the labels of `evaluation`.
    """
    has, places, subsets, start = changed_tokens(evaluation, minimal) > 0, [], [], 0
    for subset in evaluation.subsets:
        here = subset.start + np.flatnonzero(has[subset.start : subset.stop])
        if len(here) and (names is None or subset.name in names):
            places.append(here)
            subsets.append(replace(subset, start=start, stop=start + len(here)))
            start += len(here)
    if not places:
        return None
    where = np.concatenate(places)
    return Paired(where, *(pairs.take(where, tuple(subsets)) for pairs in (evaluation, minimal)))


def log_changes(evaluation: Encoded, minimal: Encoded) -> None:
    """Log for every out-of-domain subset how many pairs have a minimal pair, and how many tokens differ."""
    changed = changed_tokens(evaluation, minimal)
    for subset in evaluation.subsets:
        if subset.group in SIDES:
            here = changed[subset.start : subset.stop]
            differ = here[here > 0]
            tokens = (
                f"; tokens that differ: median {np.median(differ):g}, at most {differ.max()}" if len(differ) else ""
            )
            LOGGER.info("%s: %d of %d pairs have a minimal pair%s", subset.name, len(differ), len(here), tokens)


def layouts(encoded: Encoded) -> list[bytes]:
    """What tells whether the tokens of two pairs align: which are special, and which are of the second sentence."""
    return [part.tobytes() for part in encoded.split(encoded.types + 2 * encoded.special)]
