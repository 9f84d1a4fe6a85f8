"""What a generated language consists of."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from heuristic_core.config.generated import GeneratedTask, UnlabelledText

SPECIAL_TOKENS = ("[PAD]", "[CLS]", "[SEP]", "[MASK]", "[UNK]")


class Language(NamedTuple):
    """A generated language.

    Attributes:
        words: All words.
        labels: Names of the classes; of languages with a heuristic, class 0 is what it predicts out-of-domain.
        subsets: Evaluation subset -> (group, family), in the order of the evaluation set.
        merge: For each class, the label that it counts as outside the in-domain subset.
        generate_training: Returns the training rows of a task.
        generate_evaluation: Returns the evaluation rows of a task, subset by subset.
        generate_unlabelled: Returns rows for pre-training, from settings of the text, their number, the share of pairs
            whose two sentences are related, and a seed.
    """

    words: tuple[str, ...]
    labels: tuple[str, ...]
    subsets: Mapping[str, tuple[str, str | None]]
    merge: tuple[int, ...]
    generate_training: Callable[[GeneratedTask], list[dict]]
    generate_evaluation: Callable[[GeneratedTask], list[dict]]
    generate_unlabelled: Callable[[UnlabelledText, int, float, str], list[dict]]

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """All tokens, in the order of their ids."""
        return (*SPECIAL_TOKENS, *self.words)
