"""Read a task's training pairs and evaluation subsets from files."""

import logging
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from heuristic_core.common.errors import format_count
from heuristic_core.config.tasks import EvaluationSplit, FilesTask, Split
from heuristic_core.data.labels import LabelStyle, list_label_warnings
from heuristic_core.data.pairs import (
    MAX_LISTED_SUBSETS,
    UNREQUESTED_REASONS,
    RowCounts,
    Sentences,
    SubsetRule,
    format_lost_subsets,
    format_reasons,
    make_pair_key,
)
from heuristic_core.data.readers import DataError
from heuristic_core.data.rows import Row, list_dropped_row_warnings, read_rows

LOGGER = logging.getLogger(__name__)
MAX_SUBSETS = 500  # of all evaluation sets; figures of more take minutes and have illegible labels


def read_task(task: FilesTask, max_rows: int | None = None) -> Sentences:
    """Read all files of a task; drop and count rows that cannot be used. Raises DataError if too few are left.

    Args:
        task: the task.
        max_rows: see :func:`~heuristic_core.data.rows.read_rows`.

    Raises:
        DataError: a file or the task's settings for it are wrong, or too few training pairs are left.
    """
    style = LabelStyle()
    train, training, warnings = _read_training(task, max_rows, style)
    accounts, evaluation, rules = [training], [], []
    for position, (name, spec) in enumerate(task.evaluation.items()):
        rng = np.random.default_rng([task.seed, 1, position])
        subsets, set_warnings = _read_evaluation_subsets(task, name, spec, max_rows, style)
        for rule, account, rows in subsets:
            if rule is not None:
                check_subset_name(name, rule.name, {other.name for other in rules})
                rules.append(rule)
            sample = _sample(rows, spec.pairs, rng)
            account.used, account.reasons["not_drawn"] = len(sample), len(rows) - len(sample)
            evaluation += sample
            accounts.append(account)
        warnings += set_warnings
    overlap = Counter()
    if task.drop_overlap:
        train, overlap = _drop_overlap(train, evaluation)
        training.reasons["overlapping"] = overlap.total()
    order = np.random.default_rng([task.seed, 0]).permutation(len(train))[: task.train_pairs]
    if task.train_pairs and 0 < len(order) < task.train_pairs:
        raise DataError(
            f"task.train_pairs = {task.train_pairs}, but the training files hold "
            f"{format_count(len(train), 'labelled pair')}{_describe_dropped_rows(training)}; set at most {len(train)}"
        )
    training.used, training.reasons["not_drawn"] = len(order), len(train) - len(order)
    train = [train[i] for i in order]
    _check_classes(task, train, training, overlap)
    present = {row["label"] for row in train}
    missing = [label for index, label in enumerate(task.labels) if index not in present]
    warnings += [f"task.train: no pair has the label {label!r}" for label in missing]
    return Sentences(tuple(task.labels), train, evaluation, tuple(rules), tuple(accounts), tuple(warnings))


# ---- training pairs


def _read_training(task: FilesTask, max_rows: int | None, style: LabelStyle) -> tuple[list[dict], RowCounts, list[str]]:
    """Return the training pairs, the counts of the rows of all files together, and warnings."""
    pairs, counts, warnings = [], [], []
    for index, spec in enumerate(task.train):
        names = get_training_labels(task, spec)
        to_class = [task.labels.index(name) for name in names]
        rows, files = read_rows(task, spec, names, max_rows, style)
        usable = [row for row in rows if row.used]
        pairs += [_make_row("train", None, None, row.template, *row.sentences, to_class[row.label]) for row in usable]
        counts += files
        warnings += list_dropped_row_warnings(f"task.train.{index}", files)
    source = ", ".join(dict.fromkeys(spec.source for spec in task.train))
    dropping = *UNREQUESTED_REASONS, "not_chosen"
    reasons = {reason: sum(getattr(count, reason) for count in counts) for reason in dropping}
    account = RowCounts("train", "train", None, source, sum(count.rows for count in counts), len(pairs), reasons)
    return pairs, account, warnings


def get_training_labels(task: FilesTask, spec: Split) -> list[str]:
    """Return the names of a training file's labels 0, 1, ...; raise DataError if one is not a class of the task."""
    names = spec.labels or task.labels
    if unknown := set(names) - set(task.labels):
        raise DataError(f"{spec.file}: labels {sorted(unknown)} are not among task.labels = {task.labels}")
    return names


def _drop_overlap(train: list[dict], evaluation: list[dict]) -> tuple[list[dict], Counter]:
    """Drop training pairs that are in an evaluation set; count these by the first subset they are in."""
    subset_by_key = {make_pair_key(row): row["subset"] for row in reversed(evaluation)}
    subsets = [subset_by_key.get(make_pair_key(row)) for row in train]
    kept = [row for row, subset in zip(train, subsets, strict=True) if subset is None]
    return kept, Counter(subset for subset in subsets if subset is not None)


def _check_classes(task: FilesTask, train: list[dict], account: RowCounts, overlap: Counter) -> None:
    """Raise DataError if the training pairs have fewer than two classes; `overlap` counts pairs dropped, by subset."""
    labels = [task.labels[label] for label in sorted({row["label"] for row in train})]
    if len(labels) > 1:
        return
    if overlap and not account.reasons["not_drawn"]:
        places = ", ".join(f"{count:,} in {subset!r}" for subset, count in overlap.most_common(MAX_LISTED_SUBSETS))
        share = f"{overlap.total():,} of {overlap.total() + len(train):,}" if train else f"all {overlap.total():,}"
        consequence = f"the others all have the label {labels[0]!r}" if train else "none is left to train on"
        raise DataError(
            f"task.drop_overlap: {share} training pairs are also in an evaluation set ({places}), and "
            f"{consequence}; train and evaluate on different pairs, or set drop_overlap = false"
        )
    raise DataError(
        f"task.train: {format_count(len(train), 'labelled pair')}{_describe_dropped_rows(account)}, with the labels "
        f"{labels}; a classifier needs at least two. Is task.labels = {task.labels} in the files' order?"
    )


# ---- evaluation pairs


def _read_evaluation_subsets(
    task: FilesTask, name: str, spec: EvaluationSplit, max_rows: int | None, style: LabelStyle
) -> tuple[list[tuple[SubsetRule | None, RowCounts, list[dict]]], list[str]]:
    """Read (rule, account, pairs) of each subset, sorted by name, and warnings; rule is None without a usable row."""
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
            _make_row(subset, group, family, row.template, *row.sentences, row.label) for row in subset_rows if row.used
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
    """Return the names of an evaluation file's labels, and for each class of the task the label it counts as.

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
    """Select the rows of an evaluation set: all, or with `only_label` the rows with this label or none."""
    return [row for row in rows if spec.only_label is None or row.label is None or labels[row.label] == spec.only_label]


def group_by_subset(
    name: str, spec: EvaluationSplit, labels: Sequence[str], rows: Sequence[Row]
) -> Iterator[tuple[str | None, str | None, str | None, list[Row]]]:
    """Yield (name, group, family, rows) of each subset of an evaluation set, sorted by name.

    The group is None if no row can be used; the name is None for unlabelled rows without a subset.

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
    """Raise DataError if a subset of the set `name` has the name of one of `others`, or there are too many."""
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
    unlabelled = sum(row.label is None for row in rows)
    used = sum(row.used for row in rows)
    reasons = {"unlabelled": unlabelled, "empty": len(rows) - unlabelled - used} | dropped
    return RowCounts(name, subset, group, source, len(rows) + sum(dropped.values()), used, reasons)


def _describe_dropped_rows(account: RowCounts) -> str:
    """Describe the dropped training rows, for messages about too few pairs; empty if there are none."""
    reasons = format_reasons(account.reasons)
    return f" ({format_count(account.rows, 'row')}, of which are left out: {reasons})" if reasons else ""


def _make_row(subset, group, family, template, first, second, label) -> dict:
    return {
        "subset": subset, "group": group, "family": family, "template": template,
        "sentence1": first, "sentence2": second, "label": label,
    }  # fmt: skip


def _sample(rows: list[dict], count: int | None, rng: np.random.Generator) -> list[dict]:
    """Draw at most `count` rows without replacement, and keep their order."""
    if count is None or len(rows) <= count:
        return rows
    return [rows[i] for i in np.sort(rng.choice(len(rows), count, replace=False))]
