"""A task's sentence pairs: training rows, evaluation rows and the subsets these form."""

from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

from heuristic_core.config.tasks import FilesTask, GeneratedTask


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


def sentences(task: GeneratedTask | FilesTask) -> Sentences:
    """Generate or read all pairs of a task."""
    if isinstance(task, GeneratedTask):
        return _generated(task)
    from heuristic_core.tasks.files import read_task

    return read_task(task)


def _generated(task: GeneratedTask) -> Sentences:
    from heuristic_core.tasks import language

    train = language.training_pairs(task.train_pairs, task.counter_examples, task.counter_example_weights, task.seed)
    # Evaluation pairs come from word combinations held out of training, under a seed of their own.
    evaluation = language.evaluation_pairs(task.id_pairs, task.pairs_per_subcase, task.seed + 1)
    every_class, entailment_or_not = (0, 1, 2), (0, 1, 1)
    rules = tuple(
        SubsetRule(name, group, family, every_class if group == "id" else entailment_or_not)
        for name, (group, family) in language.SUBSETS.items()
    )
    rows = Counter(row["subset"] for row in [*train, *evaluation])
    origins = {name: Origin("generated", count, 0, 0, 0) for name, count in rows.items()}
    return Sentences(language.LABELS, train, evaluation, rules, origins)
