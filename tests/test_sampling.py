"""Samples of a user's pairs: drawn, with every label's share, and the same for everyone who asks alike."""

from collections import Counter

import numpy as np
import pytest

from heuristic_core.common.draws import numpy_generator
from heuristic_core.data.encoded import Subset, pack_lists
from heuristic_core.data.sampling import sample_stratified, sample_subset


def encoded(sizes):
    """A set of pairs sorted by label; sizes: by subset, how many pairs of each label. A pair's token is its number."""
    subsets, labels = [], []
    for name, by_label in sizes.items():
        start = len(labels)
        labels += [label for label, count in enumerate(by_label) for _ in range(count)]
        subsets.append(Subset(name, "id", None, (0, 1, 2), start, len(labels)))
    ids = [[k] for k in range(len(labels))]
    return pack_lists(ids, [[0]] * len(ids), [[0]] * len(ids), labels, tuple(subsets))


@pytest.mark.parametrize(
    ("sizes", "count", "shares"),
    [
        ([50, 30, 20], 10, [5, 3, 2]),
        ([100, 100, 100], 30, [10, 10, 10]),
        ([997, 2, 1], 50, [50, 0, 0]),
        ([55, 35, 10], 10, None),  # 5.5, 3.5, 1: the draw decides between equal remainders
    ],
)
def test_a_file_sorted_by_label_gives_every_label_its_share(sizes, count, shares):
    whole = encoded({"dev": sizes})
    thin = whole.subsample(count, seed=1)
    result = [Counter(thin.labels.tolist())[label] for label in range(3)]
    assert result == shares if shares else result in ([6, 3, 1], [5, 4, 1])
    assert (np.diff(thin.ids) > 0).all() and set(thin.ids) <= set(whole.ids)  # in the file's order, none twice


def test_within_a_label_pairs_are_drawn_and_not_the_first():
    drawn = [k for seed in range(200) for k in sample_subset([0] * 40, "dev", 10, seed)]
    counts = np.bincount(drawn, minlength=40)
    assert counts.sum() == 2000 and counts.min() > 25 and counts.max() < 80  # 50 each, +- 4 standard deviations


def test_many_small_strata_all_have_a_chance():
    """Of 100 subsets of one pair each, ten: not those that come first in the file."""
    drawn = {k for seed in range(100) for k in sample_stratified(list(range(100)), 10, numpy_generator(seed))}
    assert len(drawn) == 100


@pytest.mark.parametrize("count", [None, 6, 7, 100])
def test_where_no_more_pairs_are_there_all_are_taken_as_they_are(count):
    whole = encoded({"a": [3, 3, 0], "b": [0, 1, 1]})
    assert whole.subsample(count).ids.tolist() == whole.ids.tolist()
    assert whole.subsample(count).subsets == whole.subsets


def test_who_asks_alike_has_the_same_pairs_and_every_seed_and_subset_others():
    labels = [0, 1] * 50
    first, same, seed, name = (
        sample_subset(labels, *ask) for ask in [("a", 9, 0), ("a", 9, 0), ("a", 9, 1), ("b", 9, 0)]
    )
    assert first.tolist() == same.tolist() and first.tolist() not in (seed.tolist(), name.tolist())


@pytest.mark.parametrize(("skip", "count"), [(30, 20), (59, 5), (60, 20)])
def test_a_second_sample_shares_no_pair_with_the_first_unless_this_has_all(skip, count):
    whole = encoded({"dev": [30, 20, 10]})
    first, second = whole.subsample(skip, seed=2), whole.subsample(count, skip, seed=2)
    left = 60 - skip or 60
    assert len(second) == min(count, left)
    assert bool(set(first.ids) & set(second.ids)) == (skip == 60)
    assert len(whole.subsample(None, skip, seed=2)) == left
