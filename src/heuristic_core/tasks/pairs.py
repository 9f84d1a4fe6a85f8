"""What a task's sentence pairs are: training rows, evaluation rows and the subsets that these form."""

from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class SubsetRule:
    """How a subset is scored. merge: for each class of the model, the label of the subset that it counts as."""

    name: str
    group: str
    family: str | None
    merge: tuple[int, ...]


class Origin(NamedTuple):
    """Where the rows of a subset, or of training, come from, and how many there were.

    source: as the configuration names it. torn: lines that are no rows, of all files together that it
    comes from: they tell no subset. unlabelled, empty: rows left out for want of a label, or of a sentence.
    overlapping: training pairs left out because an evaluation set has them.
    """

    source: str
    rows: int
    torn: int
    unlabelled: int
    empty: int
    overlapping: int = 0


@dataclass(frozen=True)
class Sentences:
    """train, evaluation: rows of table `sentences`, the latter subset by subset in the order of `subsets`.

    origins: of every subset by its name, and of "train".
    """

    labels: tuple[str, ...]
    train: list[dict]
    evaluation: list[dict]
    subsets: tuple[SubsetRule, ...]
    origins: dict[str, Origin]


def pair_key(row: dict) -> tuple[str, str]:
    """By what two rows of table `sentences` are the same pair: their words, whatever the case and the space between."""
    return tuple(" ".join(row[column].split()).casefold() for column in ("sentence1", "sentence2"))
