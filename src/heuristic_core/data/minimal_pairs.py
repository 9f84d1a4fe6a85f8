"""Minimal pairs: pairs of the other label, of equal length, that differ from a pair in few tokens.

The minimal pairs of an evaluation set are an encoded set with the same subsets, labels and offsets; a pair without a
minimal pair stands for itself. Both sets can therefore be subsampled alike. The generated language of pairs
makes exact minimal pairs; elsewhere, the nearest pairs serve as minimal pairs.
"""

import logging
from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from heuristic_core.data.encoded import Encoded

LOGGER = logging.getLogger(__name__)
SWAP_SUBSET = "ln_so_swap"  # subset of the generated language, in whose minimal pairs the hypothesis equals the premise
OVERLAP_GROUPS = ("ood", "ood-entailment")  # groups in which overlap suggests entailment, wrongly and rightly
CHUNK_PAIRS = 256  # pairs compared at a time with all pairs of the other group


class PairedSets(NamedTuple):
    """The pairs that have a minimal pair.

    Attributes:
        positions: int64 [m], position of each pair in the complete set.
        pairs: the m pairs.
        minimal: their minimal pairs.
    """

    positions: np.ndarray
    pairs: Encoded
    minimal: Encoded


def find_nearest_pairs(evaluation: Encoded) -> Encoded:
    """Find for each pair the nearest pair of the same family in the other of the `OVERLAP_GROUPS`.

    The nearest pair differs in the fewest tokens; of several, the first. Both of its sentences have as many tokens as
    those of the pair. Pairs without a family have no minimal pair.

    Returns:
        The set `evaluation` with the token ids of the minimal pairs.
    """
    ids, layouts = evaluation.ids.copy(), get_layouts(evaluation)
    aligned: dict[tuple, dict[str, list[int]]] = defaultdict(lambda: {group: [] for group in OVERLAP_GROUPS})
    for subset in evaluation.subsets:
        if subset.family is not None and subset.group in OVERLAP_GROUPS:
            for position in range(subset.start, subset.stop):
                aligned[subset.family, layouts[position]][subset.group].append(position)
    for positions in aligned.values():
        groups = [np.array(positions[group], np.int64) for group in OVERLAP_GROUPS]
        if all(map(len, groups)):
            for targets, candidates in (groups, groups[::-1]):
                _write_nearest(ids, evaluation, targets, candidates)
    return replace(evaluation, ids=ids)


def _write_nearest(ids: np.ndarray, evaluation: Encoded, targets: np.ndarray, candidates: np.ndarray) -> None:
    """Write into `ids`, for each pair of `targets`, the nearest of `candidates`; all pairs have equal lengths."""
    token_positions = np.arange(evaluation.lengths[targets[0]])
    candidate_ids = evaluation.ids[evaluation.offsets[candidates][:, None] + token_positions]
    for start in range(0, len(targets), CHUNK_PAIRS):
        target_indices = evaluation.offsets[targets[start : start + CHUNK_PAIRS]][:, None] + token_positions
        # [targets, candidates]; identical pairs are never the nearest.
        distances = sum(evaluation.ids[target_indices[:, [k]]] != candidate_ids[:, k] for k in token_positions)
        distances = np.where(distances, distances, len(token_positions) + 1)
        ids[target_indices] = candidate_ids[distances.argmin(axis=1)]


def count_changed_tokens(evaluation: Encoded, minimal: Encoded) -> np.ndarray:
    """Count the tokens in which each pair differs from its minimal pair.

    Args:
        evaluation: The n pairs.
        minimal: The same pairs, with the token ids of their minimal pairs where they have one.

    Returns:
        Counts, int64 [n]; 0 for a pair without a minimal pair.
    """
    return np.add.reduceat((evaluation.ids != minimal.ids).astype(np.int64), evaluation.offsets[:-1])


def select_paired(evaluation: Encoded, minimal: Encoded, names: Collection[str] | None = None) -> PairedSets | None:
    """Select the pairs that have a minimal pair.

    Args:
        evaluation: the evaluation set.
        minimal: its minimal pairs.
        names: subsets to select from; default: all.

    Returns:
        The pairs and their minimal pairs, both with the labels and subsets of `evaluation`; None if there are none.
    """
    has_minimal_pair, selected_positions, subsets, start = count_changed_tokens(evaluation, minimal) > 0, [], [], 0
    for subset in evaluation.subsets:
        positions = subset.start + np.flatnonzero(has_minimal_pair[subset.start : subset.stop])
        if len(positions) and (names is None or subset.name in names):
            selected_positions.append(positions)
            subsets.append(replace(subset, start=start, stop=start + len(positions)))
            start += len(positions)
    if not selected_positions:
        return None
    selected = np.concatenate(selected_positions)
    return PairedSets(selected, *(pairs.take(selected, tuple(subsets)) for pairs in (evaluation, minimal)))


def log_changes(evaluation: Encoded, minimal: Encoded) -> None:
    """Log for each subset of `OVERLAP_GROUPS` how many pairs have a minimal pair, and how many tokens differ.

    Args:
        evaluation: The evaluation set.
        minimal: The same set, with the token ids of the minimal pairs.
    """
    changes = count_changed_tokens(evaluation, minimal)
    for subset in evaluation.subsets:
        if subset.group in OVERLAP_GROUPS:
            subset_changes = changes[subset.start : subset.stop]
            nonzero = subset_changes[subset_changes > 0]
            details = (
                f"; tokens that differ: median {np.median(nonzero):g}, at most {nonzero.max()}" if len(nonzero) else ""
            )
            LOGGER.info(
                "%s: %d of %d pairs have a minimal pair%s", subset.name, len(nonzero), len(subset_changes), details
            )


def get_layouts(encoded: Encoded) -> list[bytes]:
    """Return a key of each pair, equal for pairs with special tokens, sentences and targets at the same positions."""
    layout = encoded.types + 2 * encoded.special
    if encoded.target is not None:
        layout[encoded.offsets[:-1] + encoded.target] += 4
    return [part.tobytes() for part in encoded.split_by_pair(layout)]
