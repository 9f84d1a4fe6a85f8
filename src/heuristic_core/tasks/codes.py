"""Labels of a file as indices into a list of label names: what a value means, and values that mean nothing."""

import json
from collections.abc import Iterable, Sequence
from decimal import Decimal
from pathlib import Path

from heuristic_core.config.tasks import EvaluationSplit
from heuristic_core.tasks.columns import Columns, DataError, number_of, shown

NO_LABEL = ("", "-", "nan", "+nan", "-nan")  # beside nulls and GLUE's -1
TRUTH = {"false": Decimal(0), "true": Decimal(1)}  # in any case, as JSON, pandas and spreadsheets write them


class LabelUse:
    """How files give the labels of one list: all by name, or all by index."""

    def __init__(self):
        self._first: tuple[bool, str] | None = None

    @property
    def by_index(self) -> bool:
        return self._first is not None and not self._first[0]

    def check(self, by_name: bool, value: str) -> None:
        """Raise DataError where a label, described by `value` with its place, is given in the other way than others."""
        first_by_name, first = self._first = self._first or (by_name, value)
        if first_by_name != by_name:
            name, number = (value, first) if by_name else (first, value)
            raise DataError(
                f"{name} is a label's name, but {number} is a number; files that share a list of labels must give them "
                "in one way. A file whose numbers have an order of their own names it in its entry's `labels`, and an "
                "evaluation set says by `merge` as which of them each class of the task counts"
            )


def label_codes(
    path: Path, column: str, found: Columns, values: Sequence, labels: Sequence[str], use: LabelUse
) -> list[int | None]:
    """Values of the label column as indices into `labels`; None for nulls, NaN, "", "-" and GLUE's -1.

    A value that equals a name, as text or as a number, is that name: 1.0 is "1". Another number is an index, unless
    some name is a number that could be one. A truth value is the name that is its word in any case, or its number.
    Where the file itself has the names, all numbers are indices.
    """
    texts = ["" if value is None else str(value).strip() for value in values]
    meanings = _Meanings(labels, column in found.classes)
    codes: dict[str, int | None] = {}
    for text in dict.fromkeys(texts):
        row = texts.index(text)
        by_name, code = meanings.of(text)
        value = shown(values[row]) if isinstance(values[row], str) else repr(values[row])
        described = f"{path}: {found.place(row)}: {column} = {value}"
        if code == UNKNOWN:
            raise DataError(
                f"{described} is not one of {list(labels)}, {meanings.numbers}; a file with other labels than the task "
                "names them in its entry's `labels`, and an evaluation set says by `merge` as which of them each class "
                "of the task counts"
            )
        if code == AMBIGUOUS:
            raise DataError(
                f"{described} is ambiguous: by number it is {labels[int(number_of(text))]!r} of {list(labels)}, but 1 "
                "may mean true and 0 false. If so, give its entry `labels: "
                f"{json.dumps(meanings.as_truth_values, ensure_ascii=False)}`; else write the names in the file"
            )
        if code is not None and column not in found.classes:
            use.check(by_name, described)
        codes[text] = code
    return [codes[text] for text in texts]


def may_be_labels(texts: Iterable[str], labels: Sequence[str]) -> bool:
    """Whether values of a column are all names of `labels`, in any case, their numbers, or none, and not all none."""
    names = {name.strip().casefold(): name for name in labels}
    codes = [_Meanings(labels, False).of(names.get(text.strip().casefold(), text.strip()))[1] for text in set(texts)]
    return UNKNOWN not in codes and any(code is not None for code in codes)


UNKNOWN, AMBIGUOUS = -1, -2


class _Meanings:
    """What texts mean as labels. known: a file has the names itself, in this order, so that its numbers are indices."""

    def __init__(self, labels: Sequence[str], known: bool):
        self._labels, self._known = list(labels), known
        self._numbers = [number_of(name) for name in labels]
        self._words = [name.strip().lower() for name in labels]
        # Whether numbers by which names of truth values are called otherwise, as 1 in [true, false], mean either.
        self._swapped = any(word in TRUTH and TRUTH[word] != index for index, word in enumerate(self._words))
        self._indices = not any(number in range(len(labels)) for number in self._numbers if number is not None)

    @property
    def numbers(self) -> str:
        """What messages say of numbers."""
        if self._indices or self._known:
            return f"nor their numbers 0 to {len(self._labels) - 1}"
        return "and as some of these are numbers, no other number means a label"

    @property
    def as_truth_values(self) -> list[str]:
        """The names in an order in which 0 is false and 1 is true."""
        ordered = [name for name, word in zip(self._labels, self._words, strict=True) if word not in TRUTH]
        for word, number in TRUTH.items():
            ordered[int(number) : int(number)] = [self._labels[self._words.index(word)]] if word in self._words else []
        return ordered

    def of(self, text: str) -> tuple[bool, int | None]:
        """Whether a text is a name, and its index: None where it says that there is no label, else maybe UNKNOWN."""
        number = number_of(text)
        if self._known and number is not None:
            return False, None if number == -1 else self._index(number)
        if text in self._labels:
            return True, self._labels.index(text)
        if (word := text.lower()) in TRUTH:
            return True, _only(self._words, word) if word in self._words else _only(self._numbers, TRUTH[word])
        if number is None:
            return False, None if text.lower() in NO_LABEL else UNKNOWN
        if number in self._numbers:
            return True, _only(self._numbers, number)
        if number == -1:
            return False, None
        return False, self._index(number) if self._indices else UNKNOWN

    def _index(self, number: Decimal) -> int:
        if number not in range(len(self._labels)):
            return UNKNOWN
        return AMBIGUOUS if self._swapped and not self._known else int(number)


def _only(values: Sequence, value) -> int:
    """The place of the only one of `values` that equals `value`."""
    return values.index(value) if values.count(value) == 1 else UNKNOWN


def check_label_names(path: Path, column: str, found: Columns, labels: Sequence[str]) -> None:
    """Raise DataError where a file has other names of its labels than `labels`, or in another order."""
    names = found.classes.get(column)
    if names is not None and list(names) != list(labels):
        raise DataError(
            f"{path}: the file says that 0, 1, ... of {column} are {list(names)}, the configuration {list(labels)}; "
            "give `labels` in the file's order"
        )


def label_doubts(
    key: str, spec: EvaluationSplit, classes: Sequence[str], codes: Sequence[int | None], use: LabelUse
) -> list[str]:
    """Warnings of an evaluation set's labels that may not mean what the configuration says.

    Args:
        key: of the set in the configuration.
        classes: ``task.labels``.
        codes: the label of every row, as an index into the set's labels; None without one.
    """
    labels, doubts = spec.labels or classes, []
    if swapped := [label for label in classes if label in labels and spec.merge and spec.merge[label] != label]:
        doubts.append(
            f"{key}: merge counts the class {swapped[0]!r} as {spec.merge[swapped[0]]!r}, although the file has a "
            f"label {swapped[0]!r}; are labels swapped?"
        )
    there = sorted({code for code in codes if code is not None})
    if there and spec.labels is None and use.by_index and there[-1] < len(labels) - 1:
        doubts.append(
            f"{key}: {spec.source} has the {_listed(list(map(str, there)), 'label')}, read as "
            f"{_listed([repr(labels[code]) for code in there])}. If they mean something else there, give its `labels` "
            "and `merge`"
        )
    return doubts


def _listed(words: Sequence[str], noun: str = "") -> str:
    """Words as a message lists them, behind a noun: "labels 0, 1 and 2"."""
    listed = f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]
    return f"{noun}{'' if len(words) == 1 else 's'} {listed}" if noun else listed
