"""Parse the labels of a file into indices of a list of label names."""

import json
from collections.abc import Iterable, Sequence
from decimal import Decimal
from pathlib import Path

from heuristic_core.config.splits import EvaluationSplit
from heuristic_core.data.columns import Columns, DataError, parse_number, short_repr

NO_LABEL_TEXTS = ("", "-", "nan", "+nan", "-nan")  # besides nulls and GLUE's -1
TRUTH_VALUES = {"false": Decimal(0), "true": Decimal(1)}  # in any case, as JSON, pandas and spreadsheets write them


class LabelStyle:
    """Whether the files that share a list of labels hold their names or their indices."""

    def __init__(self):
        self._first: tuple[bool, str] | None = None

    @property
    def by_index(self) -> bool:
        """Whether the labels read so far are indices; False before the first."""
        return self._first is not None and not self._first[0]

    def check(self, by_name: bool, description: str) -> None:
        """Record the style of a label, and check that it is the style of all labels before.

        Args:
            by_name: whether this label is a name.
            description: the label with its file, row and column, for the message.

        Raises:
            DataError: some labels are names and others numbers.
        """
        first_by_name, first = self._first = self._first or (by_name, description)
        if first_by_name != by_name:
            name, number = (description, first) if by_name else (first, description)
            raise DataError(
                f"{name} is a label's name, but {number} is a number; files that share a list of labels must all "
                "use names or all use numbers. If the numbers of a file have another order, set its entry's "
                "`labels`; an evaluation set's `merge` maps each class of the task to one of them"
            )


def encode_labels(
    path: Path, column: str, data: Columns, values: Sequence, labels: Sequence[str], style: LabelStyle
) -> list[int | None]:
    """Encode the values of the label column as indices into `labels`; None for nulls, NaN, "", "-" and GLUE's -1.

    A value that equals a name, as text or as a number, is that name: 1.0 is "1". Other numbers are indices, unless
    one of the names is a number that could be an index. A truth value matches the name "true" or "false" in any case,
    or the name 1 or 0. If the file itself stores the names, all numbers are indices.

    Args:
        path: the file, for messages.
        column: the label column.
        data: the columns of the file.
        values: values of the label column.
        labels: names of 0, 1, ...
        style: how other files give these labels; updated by this file.

    Raises:
        DataError: a value is no label, is ambiguous, or is given in another style than in other files.
    """
    texts = ["" if value is None else str(value).strip() for value in values]
    parser = _LabelParser(labels, column in data.classes)
    codes: dict[str, int | None] = {}
    for text in dict.fromkeys(texts):
        row = texts.index(text)
        by_name, code = parser.parse(text)
        value = short_repr(values[row]) if isinstance(values[row], str) else repr(values[row])
        location = f"{path}: {data.describe_row(row)}: {column} = {value}"
        if code == UNKNOWN:
            raise DataError(
                f"{location} is not one of {list(labels)}, {parser.numbers_text}; correct it in the file or in "
                "task.labels. If the file has other labels than the task, name them in its entry's `labels`, and in "
                "`merge` which of them each class of the task counts as"
            )
        if code == AMBIGUOUS:
            raise DataError(
                f"{location} is ambiguous: by number it is {labels[int(parse_number(text))]!r} of {list(labels)}, but "
                "1 may mean true and 0 false. If so, set its entry's `labels: "
                f"{json.dumps(parser.truth_value_order, ensure_ascii=False)}`; else write the names in the file"
            )
        if code is not None and column not in data.classes:
            style.check(by_name, location)
        codes[text] = code
    return [codes[text] for text in texts]


def may_be_labels(texts: Iterable[str], labels: Sequence[str]) -> bool:
    """Return whether all values are names in any case, indices, or missing labels, and at least one is a label.

    Args:
        texts: Values of a column.
        labels: Class names in the task's order.
    """
    names = {name.strip().casefold(): name for name in labels}
    codes = [
        _LabelParser(labels, False).parse(names.get(text.strip().casefold(), text.strip()))[1] for text in set(texts)
    ]
    return UNKNOWN not in codes and any(code is not None for code in codes)


UNKNOWN, AMBIGUOUS = -1, -2


class _LabelParser:
    """Parse texts as labels.

    Args:
        labels: Names of the labels 0, 1, ...
        has_names: Whether the file stores the names in this order, so that its numbers are indices.
    """

    def __init__(self, labels: Sequence[str], has_names: bool):
        self._labels, self._has_names = list(labels), has_names
        self._numbers = [parse_number(name) for name in labels]
        self._words = [name.strip().lower() for name in labels]
        # Indices are ambiguous if they contradict the truth values, as in [true, false], where index 1 is false.
        self._truth_values_swapped = any(
            word in TRUTH_VALUES and TRUTH_VALUES[word] != index for index, word in enumerate(self._words)
        )
        self._numbers_are_indices = not any(
            number in range(len(labels)) for number in self._numbers if number is not None
        )

    @property
    def numbers_text(self) -> str:
        """The meaning of numbers, for messages."""
        if self._numbers_are_indices or self._has_names:
            return f"nor their numbers 0 to {len(self._labels) - 1}"
        return "and, because some label names are numbers, indices are not accepted"

    @property
    def truth_value_order(self) -> list[str]:
        """The names, ordered so that 0 is false and 1 is true."""
        ordered = [name for name, word in zip(self._labels, self._words, strict=True) if word not in TRUTH_VALUES]
        for word, number in TRUTH_VALUES.items():
            ordered[int(number) : int(number)] = [self._labels[self._words.index(word)]] if word in self._words else []
        return ordered

    def parse(self, text: str) -> tuple[bool, int | None]:
        """Return whether a text is a name, and its index: None for a missing label, else maybe UNKNOWN or AMBIGUOUS."""
        number = parse_number(text)
        if self._has_names and number is not None:
            return False, None if number == -1 else self._index(number)
        if text in self._labels:
            return True, self._labels.index(text)
        if (word := text.lower()) in TRUTH_VALUES:
            if word in self._words:
                return True, _find_unique(self._words, word)
            return True, _find_unique(self._numbers, TRUTH_VALUES[word])
        if number is None:
            return False, None if text.lower() in NO_LABEL_TEXTS else UNKNOWN
        if number in self._numbers:
            return True, _find_unique(self._numbers, number)
        if number == -1:
            return False, None
        return False, self._index(number) if self._numbers_are_indices else UNKNOWN

    def _index(self, number: Decimal) -> int:
        if number not in range(len(self._labels)):
            return UNKNOWN
        return AMBIGUOUS if self._truth_values_swapped and not self._has_names else int(number)


def _find_unique(values: Sequence, value) -> int:
    """Return the index of `value` in `values`; UNKNOWN if it occurs twice."""
    return values.index(value) if values.count(value) == 1 else UNKNOWN


def check_label_names(path: Path, column: str, data: Columns, labels: Sequence[str]) -> None:
    """Check that label names stored in a file equal `labels`, in the same order.

    Args:
        path: path of the file, for the message.
        column: column of the labels; a file that stores no names for it passes.
        data: the columns read from the file.
        labels: label names of the configuration.

    Raises:
        DataError: they differ.
    """
    names = data.classes.get(column)
    if names is not None and list(names) != list(labels):
        raise DataError(
            f"{path}: the file names the classes 0, 1, ... of {column} {list(names)}, the configuration names them "
            f"{list(labels)}; set `labels` in the file's order"
        )


def list_label_warnings(
    key: str, spec: EvaluationSplit, classes: Sequence[str], codes: Sequence[int | None], style: LabelStyle
) -> list[str]:
    """Return warnings about labels of an evaluation set that may not mean what the configuration says.

    Args:
        key: the set's key in the configuration.
        spec: the set's configuration.
        classes: ``task.labels``.
        codes: label of each row, as an index into the set's labels; None if missing.
        style: how the files give their labels.
    """
    labels, warnings = spec.labels or classes, []
    if swapped := [label for label in classes if label in labels and spec.merge and spec.merge[label] != label]:
        warnings.append(
            f"{key}: merge counts the class {swapped[0]!r} as {spec.merge[swapped[0]]!r}, although the file has a "
            f"label {swapped[0]!r}; are labels swapped?"
        )
    present = sorted({code for code in codes if code is not None})
    if present and spec.labels is None and style.by_index and present[-1] < len(labels) - 1:
        warnings.append(
            f"{key}: {spec.source} has the {_join_words(list(map(str, present)), 'label')}, read as "
            f"{_join_words([repr(labels[code]) for code in present])}. If they mean something else "
            "there, set its `labels` and `merge`"
        )
    return warnings


def _join_words(words: Sequence[str], noun: str = "") -> str:
    """Join words for a message, after a noun: "labels 0, 1 and 2"."""
    listed = f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else words[0]
    return f"{noun}{'' if len(words) == 1 else 's'} {listed}" if noun else listed
