"""Check a task by its configuration and the first rows of its files.

Every error found here is also an error of the complete files; later rows may have others.
"""

import logging
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from heuristic_core.config.generated import GeneratedTask
from heuristic_core.config.requirements import NO_REQUIREMENTS, DataRequirements
from heuristic_core.config.splits import EvaluationSplit, Format, Split
from heuristic_core.config.tasks import FilesTask, describe_unknown_subsets
from heuristic_core.data.counts import format_shortage, list_unmet_requirements
from heuristic_core.data.evaluation_subsets import (
    check_subset_name,
    get_evaluation_labels,
    group_by_subset,
    select_rows,
)
from heuristic_core.data.files import get_training_labels, read_task
from heuristic_core.data.labels import LabelStyle
from heuristic_core.data.readers import DataError
from heuristic_core.data.rows import FileCounts, read_rows

LOGGER = logging.getLogger(__name__)
PREVIEW_ROWS = 10_000  # first rows of each file
CHUNK_BYTES = 1 << 22  # read at once to count lines


def find_task_errors(task: GeneratedTask | FilesTask, requirements: DataRequirements = NO_REQUIREMENTS) -> list[str]:
    """Check that each split can be read and meets the study's requirements.

    Files not downloaded yet are skipped. If the first rows are all rows, every requirement is checked; otherwise a
    required number of pairs is an error only if even the largest possible number of rows is too small.

    Args:
        task: the task; a generated one has no errors.
        requirements: what the study's settings need.

    Returns:
        Error messages.
    """
    if isinstance(task, GeneratedTask):
        return []
    errors, names, counts, style = [], [], {}, LabelStyle()
    for key, split in task.splits.items():
        try:
            subsets, counts[key] = _read_first_rows(task, key, split, names, style)
            names += subsets
        except DataError as error:
            errors.append(_format_error(key, error))
    if not errors and all(map(_is_complete, counts.values())):
        errors = _check_all_rows(task, requirements)
    elif not errors:
        errors = _check_pair_counts(task, counts, requirements.pairs)
        if all(_is_complete(counts[key]) for key, split in task.splits.items() if getattr(split, "split_by", None)):
            errors += describe_unknown_subsets(requirements.subsets, names)
    return list(dict.fromkeys(errors))


def _read_first_rows(
    task: FilesTask, key: str, split: Split, others: Collection[str], style: LabelStyle
) -> tuple[list[str], list[FileCounts]]:
    """Return the names of the subsets in a split's first rows, and the counts of its files.

    Raises:
        DataError: the rows do not fit the configuration.
    """
    if not isinstance(split, EvaluationSplit):
        return [], read_rows(task, split, get_training_labels(task, split), PREVIEW_ROWS, style)[1]
    name = key.removeprefix("task.evaluation.")
    labels, _ = get_evaluation_labels(task, name, split)
    rows, files = read_rows(task, split, labels, PREVIEW_ROWS, style)
    subset_groups = group_by_subset(name, split, labels, select_rows(rows, split, labels))
    subsets = [subset for subset, group, *_ in subset_groups if group is not None]
    for count, subset in enumerate(subsets):
        check_subset_name(name, subset, [*others, *subsets[:count]])
    return subsets or ([name] if split.split_by is None else []), files


def _check_all_rows(task: FilesTask, requirements: DataRequirements) -> list[str]:
    """Return errors of a task whose first rows are all its rows, and log its warnings."""
    try:
        pairs = read_task(task, PREVIEW_ROWS)
    except DataError as error:
        return [str(error)]
    for warning in pairs.warnings:
        LOGGER.warning("%s", warning)
    return list_unmet_requirements(pairs, requirements)


def _check_pair_counts(task: FilesTask, counts: Mapping[str, list[FileCounts]], needs: Mapping[str, int]) -> list[str]:
    """Return errors of settings that need more training pairs than the files can hold."""
    required = needs | ({f"task.train_pairs = {task.train_pairs}": task.train_pairs} if task.train_pairs else {})
    files = [(split, file) for index, split in enumerate(task.train) for file in counts[f"task.train.{index}"]]
    pairs = sum(file.used for _, file in files)
    for split, file in files:
        if not file.is_complete and pairs < max(required.values(), default=0):
            if (rows := count_max_rows(file.path, split.format)) is None:
                return []
            pairs += max(0, rows - file.rows)
    if not all(counts[f"task.train.{index}"] for index in range(len(task.train))):
        return []  # a file is not downloaded yet
    source = f"the most that {', '.join(split.source for split in task.train)} can have"
    return [format_shortage(setting, need, pairs, source) for setting, need in required.items() if need > pairs]


def _is_complete(files: Sequence[FileCounts]) -> bool:
    """Return whether the files of a split exist and were read to their end."""
    return bool(files) and all(file.is_complete for file in files)


def _format_error(key: str, error: DataError) -> str:
    return str(error) if str(error).startswith("task.") else f"{key}: {error}"


def count_max_rows(path: Path, format: Format | None = None) -> int | None:
    """Count the rows of a Parquet file, or the lines of a text file.

    Args:
        path: The file.
        format: Its format; None to derive it from the name.

    Returns:
        Number of rows or an upper bound of it; None for a folder or a compressed file.
    """
    if path.is_dir() or path.suffix == ".gz":
        return None
    if format == "parquet" or (format is None and path.suffix == ".parquet"):
        import pyarrow.parquet as pq

        return pq.ParquetFile(path).metadata.num_rows
    lines, last = 1, b""
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            # A line ends with \n, \r or \r\n.
            lines += chunk.count(b"\n") + chunk.count(b"\r") - (last + chunk).count(b"\r\n")
            last = chunk[-1:]
    return lines
