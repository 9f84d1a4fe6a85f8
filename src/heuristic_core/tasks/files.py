"""A task whose pairs are in files: its training pairs, and the subsets that its evaluation pairs form."""

import logging
from collections import Counter
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from heuristic_core.common.errors import counted
from heuristic_core.config.tasks import EvaluationSplit, FilesTask, Split
from heuristic_core.tasks.codes import LabelUse, label_doubts
from heuristic_core.tasks.pairs import (
    LISTED,
    UNASKED,
    Account,
    Sentences,
    SubsetRule,
    lost_text,
    pair_key,
    reasons_text,
)
from heuristic_core.tasks.readers import DataError
from heuristic_core.tasks.rows import Row, left_out_warnings, read_rows

LOGGER = logging.getLogger(__name__)
MOST_SUBSETS = 500  # of all evaluation sets; figures of more take minutes each, and their labels cannot be read


def read_task(task: FilesTask, most: int | None = None) -> Sentences:
    """Read all files of a task. Rows that cannot be used are left out and counted.

    most: as of :func:`~heuristic_core.tasks.rows.read_rows`.
    """
    use = LabelUse()
    train, training, warnings = _training_rows(task, most, use)
    accounts, evaluation, rules = [training], [], []
    for position, (name, spec) in enumerate(task.evaluation.items()):
        rng = np.random.default_rng([task.seed, 1, position])
        subsets, more = _evaluation_subsets(task, name, spec, most, use)
        for rule, account, rows in subsets:
            if rule is not None:
                check_name(name, rule.name, {one.name for one in rules})
                rules.append(rule)
            sample = _sample(rows, spec.pairs, rng)
            account.used, account.reasons["not_drawn"] = len(sample), len(rows) - len(sample)
            evaluation += sample
            accounts.append(account)
        warnings += more
    shared = Counter()
    if task.drop_overlap:
        train, shared = _without(train, evaluation)
        training.reasons["overlapping"] = shared.total()
    order = np.random.default_rng([task.seed, 0]).permutation(len(train))[: task.train_pairs]
    if task.train_pairs and 0 < len(order) < task.train_pairs:
        raise DataError(
            f"task.train_pairs = {task.train_pairs}, but the training files hold {counted(len(train), 'labelled pair')}"
            f"{_left_out_of(training)}; give at most {len(train)}"
        )
    training.used, training.reasons["not_drawn"] = len(order), len(train) - len(order)
    train = [train[i] for i in order]
    _check_classes(task, train, training, shared)
    found = {row["label"] for row in train}
    lacking = [label for index, label in enumerate(task.labels) if index not in found]
    warnings += [f"task.train: no pair has the label {label!r}" for label in lacking]
    return Sentences(tuple(task.labels), train, evaluation, tuple(rules), tuple(accounts), tuple(warnings))


# ---- training pairs


def _training_rows(task: FilesTask, most: int | None, use: LabelUse) -> tuple[list[dict], Account, list[str]]:
    """The pairs, what became of the rows of all files together, and warnings."""
    kept, counts, warnings = [], [], []
    for index, spec in enumerate(task.train):
        names = training_labels(task, spec)
        to_class = [task.labels.index(name) for name in names]
        rows, files = read_rows(task, spec, names, most, use)
        kept += [
            _row("train", None, None, row.template, *row.sentences, to_class[row.label]) for row in rows if row.used
        ]
        counts += files
        warnings += left_out_warnings(f"task.train.{index}", files)
    source = ", ".join(dict.fromkeys(spec.source for spec in task.train))
    reasons = {reason: sum(getattr(one, reason) for one in counts) for reason in (*UNASKED, "not_chosen")}
    return kept, Account("train", "train", None, source, sum(one.rows for one in counts), len(kept), reasons), warnings


def training_labels(task: FilesTask, spec: Split) -> list[str]:
    """The names behind 0, 1, ... of a training file. Raises DataError where one is no class of the task."""
    names = spec.labels or task.labels
    if unknown := set(names) - set(task.labels):
        raise DataError(f"{spec.file}: labels {sorted(unknown)} are not among task.labels = {task.labels}")
    return names


def _without(train: list[dict], evaluation: list[dict]) -> tuple[list[dict], Counter]:
    """Training pairs that are in no evaluation set; how many of the others are in which sets first."""
    subset_of = {pair_key(row): row["subset"] for row in reversed(evaluation)}
    subsets = [subset_of.get(pair_key(row)) for row in train]
    left = [row for row, subset in zip(train, subsets, strict=True) if subset is None]
    return left, Counter(subset for subset in subsets if subset is not None)


def _check_classes(task: FilesTask, train: list[dict], account: Account, shared: Counter) -> None:
    """Raise DataError where training pairs are not of two classes at least, with the likeliest cause.

    shared: how many pairs were left out because they are in which subsets.
    """
    labels = [task.labels[label] for label in sorted({row["label"] for row in train})]
    if len(labels) > 1:
        return
    if shared and not account.reasons["not_drawn"]:
        where = ", ".join(f"{count:,} in {subset!r}" for subset, count in shared.most_common(LISTED))
        which = f"{shared.total():,} of {shared.total() + len(train):,}" if train else f"all {shared.total():,}"
        rest = f"the others all have the label {labels[0]!r}" if train else "none is left to train on"
        raise DataError(
            f"task.drop_overlap: {which} training pairs are in an evaluation set, too ({where}), and {rest}; train "
            "and evaluate on different pairs, or set drop_overlap = false"
        )
    raise DataError(
        f"task.train: {counted(len(train), 'labelled pair')}{_left_out_of(account)}, with the labels {labels}; a "
        f"classifier needs two at least. Is task.labels = {task.labels} in the files' order?"
    )


# ---- evaluation pairs


def _evaluation_subsets(
    task: FilesTask, name: str, spec: EvaluationSplit, most: int | None, use: LabelUse
) -> tuple[list[tuple[SubsetRule | None, Account, list[dict]]], list[str]]:
    """Each subset of one split with its account and its pairs, in the order of their names, and warnings.

    Without a rule are subsets of which no row can be used and, at the end, rows that belong to no subset.
    """
    labels, merge = evaluation_labels(task, name, spec)
    rows, files = read_rows(task, spec, labels, most, use)
    read = wanted(rows, spec, labels)
    warnings = [*left_out_warnings(f"task.evaluation.{name}", files), *_check_labels(name, spec, labels, rows, read)]
    warnings += label_doubts(f"task.evaluation.{name}", spec, task.labels, [row.label for row in rows], use)
    beside = {"other_label": len(rows) - len(read)}
    beside |= {reason: sum(getattr(one, reason) for one in files) for reason in ("torn", "not_chosen")}
    rest: list[Row] = []
    found = []
    for subset, group, family, of_subset in by_subset(name, spec, labels, read):
        if subset is None:
            rest = of_subset
            continue
        kept = [_row(subset, group, family, row.template, *row.sentences, row.label) for row in of_subset if row.used]
        rule = SubsetRule(subset, group, family, merge) if group else None
        more = {} if spec.split_by else beside
        found.append((rule, _of_rows(name, subset, group, spec.source, of_subset, more), kept))
    if spec.split_by and (left := _of_rows(name, None, None, spec.source, rest, beside)).rows:
        found.append((None, left, []))
    if lost := [account for rule, account, _ in found if rule is None and account.subset is not None]:
        warnings.append(f"task.evaluation.{name}: {spec.source}: {lost_text(lost)}")
    return found, warnings


def evaluation_labels(task: FilesTask, name: str, spec: EvaluationSplit) -> tuple[list[str], tuple[int, ...]]:
    """The names behind 0, 1, ... of an evaluation file, and for each class of the task the label it counts as.

    Raises DataError where `merge` or `only_label` do not fit them.
    """
    labels = spec.labels or task.labels
    merge = _merge(task, name, spec, labels)
    if spec.only_label not in (None, *labels):
        raise DataError(
            f"task.evaluation.{name}.only_label = {spec.only_label!r} is not one of the labels {list(labels)}"
        )
    return labels, merge


def wanted(rows: Sequence[Row], spec: EvaluationSplit, labels: Sequence[str]) -> list[Row]:
    """The rows that an evaluation set is made of: without a label, or with one that it asks for."""
    return [row for row in rows if spec.only_label is None or row.label is None or labels[row.label] == spec.only_label]


def by_subset(
    name: str, spec: EvaluationSplit, labels: Sequence[str], rows: Sequence[Row]
) -> Iterator[tuple[str | None, str | None, str | None, list[Row]]]:
    """(name, group, family, rows) of each subset of `rows`. Without a group: no row can be used; without a name, too:
    unlabelled rows that belong to no subset.

    Raises DataError where a subset has pairs of several groups or families.
    """
    found: dict[str | None, list[Row]] = {}
    for row in rows:
        found.setdefault(row.subset if spec.split_by else name, []).append(row)
    for value, of_value in sorted(found.items(), key=lambda item: item[0] or ""):
        groups = {(_group(name, spec, labels[row.label]), row.family) for row in of_value if row.used}
        if len(groups) > 1:
            which = f"{spec.split_by!r} = {value!r}" if spec.split_by else "the file"
            raise DataError(
                f"task.evaluation.{name}: {spec.file}: {which} has pairs of several groups or families; name a column "
                "`split_by` whose values keep them apart, or choose one label by `only_label`"
            )
        (group, family), *_ = [*groups, (None, None)]
        yield value and (spec.prefix or "") + value.replace("/", "-"), group, family, of_value


def check_name(name: str, subset: str, others: Collection[str]) -> None:
    """Raise DataError where a subset of the set `name` is called as one of `others` is, or there are too many."""
    if len(others) >= MOST_SUBSETS:
        raise DataError(
            f"task.evaluation.{name}: with its subset {subset!r} there are more than {MOST_SUBSETS} subsets, each "
            "with a column in tables and a line in figures; `split_by` needs a column of kinds of pairs, not of "
            "identifiers"
        )
    if subset in others:
        raise DataError(
            f"task.evaluation.{name}: its subset {subset!r} has the name of a subset above; "
            "give every subset a name of its own, by `prefix` where `split_by` makes the names"
        )


def _check_labels(
    name: str, spec: EvaluationSplit, labels: Sequence[str], rows: Sequence[Row], read: Sequence[Row]
) -> list[str]:
    """Warnings of labels without a pair.

    Raises DataError where no row of `read`, those asked for among `rows`, can be used.
    """
    there = {labels[row.label] for row in rows if row.label is not None}
    if there and spec.only_label not in (None, *there):
        raise DataError(
            f"task.evaluation.{name}.only_label = {spec.only_label!r}: none of {counted(len(rows), 'row')} of "
            f"{spec.file} has this label; their labels are {[label for label in labels if label in there]}"
        )
    found = {labels[row.label] for row in read if row.used}
    if not found:
        raise DataError(
            f"task.evaluation.{name}: none of {counted(len(read), 'row')} of {spec.file} has a label and two sentences"
        )
    asked = [spec.only_label] if spec.only_label else labels
    return [
        f"task.evaluation.{name}: no pair of {spec.file} has the label {label!r}"
        for label in asked
        if label not in found
    ]


def _group(name: str, spec: EvaluationSplit, label: str) -> str:
    if spec.group:
        return spec.group
    if label not in spec.group_by_label:
        raise DataError(f"task.evaluation.{name}.group_by_label has no group for label {label!r} of {spec.file}")
    return spec.group_by_label[label]


def _merge(task: FilesTask, name: str, spec: EvaluationSplit, labels: Sequence[str]) -> tuple[int, ...]:
    """For each class of the task, the index of the file's label it counts as."""
    rule = spec.merge or {label: label for label in task.labels}
    if set(rule) != set(task.labels) or not set(rule.values()) <= set(labels):
        found = f"found {spec.merge}" if spec.merge else "and there is none"
        raise DataError(
            f"task.evaluation.{name}: merge must map each of {task.labels} to one of {list(labels)}, {found}; "
            "give `merge` where a file has other labels than the task"
        )
    return tuple(list(labels).index(rule[label]) for label in task.labels)


def _of_rows(
    name: str, subset: str | None, group: str | None, source: str, rows: Sequence[Row], beside: dict[str, int]
) -> Account:
    """The account of `rows`, and of those that are left out `beside` them."""
    unlabelled = sum(row.label is None for row in rows)
    used = sum(row.used for row in rows)
    reasons = {"unlabelled": unlabelled, "empty": len(rows) - unlabelled - used} | beside
    return Account(name, subset, group, source, len(rows) + sum(beside.values()), used, reasons)


def _left_out_of(account: Account) -> str:
    """Where the rows of training went, for a message that they are too few."""
    reasons = reasons_text(account.reasons)
    return f" ({counted(account.rows, 'row')}, of which are left out: {reasons})" if reasons else ""


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
