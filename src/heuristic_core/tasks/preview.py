"""What the configuration and the first rows of its files tell of a task before anything is read in full.

A fault that is found here is a fault of the whole files, too. Others may be further down in a file.
"""

from collections.abc import Collection, Mapping, Sequence

from heuristic_core.config.tasks import EvaluationSplit, FilesTask, GeneratedTask, Split, unknown_subsets
from heuristic_core.tasks.files import by_subset, check_name, evaluation_labels, training_labels, wanted
from heuristic_core.tasks.readers import DataError
from heuristic_core.tasks.rows import read_rows

ROWS = 10_000  # of each file, the first


def faults(task: GeneratedTask | FilesTask, asked: Mapping[str, Sequence[str]] | None = None) -> list[str]:
    """A message for each split that cannot be read as the configuration says; none for a generated task.

    Files that are still to be downloaded have none. asked: settings that name evaluation subsets -> the names; each
    setting with an unknown name has a message, too, if the first rows are all rows.
    """
    if isinstance(task, GeneratedTask):
        return []
    found, names, whole = [], ["train"], True
    for key, split in task.splits.items():
        try:
            subsets, all_read = _subsets(task, key, split, names)
            names += subsets
            whole &= all_read
        except DataError as fault:
            found.append(str(fault) if str(fault).startswith("task.") else f"{key}: {fault}")
    if whole and not found:
        found = unknown_subsets(asked or {}, names[1:])
    return list(dict.fromkeys(found))


def _subsets(task: FilesTask, key: str, split: Split, others: Collection[str]) -> tuple[list[str], bool]:
    """The names of a split's subsets, as far as its first rows tell, and whether there are no others.

    Raises DataError on a fault.
    """
    if not isinstance(split, EvaluationSplit):
        read_rows(task, split, training_labels(task, split), ROWS)
        return [], True
    name = key.removeprefix("task.evaluation.")
    labels, _ = evaluation_labels(task, name, split)
    rows, _ = read_rows(task, split, labels, ROWS)
    subsets = [subset for subset, *_ in by_subset(name, split, labels, wanted(rows, split, labels))]
    for count, subset in enumerate(subsets):
        check_name(name, subset, [*others, *subsets[:count]])
    if split.split_by is None:
        return [name], True
    return subsets, 0 < len(rows) < ROWS // 2  # readers may stop a little before ROWS
