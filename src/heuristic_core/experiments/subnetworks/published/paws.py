"""Derive accuracy on the duplicates of PAWS-QQP.

The authors' files have accuracy on all pairs (the whole) and on the pairs that are no duplicates (a part). A mean over
both would count the part twice, so the duplicates (the rest) replace the whole. Their accuracy follows exactly: of
12,663 pairs (Zhang, Baldridge, He 2019) 8,696 are no duplicates, so that

    correct on the 3,967 duplicates = 12,663 x accuracy on all - 8,696 x accuracy on the others
"""

from typing import NamedTuple

from heuristic_core.experiments.subnetworks.published.files import PublishedValue, Results

COUNT_TOLERANCE = 0.01  # pairs; some files are in single precision, which resolves counts of 12,663 to 0.001


class Split(NamedTuple):
    """A published subset, a published part of it, and the name of the rest.

    Attributes:
        whole: The name of the subset.
        part: The name of its part.
        rest: The name of the rest.
        pairs: The number of pairs of the whole.
        part_pairs: The number of pairs of the part.
    """

    whole: str
    part: str
    rest: str
    pairs: int
    part_pairs: int

    @property
    def derivation(self) -> str:
        """The formula of the accuracy on the rest."""
        rest = self.pairs - self.part_pairs
        return f"({self.pairs} x {self.whole} - {self.part_pairs} x {self.part}) / {rest}, counts of pairs, rounded"


PAWS = Split("paws-qqp", "paws-qqp_0", "paws-qqp_1", 12_663, 8_696)


def replace_by_duplicates(results: Results) -> Results:
    """Replace the whole of PAWS-QQP by the rest in files that have both whole and part."""
    files = {name: _replace_whole(getattr(results, name)) for name in ("spread", "curve", "training", "grid")}
    return results._replace(**files)


def _replace_whole(values: list[PublishedValue]) -> list[PublishedValue]:
    """Replace the whole by the rest in the values of one file, if it has whole and part."""
    wholes = {_run_key(value): value for value in values if value.name == PAWS.whole}
    parts = [value for value in values if value.name == PAWS.part]
    if not wholes or not parts:
        return values
    kept = [value for value in values if value.name != PAWS.whole]
    return kept + [derive_rest(wholes.get(_run_key(part), _missing_whole(part)), part) for part in parts]


def _missing_whole(part: PublishedValue) -> PublishedValue:
    """Return a missing value of the whole, for a run that lacks it."""
    return part._replace(name=PAWS.whole, accuracy=None, reason=f"its file has no {PAWS.whole}")


def _run_key(value: PublishedValue) -> tuple:
    """Return what identifies the model of a value."""
    return value.step, value.sparsity, value.seed, value.repeat


def derive_rest(whole: PublishedValue, part: PublishedValue) -> PublishedValue:
    """Derive the accuracy on the rest of the pairs.

    Args:
        whole: Accuracy on the whole set, percent.
        part: Accuracy on a part of it, percent.

    Returns:
        Accuracy on the rest, percent; missing if `whole` or `part` is missing or gives no integer count of correct
        pairs.
    """
    rest = whole._replace(name=PAWS.rest, accuracy=None)
    if whole.accuracy is None or part.accuracy is None:
        return rest._replace(reason=whole.reason or part.reason)
    whole_correct, part_correct = PAWS.pairs * whole.accuracy / 100, PAWS.part_pairs * part.accuracy / 100
    rest_correct, pairs = round(whole_correct) - round(part_correct), PAWS.pairs - PAWS.part_pairs
    if (
        max(abs(whole_correct - round(whole_correct)), abs(part_correct - round(part_correct))) > COUNT_TOLERANCE
        or not 0 <= rest_correct <= pairs
    ):
        reason = f"{PAWS.whole} and {PAWS.part} are no counts of {PAWS.pairs} pairs and {PAWS.part_pairs} of them"
        return rest._replace(reason=reason)
    return rest._replace(accuracy=100 * rest_correct / pairs)
