"""A task whose pairs lie in local Parquet files."""

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from heuristic_core.config.tasks import EvaluationSplit, FilesTask, Split
from heuristic_core.errors import InputError
from heuristic_core.tasks.sentences import Sentences, SubsetRule

LOGGER = logging.getLogger("heuristic_core")


class DataError(InputError):
    """Data that do not fit their declaration. The message names file, column and value."""


def read_task(task: FilesTask) -> Sentences:
    """Read all files of a task. Rows without a label are dropped and counted in the log."""
    labels = tuple(task.labels)
    train = [row for spec in task.train for row in _training_rows(task, spec)]
    order = np.random.default_rng([task.seed, 0]).permutation(len(train))[: task.train_pairs]
    if task.train_pairs and len(order) < task.train_pairs:
        raise DataError(
            f"task.train_pairs = {task.train_pairs}, but the training files hold {len(train)} labelled pairs"
        )
    evaluation, rules = [], []
    for position, (name, spec) in enumerate(task.evaluation.items()):
        rng = np.random.default_rng([task.seed, 1, position])
        for rule, rows in _evaluation_subsets(task, name, spec):
            evaluation += _sample(rows, spec.pairs, rng)
            rules.append(rule)
    return Sentences(labels, [train[i] for i in order], evaluation, tuple(rules))


def _training_rows(task: FilesTask, spec: Split) -> list[dict]:
    names = spec.labels or task.labels
    if unknown := set(names) - set(task.labels):
        raise DataError(f"{spec.file}: labels {sorted(unknown)} are not among task.labels = {task.labels}")
    columns, codes = _read(task, spec, names)
    to_class = [task.labels.index(name) for name in names]
    first, second = (columns[c] for c in spec.sentences)
    return [_row("train", None, None, None, a, b, to_class[y]) for a, b, y in zip(first, second, codes, strict=True)]


def _evaluation_subsets(task: FilesTask, name: str, spec: EvaluationSplit):
    """Yield (SubsetRule, rows) for each subset of one file, in the order of their names."""
    labels = spec.labels or task.labels
    merge = _merge(task, name, spec, labels)
    columns, codes = _read(task, spec, labels)
    first, second = (columns[c] for c in spec.sentences)
    subsets = columns[spec.split_by] if spec.split_by else [_subset(name, spec, labels[y]) for y in codes]
    families = columns[spec.family_by] if spec.family_by else [None] * len(codes)
    templates = columns.get("template", [None] * len(codes))
    rows: dict[tuple, list[dict]] = {}
    for a, b, y, subset, family, template in zip(first, second, codes, subsets, families, templates, strict=True):
        group = spec.group or spec.group_by_label.get(labels[y])
        if group is None:
            raise DataError(
                f"task.evaluation.{name}.group_by_label has no group for label {labels[y]!r} of {spec.file}"
            )
        key = (str(subset).replace("/", "-"), group, family)
        rows.setdefault(key, []).append(_row(*key, template, a, b, y))
    if len({subset for subset, *_ in rows}) < len(rows):
        raise DataError(f"{spec.file}: a value of {spec.split_by!r} has pairs of several groups or families")
    for key in sorted(rows, key=str):
        yield SubsetRule(*key, merge), rows[key]


def _subset(name: str, spec: EvaluationSplit, label: str) -> str:
    """The subset of a pair of a file that no column splits: the file's one, or where its labels are of different groups
    that of its label."""
    return f"{name}_{label}" if len(set((spec.group_by_label or {}).values())) > 1 else name


def _merge(task: FilesTask, name: str, spec: EvaluationSplit, labels: Sequence[str]) -> tuple[int, ...]:
    """For each class of the task, the index of the file's label it counts as."""
    rule = spec.merge or {label: label for label in task.labels}
    if set(rule) != set(task.labels) or not set(rule.values()) <= set(labels):
        raise DataError(
            f"task.evaluation.{name}: merge must map each of {task.labels} to one of {list(labels)}, found {rule}; "
            "give `merge` where a file has other labels than the task"
        )
    return tuple(list(labels).index(rule[label]) for label in task.labels)


def _read(task: FilesTask, spec: Split, labels: Sequence[str]) -> tuple[dict[str, list], list[int]]:
    """Columns of the labelled rows, and their labels as indices into `labels`."""
    path = Path(task.folder) / spec.file
    if not path.is_file():
        raise DataError(f"{path}: no such file; task.folder = {task.folder!r} must hold {spec.file}")
    table = pq.read_table(path)
    wanted = [*spec.sentences, spec.label]
    wanted += [c for c in (getattr(spec, "split_by", None), getattr(spec, "family_by", None)) if c]
    if missing := [c for c in wanted if c not in table.column_names]:
        raise DataError(f"{path}: no column {missing[0]!r}; it has {', '.join(table.column_names)}")
    columns = {c: table[c].to_pylist() for c in dict.fromkeys([*wanted, "template"]) if c in table.column_names}
    codes = [_code(value, labels, path, spec.label) for value in columns[spec.label]]
    labelled = [i for i, code in enumerate(codes) if code is not None]
    if len(labelled) < len(codes):
        LOGGER.info("%s: dropped %d of %d rows, which have no label", path, len(codes) - len(labelled), len(codes))
    return {c: [v[i] for i in labelled] for c, v in columns.items()}, [codes[i] for i in labelled]


def _code(value, labels: Sequence[str], path: Path, column: str) -> int | None:
    """A label, given by name or by number, as an index into `labels`; None for GLUE's -1, "-" and nulls."""
    if value is None or value in (-1, "-"):
        return None
    if isinstance(value, str) and value in labels:
        return list(labels).index(value)
    if isinstance(value, int) and 0 <= value < len(labels):
        return value
    raise DataError(
        f"{path}: {column} = {value!r} is not one of {list(labels)}, nor their numbers 0 to {len(labels) - 1}"
    )


def _row(subset, group, family, template, first, second, label) -> dict:
    return {
        "subset": subset,
        "group": group,
        "family": family,
        "template": template,
        "sentence1": first,
        "sentence2": second,
        "label": label,
    }


def _sample(rows: list[dict], count: int | None, rng: np.random.Generator) -> list[dict]:
    """At most `count` rows, drawn without replacement and kept in their order."""
    if count is None or len(rows) <= count:
        return rows
    return [rows[i] for i in np.sort(rng.choice(len(rows), count, replace=False))]
