"""What the configuration and the first rows of its files tell of a task before anything is read in full.

A fault that is found here is a fault of the whole files, too. Others may be further down in a file.
"""

import logging
from collections.abc import Collection, Mapping, Sequence

from heuristic_core.config.demands import NONE, Demands
from heuristic_core.config.tasks import EvaluationSplit, FilesTask, GeneratedTask, Split, unknown_subsets
from heuristic_core.tasks.codes import LabelUse
from heuristic_core.tasks.counts import exceeds, unmet
from heuristic_core.tasks.files import by_subset, check_name, evaluation_labels, read_task, training_labels, wanted
from heuristic_core.tasks.readers import DataError
from heuristic_core.tasks.rows import FileCount, read_rows
from heuristic_core.tasks.sizes import most_rows

LOGGER = logging.getLogger(__name__)
ROWS = 10_000  # of each file, the first


def faults(task: GeneratedTask | FilesTask, demands: Demands = NONE) -> list[str]:
    """A message for each split that cannot be read as the configuration says; none for a generated task.

    Files that are still to be downloaded have none. demands: of the study's settings. Each that is not met has one,
    too, if the first rows are all rows; one that needs more pairs, also if all rows there can be do not suffice.
    """
    if isinstance(task, GeneratedTask):
        return []
    found, names, counts, use = [], [], {}, LabelUse()
    for key, split in task.splits.items():
        try:
            subsets, counts[key] = _read(task, key, split, names, use)
            names += subsets
        except DataError as fault:
            found.append(_named(key, fault))
    if not found and all(map(_whole, counts.values())):
        found = _of_all(task, demands)
    elif not found:
        found = _of_first(task, counts, demands.pairs)
        if all(_whole(counts[key]) for key, split in task.splits.items() if getattr(split, "split_by", None)):
            found += unknown_subsets(demands.subsets, names)
    return list(dict.fromkeys(found))


def _read(
    task: FilesTask, key: str, split: Split, others: Collection[str], use: LabelUse
) -> tuple[list[str], list[FileCount]]:
    """The names of a split's subsets, as far as its first rows tell, and the counts of its files.

    Raises DataError on a fault.
    """
    if not isinstance(split, EvaluationSplit):
        return [], read_rows(task, split, training_labels(task, split), ROWS, use)[1]
    name = key.removeprefix("task.evaluation.")
    labels, _ = evaluation_labels(task, name, split)
    rows, files = read_rows(task, split, labels, ROWS, use)
    read = by_subset(name, split, labels, wanted(rows, split, labels))
    subsets = [subset for subset, group, *_ in read if group is not None]
    for count, subset in enumerate(subsets):
        check_name(name, subset, [*others, *subsets[:count]])
    return subsets or ([name] if split.split_by is None else []), files


def _of_all(task: FilesTask, demands: Demands) -> list[str]:
    """Faults of a task whose first rows are all rows, as the job of its sentences has them; its warnings are logged."""
    try:
        pairs = read_task(task, ROWS)
    except DataError as fault:
        return [str(fault)]
    for warning in pairs.warnings:
        LOGGER.warning("%s", warning)
    return unmet(pairs, demands)


def _of_first(task: FilesTask, counts: Mapping[str, list[FileCount]], needs: Mapping[str, int]) -> list[str]:
    """Settings that need more training pairs than there can be, if all rows beyond the first were usable."""
    wanted = needs | ({f"task.train_pairs = {task.train_pairs}": task.train_pairs} if task.train_pairs else {})
    files = [(split, file) for index, split in enumerate(task.train) for file in counts[f"task.train.{index}"]]
    pairs = sum(file.used for _, file in files)
    for split, file in files:
        if not file.whole and pairs < max(wanted.values(), default=0):
            if (rows := most_rows(file.path, split.format)) is None:
                return []
            pairs += max(0, rows - file.rows)
    if not all(counts[f"task.train.{index}"] for index in range(len(task.train))):
        return []  # a file is still to be downloaded
    of = f"the most that {', '.join(split.source for split in task.train)} can have"
    return [exceeds(setting, need, pairs, of) for setting, need in wanted.items() if need > pairs]


def _whole(files: Sequence[FileCount]) -> bool:
    """Whether the files of a split are there, and the rows read are all of them."""
    return bool(files) and all(file.whole for file in files)


def _named(key: str, fault: DataError) -> str:
    return str(fault) if str(fault).startswith("task.") else f"{key}: {fault}"
