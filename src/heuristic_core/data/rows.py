"""Read the files of a split as rows, with labels as indices."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from heuristic_core.common.errors import format_count
from heuristic_core.config.splits import Split
from heuristic_core.config.tasks import FilesTask
from heuristic_core.data.columns import Columns, DataError, normalise_name, short_repr
from heuristic_core.data.labels import LabelStyle, check_label_names, encode_labels, may_be_labels
from heuristic_core.data.pairs import INVISIBLE_CHARACTERS, UNREQUESTED_REASONS, format_reasons
from heuristic_core.data.readers import read_columns
from heuristic_core.data.row_filter import RowFilter
from heuristic_core.data.split_files import find_present_paths, find_split_paths
from heuristic_core.data.targets import find_target

LOGGER = logging.getLogger(__name__)
MAX_DROPPED_SHARE = 0.01  # of a file's rows; a warning reports higher shares


class Row(NamedTuple):
    """One row of a file.

    Attributes:
        sentences: one or two sentences; "" if empty, as only rows without a label may have.
        label: index into the split's labels; None if missing.
        subset: value of the column `split_by`.
        family: value of the column `family_by`.
        template: value of the column `templates`.
        target: first character of the target in the sentence, and the one after its last; None without a target.
    """

    sentences: tuple[str, ...]
    label: int | None
    subset: str | None
    family: str | None
    template: str | None
    target: tuple[int, int] | None

    @property
    def used(self) -> bool:
        """Whether the row has a label."""
        return self.label is not None


class FileCounts(NamedTuple):
    """Numbers of rows of one file, in all and by the reason for which they are left out.

    Attributes:
        path: the file.
        rows: all rows.
        torn: lines with another number of fields than the header.
        not_chosen: rows that do not meet `where`.
        unlabelled: rows without a label.
        is_complete: whether the file was read to its end.
    """

    path: Path
    rows: int
    torn: int
    not_chosen: int
    unlabelled: int
    is_complete: bool

    @property
    def used(self) -> int:
        """Number of rows that are not left out."""
        return self.rows - self.torn - self.not_chosen - self.unlabelled


def read_rows(
    task: FilesTask, spec: Split, labels: Sequence[str], max_rows: int | None = None, style: LabelStyle | None = None
) -> tuple[list[Row], list[FileCounts]]:
    """Read the rows of a split that meet its conditions.

    Args:
        task: the task.
        spec: configuration of the split.
        labels: names of the split's labels 0, 1, ...
        max_rows: read about this number of first rows of each file, and skip files not downloaded yet; default: all.
        style: how other splits give the task's labels; shared by splits without their own `labels`.

    Returns:
        The rows in the order of the files, and the counts of each file.

    Raises:
        DataError: a file is missing, cannot be read, or does not fit the configuration.
    """
    split_by, family_by, templates = (getattr(spec, key, None) for key in ("split_by", "family_by", "templates"))
    style = style if style and spec.labels is None else LabelStyle()
    row_filter = RowFilter(spec.where)
    names = [column for column in (split_by, family_by, templates, spec.target) if column]
    label_columns = [spec.label] if spec.every_label is None else []
    needed = [*spec.sentences, *label_columns, *names, *row_filter.columns]
    rows: list[Row] = []
    counts: list[FileCounts] = []
    paths = find_split_paths(task, spec) if max_rows is None else find_present_paths(task, spec)
    for path in paths:
        columns = read_columns(path, spec.format, needed, max_rows, spec.quoting)
        size = len(columns.values[spec.sentences[0]])
        is_complete = max_rows is None or size + columns.torn < max_rows
        is_selected = row_filter.select_rows(columns, size)
        codes = _read_labels(path, columns, spec, labels, is_selected, style)
        _check_row_keys(path, columns, spec, labels, is_selected, is_complete)
        texts = [_extract_sentences(path, column, columns, codes) for column in spec.sentences]
        subsets, families, template_names = (
            _extract_names(columns, column, len(codes)) for column in (split_by, family_by, templates)
        )
        for column, names_of_rows, purpose in (
            (split_by, subsets, "by which it would be put into a subset"),
            (templates, template_names, "by which it would be resampled"),
        ):
            missing = [i for i, code in enumerate(codes) if code is not None and names_of_rows[i] is None]
            if column and missing:
                raise DataError(f"{path}: {columns.describe_row(missing[0])} has no {column}, {purpose}")
        targets = _extract_targets(path, spec.target, columns, codes, texts[0])
        row_fields = zip(zip(*texts, strict=True), codes, subsets, families, template_names, targets, strict=True)
        selected_rows = [Row(*row) for row, keep in zip(row_fields, is_selected, strict=True) if keep]
        if len(selected_rows) < len(is_selected):
            counted_rows = len(selected_rows), len(is_selected), _count_missing_keys(columns, row_filter)
            LOGGER.info("%s: chose %d of %d rows by where%s", path, *counted_rows)
        dropped = len(is_selected) - len(selected_rows), sum(not row.used for row in selected_rows)
        counts.append(FileCounts(path, len(is_selected) + columns.torn, columns.torn, *dropped, is_complete))
        rows += selected_rows
    if counts and all(count.is_complete for count in counts):
        row_filter.check(spec.source)
    return rows, counts


def list_dropped_row_warnings(key: str, files: Sequence[FileCounts]) -> list[str]:
    """Return a warning for each file that loses many rows for reasons not configured.

    Args:
        key: Key of the split in the configuration, such as "task.train.0".
        files: Counts of the split's files.

    Returns:
        Warnings about files with a share above `MAX_DROPPED_SHARE` of rows left out.
    """
    warnings = []
    for file in files:
        reasons = {reason: getattr(file, reason) for reason in UNREQUESTED_REASONS}
        chosen, dropped = file.rows - file.not_chosen, sum(reasons.values())
        if dropped > MAX_DROPPED_SHARE * chosen:
            verb = "is" if dropped == 1 else "are"
            warnings.append(
                f"{key}: {file.path}: {dropped:,} of {format_count(chosen, 'row')} {verb} left out: "
                f"{format_reasons(reasons)}"
            )
    return warnings


def _read_labels(
    path: Path, columns: Columns, spec: Split, labels: Sequence[str], is_selected: Sequence[bool], style: LabelStyle
) -> list[int | None]:
    """Return the labels of all rows; None for unlabelled ones and those that are not selected."""
    if spec.every_label is not None:
        return [labels.index(spec.every_label) if keep else None for keep in is_selected]
    check_label_names(path, spec.label, columns, labels)
    # Rows that are not selected may hold invalid values: treat them as unlabelled until they are dropped.
    values = [value if keep else None for value, keep in zip(columns.values[spec.label], is_selected, strict=True)]
    return encode_labels(path, spec.label, columns, values, labels, style)


def _check_row_keys(
    path: Path, columns: Columns, spec: Split, labels: Sequence[str], is_selected: Sequence[bool], is_complete: bool
) -> None:
    """Check the keys of each selected row of a file whose rows have their own keys.

    A row without the label's key counts as unlabelled, unless it has a key that may be the label under another name;
    only a complete file can show that.

    Raises:
        DataError: a row lacks a sentence or a target, or its label seems to have another name.
    """
    if columns.keys is None:
        return
    first_rows: dict[tuple[str, ...], int] = {}
    for row, keys in enumerate(columns.keys):
        if is_selected[row]:
            first_rows.setdefault(keys, row)
    looks_for_label = is_complete and spec.every_label is None
    renamed_keys = _find_renamed_keys(columns, spec.label, labels, is_selected) if looks_for_label else {}
    for keys, row in first_rows.items():
        needed = [*spec.sentences, spec.target] if spec.target else spec.sentences
        missing = [column for column in needed if column not in keys]
        candidates = [key for key in keys if key in renamed_keys and spec.label not in keys]
        if missing or candidates:
            key_list = ", ".join(map(short_repr, keys)) or "none"
            absent_key = missing[0] if missing else spec.label
            hint = (
                ""
                if missing
                else f", of which {short_repr(candidates[0])} may be {short_repr(spec.label)} under another name"
            )
            raise DataError(
                f"{path}: {columns.describe_row(row)} has no {short_repr(absent_key)}, as other rows have; its "
                f"keys are {key_list}{hint}. Keep rows of one kind per file, or select them by `where`; write null "
                "where a value is not known"
            )


def _count_missing_keys(columns: Columns, row_filter: RowFilter) -> str:
    """Describe how many rows lack a key that `where` uses; empty if all have it."""
    counts = {key: sum(key not in keys for keys in columns.keys or ()) for key in row_filter.columns}
    missing = [f"{count} have no {short_repr(key)}" for key, count in counts.items() if count]
    return f"; of the others {', '.join(missing)}" if missing else ""


def _find_renamed_keys(columns: Columns, label: str, labels: Sequence[str], is_selected: Sequence[bool]) -> set[str]:
    """Return keys that may be the label under another name.

    No row with the label's key has them, and their names equal it up to case and quotes, or their values look like
    labels.
    """
    labelled_keys = set().union(
        *{keys for keys, keep in zip(columns.keys, is_selected, strict=True) if keep and label in keys}
    )
    values: dict[str, list[str]] = {}
    for row, row_values in columns.incomplete_rows.items():
        if is_selected[row] and label not in columns.keys[row]:
            for key, text in row_values.items():
                if key not in labelled_keys:
                    values.setdefault(key, []).append(text)
    return {
        key
        for key, texts in values.items()
        if normalise_name(key) == normalise_name(label) or may_be_labels(texts, labels)
    }


def _extract_sentences(path: Path, column: str, columns: Columns, codes: list[int | None]) -> list[str]:
    """Return the sentences of a column; "" for nulls and texts without a visible character.

    Raises:
        DataError: a labelled row has a value that is not text, or is empty.
    """
    values = columns.values[column]
    for row, (value, code) in enumerate(zip(values, codes, strict=True)):
        if code is not None and not isinstance(value, str | None):
            raise DataError(
                f"{path}: {columns.describe_row(row)}: {column} = {value!r} is not text; choose a column of sentences"
            )
    sentences = [
        value if isinstance(value, str) and INVISIBLE_CHARACTERS.sub("", value).strip() else "" for value in values
    ]
    if empty := [row for row, text in enumerate(sentences) if not text and codes[row] is not None]:
        raise DataError(
            f"{path}: {format_count(len(empty), 'labelled row')} without {column}, the first is "
            f"{columns.describe_row(empty[0])}; add it, or leave such rows out by `where: {{{column}: '\\S'}}`"
        )
    return sentences


def _extract_targets(
    path: Path, column: str | None, columns: Columns, codes: list[int | None], sentences: list[str]
) -> list[tuple[int, int] | None]:
    """Return the characters of each target; None for rows that are not used, and without a column of targets.

    Raises:
        DataError: a target is not in its sentence.
    """
    if column is None:
        return [None] * len(codes)
    targets: list[tuple[int, int] | None] = []
    for row, (value, code, sentence) in enumerate(zip(columns.values[column], codes, sentences, strict=True)):
        try:
            targets.append(find_target(value, sentence) if code is not None else None)
        except ValueError as error:
            raise DataError(f"{path}: {columns.describe_row(row)}: {column} = {value!r} {error}") from None
    return targets


def _extract_names(columns: Columns, column: str | None, count: int) -> list[str | None]:
    """Return a column of names; None for nulls, empty texts and a missing column."""
    values = columns.values.get(column, [None] * count)
    return [None if value is None or value == "" else str(value) for value in values]
