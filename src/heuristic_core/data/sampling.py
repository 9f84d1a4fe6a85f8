"""Draw samples of pairs; files may be sorted, so that their first rows are not a random sample."""

from collections.abc import Hashable, Sequence

import numpy as np

from heuristic_core.common.draws import numpy_generator


def sample_stratified(strata: Sequence[Hashable], count: int | None, rng: np.random.Generator) -> np.ndarray:
    """Draw a stratified sample without replacement.

    Each stratum is represented proportionally, by the largest remainder method.

    Args:
        strata: stratum of each item, such as its label.
        count: number of items; None draws all, as does a number not below the number of items.
        rng: draws the items, and decides between equal remainders.

    Returns:
        Ascending positions of the drawn items, int64 [count].
    """
    total = len(strata)
    if count is None or count >= total:
        return np.arange(total)
    positions: dict[Hashable, list[int]] = {}
    for position, stratum in enumerate(strata):
        positions.setdefault(stratum, []).append(position)
    quotas = [divmod(count * len(members), total) for members in positions.values()]
    sizes, order = [quotient for quotient, _ in quotas], rng.permutation(len(quotas)).tolist()
    for index in sorted(order, key=lambda index: -quotas[index][1])[: count - sum(sizes)]:
        sizes[index] += 1
    drawn = [rng.permutation(members)[:size] for members, size in zip(positions.values(), sizes, strict=True)]
    return np.sort(np.concatenate(drawn))


def sample_subset(
    labels: Sequence[int], subset: str, count: int | None, seed: int, skip: int | None = None
) -> np.ndarray:
    """Draw a sample of a subset's pairs, stratified by label.

    Equal arguments give the same pairs, so that models are compared on the same pairs.

    Args:
        labels: labels of all pairs of the subset.
        subset: its name.
        count: number of pairs; None draws all.
        seed: ``analysis.seed``.
        skip: exclude the pairs drawn with `count` = `skip`, unless that excludes all pairs.

    Returns:
        Ascending positions of the drawn pairs in the subset.
    """
    labels = np.asarray(labels)
    candidates = np.arange(len(labels))
    if skip is not None and skip < len(labels):
        candidates = np.setdiff1d(candidates, sample_subset(labels, subset, skip, seed))
    return candidates[sample_stratified(labels[candidates].tolist(), count, numpy_generator(seed, "pairs", subset))]
