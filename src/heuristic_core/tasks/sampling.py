"""Drawn samples of a user's pairs. A file may be sorted by anything, so that its first rows are no sample of it."""

from collections.abc import Hashable, Sequence

import numpy as np

from heuristic_core.common.draws import numpy_generator


def stratified(strata: Sequence[Hashable], count: int | None, rng: np.random.Generator) -> np.ndarray:
    """Ascending positions of `count` items, drawn without replacement; of all where there are no more, or for None.

    Every stratum has its share of them, by largest remainder; `rng` decides between equal remainders.

    strata: of each item, its stratum, such as its label.
    """
    total = len(strata)
    if count is None or count >= total:
        return np.arange(total)
    places: dict[Hashable, list[int]] = {}
    for position, stratum in enumerate(strata):
        places.setdefault(stratum, []).append(position)
    shares = [divmod(count * len(of_stratum), total) for of_stratum in places.values()]
    sizes, order = [whole for whole, _ in shares], rng.permutation(len(shares)).tolist()
    for k in sorted(order, key=lambda k: -shares[k][1])[: count - sum(sizes)]:
        sizes[k] += 1
    drawn = [rng.permutation(part)[:size] for part, size in zip(places.values(), sizes, strict=True)]
    return np.sort(np.concatenate(drawn))


def of_subset(labels: Sequence[int], subset: str, count: int | None, seed: int, skip: int | None = None) -> np.ndarray:
    """Ascending positions of the pairs of one subset that are used where `count` of them are asked for.

    Whoever asks with equal arguments has the same pairs, which is how models are compared on them.

    labels: of all pairs of the subset. seed: ``analysis.seed``. skip: draw from those that `count` = `skip` leaves; a
    subset of which it leaves none is drawn from as a whole.
    """
    labels = np.asarray(labels)
    rest = np.arange(len(labels))
    if skip is not None and skip < len(labels):
        rest = np.setdiff1d(rest, of_subset(labels, subset, skip, seed))
    return rest[stratified(labels[rest].tolist(), count, numpy_generator(seed, "pairs", subset))]
