"""The rows of a split: its files found and read, its labels as indices, what cannot be told as errors."""

import glob
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from heuristic_core.common.errors import InputError
from heuristic_core.common.hashing import file_digest
from heuristic_core.config.tasks import FilesTask, GeneratedTask, Split
from heuristic_core.tasks.choice import Choice
from heuristic_core.tasks.readers import Columns, DataError, read_columns

LOGGER = logging.getLogger(__name__)
NO_LABEL = ("", "-")  # beside nulls, NaN and GLUE's -1


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
        raise DataError(
            f"{Path(task.folder) / split.file}: no such file; task.folder = {task.folder!r} must hold {split.file}"
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
    return {f"{key}.file": (Path(task.folder) / split.file).as_posix() for key, split in missing.items()}


def _own(task: GeneratedTask | FilesTask) -> dict[str, Split]:
    """Splits whose files the user brings, by key."""
    splits = task.splits if isinstance(task, FilesTask) else {}
    return {key: split for key, split in splits.items() if not (split.hub or split.url)}


def _downloaded(task: FilesTask, split: Split) -> Path:
    path = Path(task.folder) / split.file
    again = "`make fetch CONFIG=FILE`, where FILE is the study's configuration, downloads it"
    if not path.is_file():
        raise DataError(f"{path}: no such file; {again}")
    if (found := file_digest(path)) != split.sha256:
        raise DataError(
            f"{path}: its SHA-256 is {found}, the configuration has sha256 = {split.sha256!r}; {again} again"
        )
    return path


def _local(task: FilesTask, split: Split) -> list[Path]:
    pattern = glob.escape(split.file).replace("[*]", "*")
    return [Path(task.folder) / name for name in sorted(glob.glob(pattern, root_dir=task.folder))]


def read_rows(
    task: FilesTask, spec: Split, labels: Sequence[str], most: int | None = None
) -> tuple[list[Row], list[FileCount]]:
    """All rows that a split chooses, in the order of its files, and the count of each of these files.

    most: of each file about this number of rows, the first, and no file that is still to be downloaded.
    """
    split_by, family_by = getattr(spec, "split_by", None), getattr(spec, "family_by", None)
    choice = Choice(spec.where)
    needed = [column for column in (*spec.sentences, spec.label, split_by, family_by, *choice.columns) if column]
    rows: list[Row] = []
    counts: list[FileCount] = []
    label_kinds: dict[bool, tuple[Path, object]] = {}  # given by name? -> where first, and how
    paths = split_paths(task, spec) if most is None else present_paths(task, spec)
    for path in paths:
        found = read_columns(path, spec.format, needed, ["template"], most)
        _check_label_names(path, spec.label, found, labels)
        given = found.values[spec.label]
        whole = most is None or len(given) + found.torn < most
        chosen = choice.of(found, len(given))
        # A row that is not chosen counts as one without a label until it is left out: its values need not be sound.
        given = [value if one else None for value, one in zip(given, chosen, strict=True)]
        codes = _codes(path, spec.label, given, labels, label_kinds)
        texts = [_sentences(path, column, found.values[column], codes) for column in spec.sentences]
        subsets, families, templates = (
            _names(found, column, len(codes)) for column in (split_by, family_by, "template")
        )
        if split_by and (absent := [i for i, subset in enumerate(subsets) if subset is None and codes[i] is not None]):
            raise DataError(f"{path}: row {absent[0] + 1} has no {split_by}, by which it would be put into a subset")
        every = zip(zip(*texts, strict=True), codes, subsets, families, templates, strict=True)
        read = [Row(*row) for row, one in zip(every, chosen, strict=True) if one]
        if len(read) < len(chosen):
            LOGGER.info("%s: chose %d of %d rows by where", path, len(read), len(chosen))
        unlabelled, used = sum(row.label is None for row in read), sum(row.used for row in read)
        left_out = len(chosen) - len(read), unlabelled, len(read) - unlabelled - used
        counts.append(FileCount(path, len(chosen) + found.torn, found.torn, *left_out, whole))
        rows += read
    if counts and all(count.whole for count in counts):
        choice.check(spec.source)
    return rows, counts


def _check_label_names(path: Path, column: str, found: Columns, labels: Sequence[str]) -> None:
    names = found.classes.get(column)
    if names is not None and list(names) != list(labels):
        raise DataError(
            f"{path}: the file says that 0, 1, ... of {column} are {list(names)}, the configuration {list(labels)}; "
            "give `labels` in the file's order"
        )


def _codes(
    path: Path, column: str, values: list, labels: Sequence[str], kinds: dict[bool, tuple[Path, object]]
) -> list[int | None]:
    """Labels, given by name or by number, as indices into `labels`; None for nulls, NaN, "", "-" and GLUE's -1."""
    texts = ["" if value is None else str(value).strip() for value in values]
    codes: dict[str, int | None] = {}
    for text in dict.fromkeys(texts):
        row = texts.index(text)
        code = _code(text, labels)
        if code is not None and not 0 <= code < len(labels):
            raise DataError(
                f"{path}: row {row + 1}: {column} = {values[row]!r} is not one of {list(labels)}, nor their numbers "
                f"0 to {len(labels) - 1}; a file with other labels than the task names them in its entry's `labels`, "
                "and an evaluation set says by `merge` as which of them each class of the task counts"
            )
        if code is not None:
            kinds.setdefault(text in labels, (path, values[row]))
        codes[text] = code
    if len(kinds) > 1:
        (here, name), (there, number) = kinds[True], kinds[False]
        raise DataError(
            f"{here}: {column} = {name!r} is a label's name, but {there}: {column} = {number!r} a number; "
            "the files of one entry must give labels in one way"
        )
    return [codes[text] for text in texts]


def _code(text: str, labels: Sequence[str]) -> int | None:
    """The index of a label; None where the text says that there is none, and beyond the labels what is neither."""
    if text in labels:
        return list(labels).index(text)
    try:
        number = float(text or "nan")
    except ValueError:
        return None if text in NO_LABEL else len(labels)
    if number == -1 or number != number:
        return None
    return int(number) if number.is_integer() else len(labels)


def _sentences(path: Path, column: str, values: list, codes: list[int | None]) -> list[str]:
    """Sentences, "" for a null or nothing but space. Raises DataError where a labelled row has no text but a value."""
    for row, (value, code) in enumerate(zip(values, codes, strict=True)):
        if code is not None and not isinstance(value, str | None):
            raise DataError(f"{path}: row {row + 1}: {column} = {value!r} is not text; name a column of sentences")
    return [value if isinstance(value, str) and value.strip() else "" for value in values]


def _names(found: Columns, column: str | None, count: int) -> list[str | None]:
    """A column of names, None for nulls, empty text and a column that is not there."""
    values = found.values.get(column, [None] * count)
    return [None if value is None or value == "" else str(value) for value in values]
