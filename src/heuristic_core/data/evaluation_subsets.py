"""Read the evaluation sets of a task from files, divided into subsets."""

from collections.abc import Collection, Iterator, Sequence

from heuristic_core.common.errors import format_count
from heuristic_core.config.splits import EvaluationSplit
from heuristic_core.config.tasks import FilesTask
from heuristic_core.data.labels import LabelStyle, list_label_warnings
from heuristic_core.data.pairs import RowCounts, SubsetRule, format_lost_subsets, make_row
from heuristic_core.data.readers import DataError
from heuristic_core.data.rows import Row, list_dropped_row_warnings, read_rows

MAX_SUBSETS = 500  # of all evaluation sets; figures of more take minutes and have illegible labels


def read_evaluation_subsets(
    task: FilesTask, name: str, spec: EvaluationSplit, max_rows: int | None, style: LabelStyle
) -> tuple[list[tuple[SubsetRule | None, RowCounts, list[dict]]], list[str]]:
    """Read one evaluation set and divide its pairs into subsets.

    Args:
        task: The task.
        name: Key of the set in `task.evaluation`.
        spec: Configuration of the set.
        max_rows: See :func:`~heuristic_core.data.rows.read_rows`.
        style: How other files give the task's labels; updated by this set's files.

    Returns:
        The rule, the counts of rows and the pairs of each subset, sorted by name, and warnings. The rule is None where
        no row can be used. The last counts can be those of the rows without a subset.

    Raises:
        DataError: If a file cannot be read, or does not fit the configuration.
    """
    labels, merge = get_evaluation_labels(task, name, spec)
    rows, files = read_rows(task, spec, labels, max_rows, style)
    selected = select_rows(rows, spec, labels)
    warnings = list_dropped_row_warnings(f"task.evaluation.{name}", files)
    warnings += _check_labels(name, spec, labels, rows, selected)
    warnings += list_label_warnings(f"task.evaluation.{name}", spec, task.labels, [row.label for row in rows], style)
    dropped = {"other_label": len(rows) - len(selected)}
    dropped |= {reason: sum(getattr(count, reason) for count in files) for reason in ("torn", "not_chosen")}
    subsetless_rows: list[Row] = []
    subsets = []
    for subset, group, family, subset_rows in group_by_subset(name, spec, labels, selected):
        if subset is None:
            subsetless_rows = subset_rows
            continue
        pairs = [
            make_row(subset, group, family, row.template, row.sentences, row.label, row.target)
            for row in subset_rows
            if row.used
        ]
        rule = SubsetRule(subset, group, family, merge) if group else None
        more_dropped = {} if spec.split_by else dropped
        subsets.append((rule, _count_rows(name, subset, group, spec.source, subset_rows, more_dropped), pairs))
    if spec.split_by and (account := _count_rows(name, None, None, spec.source, subsetless_rows, dropped)).rows:
        subsets.append((None, account, []))
    if lost_accounts := [account for rule, account, _ in subsets if rule is None and account.subset is not None]:
        warnings.append(f"task.evaluation.{name}: {spec.source}: {format_lost_subsets(lost_accounts)}")
    return subsets, warnings


def get_evaluation_labels(task: FilesTask, name: str, spec: EvaluationSplit) -> tuple[list[str], tuple[int, ...]]:
    """Return the names of an evaluation file's labels, and which of them each class of the task counts as.

    Args:
        task: The task, for the names of its classes.
        name: Key of the set in `task.evaluation`, for messages.
        spec: Configuration of the set.

    Returns:
        The names of labels 0, 1, ... of the file, and for each class of the task an index into them.

    Raises:
        DataError: If `merge` or `only_label` do not match the labels.
    """
    labels = spec.labels or task.labels
    merge = _get_merge(task, name, spec, labels)
    if spec.only_label not in (None, *labels):
        raise DataError(
            f"task.evaluation.{name}.only_label = {spec.only_label!r} is not one of the labels {list(labels)}"
        )
    return labels, merge


def select_rows(rows: Sequence[Row], spec: EvaluationSplit, labels: Sequence[str]) -> list[Row]:
    """Select the rows that belong to an evaluation set.

    Args:
        rows: Rows of the set's files.
        spec: Configuration of the set.
        labels: Names of labels 0, 1, ... of the files.

    Returns:
        All rows; with `only_label` the rows that have this label or no label.
    """
    return [row for row in rows if spec.only_label is None or row.label is None or labels[row.label] == spec.only_label]


def group_by_subset(
    name: str, spec: EvaluationSplit, labels: Sequence[str], rows: Sequence[Row]
) -> Iterator[tuple[str | None, str | None, str | None, list[Row]]]:
    """Divide the rows of an evaluation set into subsets.

    Args:
        name: Key of the set in `task.evaluation`, which names its subset if it has no `split_by`.
        spec: Configuration of the set.
        labels: Names of labels 0, 1, ... of its files.
        rows: Rows of the set, see :func:`select_rows`.

    Yields:
        Name, group, family and rows of each subset, sorted by name. The group is None if no row can be used; the name
        is None for unlabelled rows without a subset.

    Raises:
        DataError: If a subset has pairs of several groups or families.
    """
    subset_rows: dict[str | None, list[Row]] = {}
    for row in rows:
        subset_rows.setdefault(row.subset if spec.split_by else name, []).append(row)
    for value, value_rows in sorted(subset_rows.items(), key=lambda item: item[0] or ""):
        groups = {(_get_group(name, spec, labels[row.label]), row.family) for row in value_rows if row.used}
        if len(groups) > 1:
            description = f"{spec.split_by!r} = {value!r}" if spec.split_by else "the file"
            raise DataError(
                f"task.evaluation.{name}: {spec.file}: {description} has pairs of several groups or families; name a "
                "column `split_by` whose values keep them apart, or choose one label by `only_label`"
            )
        (group, family), *_ = [*groups, (None, None)]
        yield value and (spec.prefix or "") + value.replace("/", "-"), group, family, value_rows


def check_subset_name(name: str, subset: str, others: Collection[str]) -> None:
    """Check the name of a subset, and the number of subsets.

    Args:
        name: Key of the set in `task.evaluation`, for messages.
        subset: Name of the subset.
        others: Names of the subsets before it, of this and of other evaluation sets.

    Raises:
        DataError: If another subset has this name, or if there are already `MAX_SUBSETS`.
    """
    if len(others) >= MAX_SUBSETS:
        raise DataError(
            f"task.evaluation.{name}: its subset {subset!r} exceeds the limit of {MAX_SUBSETS} subsets, because each "
            "has a column in tables and a line in figures; `split_by` needs a column of kinds of pairs, not of "
            "identifiers"
        )
    if subset in others:
        raise DataError(
            f"task.evaluation.{name}: its subset {subset!r} has the name of an earlier subset; "
            "give every subset a unique name, by `prefix` where `split_by` makes the names"
        )


def _check_labels(
    name: str, spec: EvaluationSplit, labels: Sequence[str], rows: Sequence[Row], selected: Sequence[Row]
) -> list[str]:
    """Return warnings about labels without a pair.

    Raises:
        DataError: If no row has `only_label`, or no row of `selected` (from `rows`) can be used.
    """
    present = {labels[row.label] for row in rows if row.label is not None}
    if present and spec.only_label not in (None, *present):
        raise DataError(
            f"task.evaluation.{name}.only_label = {spec.only_label!r}: none of {format_count(len(rows), 'row')} of "
            f"{spec.file} has this label; their labels are {[label for label in labels if label in present]}"
        )
    usable = {labels[row.label] for row in selected if row.used}
    if not usable:
        raise DataError(
            f"task.evaluation.{name}: none of {format_count(len(selected), 'row')} of {spec.file} has a label and "
            "two sentences"
        )
    required = [spec.only_label] if spec.only_label else labels
    return [
        f"task.evaluation.{name}: no pair of {spec.file} has the label {label!r}"
        for label in required
        if label not in usable
    ]


def _get_group(name: str, spec: EvaluationSplit, label: str) -> str:
    if spec.group:
        return spec.group
    if label not in spec.group_by_label:
        raise DataError(f"task.evaluation.{name}.group_by_label has no group for label {label!r} of {spec.file}")
    return spec.group_by_label[label]


def _get_merge(task: FilesTask, name: str, spec: EvaluationSplit, labels: Sequence[str]) -> tuple[int, ...]:
    """Return for each class of the task the index of the file's label it counts as."""
    rule = spec.merge or {label: label for label in task.labels}
    if set(rule) != set(task.labels) or not set(rule.values()) <= set(labels):
        reason = f"found {spec.merge}" if spec.merge else "and there is none"
        raise DataError(
            f"task.evaluation.{name}: merge must map each of {task.labels} to one of {list(labels)}, {reason}; "
            "set `merge` where a file has other labels than the task"
        )
    return tuple(list(labels).index(rule[label]) for label in task.labels)


def _count_rows(
    name: str, subset: str | None, group: str | None, source: str, rows: Sequence[Row], dropped: dict[str, int]
) -> RowCounts:
    """Count `rows` and the rows `dropped` besides them, by reason."""
    used = sum(row.used for row in rows)
    reasons = {"unlabelled": len(rows) - used} | dropped
    return RowCounts(name, subset, group, source, len(rows) + sum(dropped.values()), used, reasons)
