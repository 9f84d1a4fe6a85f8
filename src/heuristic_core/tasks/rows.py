"""The rows of a split: its files found and read, its labels as indices, what cannot be told as errors."""

import glob
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from heuristic_core.common.errors import InputError, counted
from heuristic_core.common.hashing import file_digest
from heuristic_core.config.tasks import FilesTask, GeneratedTask, Split
from heuristic_core.tasks.choice import Choice
from heuristic_core.tasks.codes import LabelUse, check_label_names, label_codes, may_be_labels
from heuristic_core.tasks.columns import Columns, DataError, bare, shown
from heuristic_core.tasks.pairs import INVISIBLE, UNASKED, reasons_text
from heuristic_core.tasks.readers import read_columns

LOGGER = logging.getLogger(__name__)
LEFT_OUT = 0.01  # share of a file's rows of which more are left out than pass without a word


class Row(NamedTuple):
    """One row of a file.

    sentences: "" for one that is empty. label: index into the split's labels, None for none. subset: value of split_by.
    """

    sentences: tuple[str, str]
    label: int | None
    subset: str | None
    family: str | None
    template: str | None

    @property
    def used(self) -> bool:
        return self.label is not None and all(self.sentences)


class FileCount(NamedTuple):
    """The rows of one file: all of them, and those left out. whole: whether it was read to its end."""

    path: Path
    rows: int
    torn: int
    not_chosen: int
    unlabelled: int
    empty: int
    whole: bool

    @property
    def used(self) -> int:
        return self.rows - self.torn - self.not_chosen - self.unlabelled - self.empty


def split_paths(task: FilesTask, split: Split) -> list[Path]:
    """The local paths of a split's files, in the order of their names: at least one."""
    if split.hub:
        from heuristic_core.sources.hub import cached_files

        return cached_files(split.hub, split.revision, [split.file], kind="dataset")
    if split.url:
        return [_downloaded(task, split)]
    paths = _local(task, split)
    if not paths:
        key = "task.folder" if split.folder is None else "folder"
        raise DataError(
            f"{Path(task.path_of(split))}: no such file; {key} = {task.folder_of(split)!r} must hold {split.file}"
        )
    return paths


def local_paths(task: GeneratedTask | FilesTask) -> list[str]:
    """The local files of a task that are there: those whose change changes its pairs. Others are pinned by a hash."""
    paths = [path for split in _own(task).values() for path in _local(task, split)]
    files = [file for path in paths for file in (path.rglob("[!.]*") if path.is_dir() else [path]) if file.is_file()]
    return sorted({file.as_posix() for file in files})


def present_paths(task: FilesTask, split: Split) -> list[Path]:
    """The same before anything is downloaded: of files that `fetch` brings, those that are there, unchecked."""
    if not (split.hub or split.url):
        return split_paths(task, split)
    try:
        return _local(task, split) if split.url else split_paths(task, split)
    except InputError:
        return []


def missing_paths(task: GeneratedTask | FilesTask) -> dict[str, str]:
    """Local files that are not there and that nobody downloads: the key of the configuration -> path."""
    missing = {key: split for key, split in _own(task).items() if not _local(task, split)}
    return {f"{key}.file": Path(task.path_of(split)).as_posix() for key, split in missing.items()}


def _own(task: GeneratedTask | FilesTask) -> dict[str, Split]:
    """Splits whose files the user brings, by key."""
    splits = task.splits if isinstance(task, FilesTask) else {}
    return {key: split for key, split in splits.items() if not (split.hub or split.url)}


def _downloaded(task: FilesTask, split: Split) -> Path:
    path = Path(task.path_of(split))
    again = "`make fetch CONFIG=FILE`, where FILE is the study's configuration, downloads it"
    if not path.is_file():
        raise DataError(f"{path}: no such file; {again}")
    if (found := file_digest(path)) != split.sha256:
        raise DataError(
            f"{path}: its SHA-256 is {found}, the configuration has sha256 = {split.sha256!r}; {again} again"
        )
    return path


def _local(task: FilesTask, split: Split) -> list[Path]:
    pattern, folder = glob.escape(split.file).replace("[*]", "*"), task.folder_of(split)
    return [Path(folder) / name for name in sorted(glob.glob(pattern, root_dir=folder))]


def read_rows(
    task: FilesTask, spec: Split, labels: Sequence[str], most: int | None = None, use: LabelUse | None = None
) -> tuple[list[Row], list[FileCount]]:
    """All rows that a split chooses, in the order of its files, and the count of each of these files.

    most: of each file about this number of rows, the first, and no file that is still to be downloaded. use: how other
    splits give the task's labels, which a split without labels of its own shares with them; default: no others.
    """
    split_by, family_by, templates = (getattr(spec, key, None) for key in ("split_by", "family_by", "templates"))
    use = use if use and spec.labels is None else LabelUse()
    choice = Choice(spec.where)
    names = [column for column in (split_by, family_by, templates) if column]
    needed = [*spec.sentences, spec.label, *names, *choice.columns]
    rows: list[Row] = []
    counts: list[FileCount] = []
    paths = split_paths(task, spec) if most is None else present_paths(task, spec)
    for path in paths:
        found = read_columns(path, spec.format, needed, most, spec.quoting)
        check_label_names(path, spec.label, found, labels)
        given = found.values[spec.label]
        whole = most is None or len(given) + found.torn < most
        chosen = choice.of(found, len(given))
        # A row that is not chosen counts as one without a label until it is left out: its values need not be sound.
        given = [value if one else None for value, one in zip(given, chosen, strict=True)]
        codes = label_codes(path, spec.label, found, given, labels, use)
        _check_keys(path, found, spec, labels, chosen, whole)
        texts = [_sentences(path, column, found, codes) for column in spec.sentences]
        subsets, families, of_templates = (
            _names(found, column, len(codes)) for column in (split_by, family_by, templates)
        )
        for column, values, purpose in (
            (split_by, subsets, "by which it would be put into a subset"),
            (templates, of_templates, "by which it would be resampled"),
        ):
            if column and (absent := [i for i, code in enumerate(codes) if code is not None and values[i] is None]):
                raise DataError(f"{path}: {found.place(absent[0])} has no {column}, {purpose}")
        every = zip(zip(*texts, strict=True), codes, subsets, families, of_templates, strict=True)
        read = [Row(*row) for row, one in zip(every, chosen, strict=True) if one]
        if len(read) < len(chosen):
            LOGGER.info("%s: chose %d of %d rows by where%s", path, len(read), len(chosen), _keyless(found, choice))
        unlabelled, used = sum(row.label is None for row in read), sum(row.used for row in read)
        left_out = len(chosen) - len(read), unlabelled, len(read) - unlabelled - used
        counts.append(FileCount(path, len(chosen) + found.torn, found.torn, *left_out, whole))
        rows += read
    if counts and all(count.whole for count in counts):
        choice.check(spec.source)
    return rows, counts


def left_out_warnings(key: str, files: Sequence[FileCount]) -> list[str]:
    """A warning for each file of which many rows are left out for reasons that nobody asked for."""
    warnings = []
    for file in files:
        reasons = {reason: getattr(file, reason) for reason in UNASKED}
        chosen, lost = file.rows - file.not_chosen, sum(reasons.values())
        if lost > LEFT_OUT * chosen:
            are = "is" if lost == 1 else "are"
            warnings.append(
                f"{key}: {file.path}: {lost:,} of {counted(chosen, 'row')} {are} left out: {reasons_text(reasons)}"
            )
    return warnings


def _check_keys(
    path: Path, found: Columns, spec: Split, labels: Sequence[str], chosen: Sequence[bool], whole: bool
) -> None:
    """Raise DataError where a chosen row of a file whose rows have keys of their own lacks what other rows have.

    A row without the label's key is one without a label, unless a key that rows with a label lack could be the label
    under another name, which only all rows can tell.
    """
    if found.keys is None:
        return
    first: dict[tuple[str, ...], int] = {}
    for row, keys in enumerate(found.keys):
        if chosen[row]:
            first.setdefault(keys, row)
    renamed = _renamed(found, spec.label, labels, chosen) if whole else {}
    for keys, row in first.items():
        lacking = [column for column in spec.sentences if column not in keys]
        other = [key for key in keys if key in renamed and spec.label not in keys]
        if lacking or other:
            listed = ", ".join(map(shown, keys)) or "none"
            likely = "" if lacking else f", of which {shown(other[0])} may be {shown(spec.label)} under another name"
            raise DataError(
                f"{path}: {found.place(row)} has no {shown((lacking or [spec.label])[0])}, as other rows have; its "
                f"keys are {listed}{likely}. Keep rows of one kind in a file, or choose them by `where`; write null "
                "where a value is not known"
            )


def _keyless(found: Columns, choice: Choice) -> str:
    """For a message, how many rows lack a key by which rows are chosen; empty where all have it."""
    counts = {key: sum(key not in keys for keys in found.keys or ()) for key in choice.columns}
    lacking = [f"{count} have no {shown(key)}" for key, count in counts.items() if count]
    return f"; of the others {', '.join(lacking)}" if lacking else ""


def _renamed(found: Columns, label: str, labels: Sequence[str], chosen: Sequence[bool]) -> set[str]:
    """Keys of chosen rows without the label's key that may be the label under another name: no row with a label has
    them, and they are called alike or have values like labels."""
    labelled = set().union(*{keys for keys, one in zip(found.keys, chosen, strict=True) if one and label in keys})
    values: dict[str, list[str]] = {}
    for row, beside in found.beside.items():
        if chosen[row] and label not in found.keys[row]:
            for key, text in beside.items():
                if key not in labelled:
                    values.setdefault(key, []).append(text)
    return {key for key, texts in values.items() if bare(key) == bare(label) or may_be_labels(texts, labels)}


def _sentences(path: Path, column: str, found: Columns, codes: list[int | None]) -> list[str]:
    """Sentences, "" for a null or nothing that can be seen.

    Raises DataError where a labelled row has a value that is not text.
    """
    values = found.values[column]
    for row, (value, code) in enumerate(zip(values, codes, strict=True)):
        if code is not None and not isinstance(value, str | None):
            raise DataError(f"{path}: {found.place(row)}: {column} = {value!r} is not text; name a column of sentences")
    return [value if isinstance(value, str) and INVISIBLE.sub("", value).strip() else "" for value in values]


def _names(found: Columns, column: str | None, count: int) -> list[str | None]:
    """A column of names, None for nulls, empty text and a column that is not there."""
    values = found.values.get(column, [None] * count)
    return [None if value is None or value == "" else str(value) for value in values]
