"""PAWS-QQP as the authors' files have it: all pairs, and those of them that are no duplicates. The whole and its part.

A mean over both would count the part twice. So the whole gives way to the rest, its duplicates, whose accuracy follows
exactly: of 12,663 pairs (Zhang, Baldridge, He 2019) 8,696 are no duplicates, so that

    right on the 3,967 duplicates = 12,663 x accuracy on all - 8,696 x accuracy on those that are none
"""

from typing import NamedTuple

from heuristic_core.experiments.heuristic_core.published.files import Results, Value

NEAR = 0.01  # pairs: single precision, in which some files are, tells a count of 12,663 to 0.001


class Split(NamedTuple):
    """A published subset, a published part of it, and the name of the rest. pairs, of_part: how many they have."""

    whole: str
    part: str
    rest: str
    pairs: int
    of_part: int

    @property
    def derivation(self) -> str:
        rest = self.pairs - self.of_part
        return f"({self.pairs} x {self.whole} - {self.of_part} x {self.part}) / {rest}, counts of pairs, rounded"


PAWS = Split("paws-qqp", "paws-qqp_0", "paws-qqp_1", 12_663, 8_696)


def with_duplicates(results: Results) -> Results:
    """`results` with the rest of PAWS-QQP in the place of the whole, in files that have its part, too."""
    files = {name: _split(getattr(results, name)) for name in ("spread", "curve", "training", "grid")}
    return results._replace(**files)


def _split(values: list[Value]) -> list[Value]:
    wholes = {_run(value): value for value in values if value.name == PAWS.whole}
    parts = [value for value in values if value.name == PAWS.part]
    if not wholes or not parts:
        return values
    kept = [value for value in values if value.name != PAWS.whole]
    return kept + [rest_of(wholes.get(_run(part), _absent(part)), part) for part in parts]


def _absent(part: Value) -> Value:
    """The whole of a run that lacks it."""
    return part._replace(name=PAWS.whole, accuracy=None, reason=f"its file has no {PAWS.whole}")


def _run(value: Value) -> tuple:
    return value.step, value.sparsity, value.seed, value.repeat


def rest_of(whole: Value, part: Value) -> Value:
    """The accuracy of the rest, percent; missing where the two are, or are no whole counts of these pairs."""
    rest = whole._replace(name=PAWS.rest, accuracy=None)
    if whole.accuracy is None or part.accuracy is None:
        return rest._replace(reason=whole.reason or part.reason)
    right, count = PAWS.pairs * whole.accuracy / 100, PAWS.of_part * part.accuracy / 100
    of_rest, pairs = round(right) - round(count), PAWS.pairs - PAWS.of_part
    if max(abs(right - round(right)), abs(count - round(count))) > NEAR or not 0 <= of_rest <= pairs:
        about = f"{PAWS.whole} and {PAWS.part} are no counts of {PAWS.pairs} pairs and {PAWS.of_part} of them"
        return rest._replace(reason=about)
    return rest._replace(accuracy=100 * of_rest / pairs)
