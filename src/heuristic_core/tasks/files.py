"""A task whose pairs are in files: its training pairs, and the subsets that its evaluation pairs form."""

import logging
from collections.abc import Collection, Iterator, Sequence

import numpy as np

from heuristic_core.config.tasks import EvaluationSplit, FilesTask, Split
from heuristic_core.tasks.pairs import Origin, Sentences, SubsetRule, pair_key
from heuristic_core.tasks.readers import DataError
from heuristic_core.tasks.rows import Row, read_rows

LOGGER = logging.getLogger(__name__)
MOST_SUBSETS = 500  # of all evaluation sets; figures of more take minutes each, and their labels cannot be read


def read_task(task: FilesTask) -> Sentences:
    """Read all files of a task. Rows without a label or with an empty sentence are dropped and counted."""
    train, origin = _training_rows(task)
    origins = {"train": origin}
    evaluation, rules = [], []
    for position, (name, spec) in enumerate(task.evaluation.items()):
        rng = np.random.default_rng([task.seed, 1, position])
        for rule, origin, rows in _evaluation_subsets(task, name, spec):
            check_name(name, rule.name, origins)
            evaluation += _sample(rows, spec.pairs, rng)
            rules.append(rule)
            origins[rule.name] = origin
    if task.drop_overlap:
        left = _without(train, evaluation)
        origins["train"] = origins["train"]._replace(overlapping=len(train) - len(left))
        train = left
    order = np.random.default_rng([task.seed, 0]).permutation(len(train))[: task.train_pairs]
    if task.train_pairs and len(order) < task.train_pairs:
        raise DataError(
            f"task.train_pairs = {task.train_pairs}, but the training files hold {len(train)} labelled pairs"
        )
    train = [train[i] for i in order]
    _check_classes(task, train)
    return Sentences(tuple(task.labels), train, evaluation, tuple(rules), origins)


# ---- training pairs


def _training_rows(task: FilesTask) -> tuple[list[dict], Origin]:
    kept, counts = [], []
    for spec in task.train:
        names = training_labels(task, spec)
        to_class = [task.labels.index(name) for name in names]
        rows, torn = read_rows(task, spec, names)
        kept += [
            _row("train", None, None, row.template, *row.sentences, to_class[row.label]) for row in rows if row.used
        ]
        counts.append(_origin(spec, rows, torn))
    source = ", ".join(dict.fromkeys(count.source for count in counts))
    return kept, Origin(source, *(sum(numbers) for numbers in list(zip(*counts, strict=True))[1:]))


def training_labels(task: FilesTask, spec: Split) -> list[str]:
    """The names behind 0, 1, ... of a training file. Raises DataError where one is no class of the task."""
    names = spec.labels or task.labels
    if unknown := set(names) - set(task.labels):
        raise DataError(f"{spec.file}: labels {sorted(unknown)} are not among task.labels = {task.labels}")
    return names


def _without(train: list[dict], evaluation: list[dict]) -> list[dict]:
    """Training pairs that are in no evaluation set."""
    evaluated = {pair_key(row) for row in evaluation}
    left = [row for row in train if pair_key(row) not in evaluated]
    LOGGER.info("left out %d of %d training pairs, which are in an evaluation set", len(train) - len(left), len(train))
    return left


def _check_classes(task: FilesTask, train: list[dict]) -> None:
    found = {row["label"] for row in train}
    if len(found) < 2:
        labels = [task.labels[label] for label in found]
        raise DataError(
            f"task.train: {len(train)} labelled pairs, with the labels {labels}; a classifier needs two at least. Is "
            f"task.labels = {task.labels} in the files' order?"
        )
    for label in sorted(set(range(len(task.labels))) - found):
        LOGGER.warning("task.train: no pair has the label %r", task.labels[label])


# ---- evaluation pairs


def _evaluation_subsets(
    task: FilesTask, name: str, spec: EvaluationSplit
) -> Iterator[tuple[SubsetRule, Origin, list[dict]]]:
    """Each subset of one split with its rows, in the order of their names."""
    labels, merge = evaluation_labels(task, name, spec)
    rows, torn = read_rows(task, spec, labels)
    read = wanted(rows, spec, labels)
    _check_labels(name, spec, labels, rows, read)
    for subset, group, family, of_subset in by_subset(name, spec, labels, read):
        kept = [_row(subset, group, family, row.template, *row.sentences, row.label) for row in of_subset if row.used]
        yield SubsetRule(subset, group, family, merge), _origin(spec, of_subset, torn), kept


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
) -> Iterator[tuple[str, str, str | None, list[Row]]]:
    """(name, group, family, rows) of each subset of `rows`; none where no row has a label.

    Raises DataError where a subset has pairs of several groups or families.
    """
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.subset or "" if spec.split_by else name, []).append(row)
    for value, of_value in sorted(found.items()):
        groups = {(_group(name, spec, labels[row.label]), row.family) for row in of_value if row.used}
        if len(groups) > 1:
            which = f"{spec.split_by!r} = {value!r}" if spec.split_by else "the file"
            raise DataError(
                f"task.evaluation.{name}: {spec.file}: {which} has pairs of several groups or families; name a column "
                "`split_by` whose values keep them apart, or choose one label by `only_label`"
            )
        for group, family in groups:
            yield (spec.prefix or "") + value.replace("/", "-"), group, family, of_value


def check_name(name: str, subset: str, others: Collection[str]) -> None:
    """Raise DataError where a subset of the set `name` is called as one of `others` is, or there are too many."""
    if len(others) > MOST_SUBSETS:
        raise DataError(
            f"task.evaluation.{name}: with its subset {subset!r} there are more than {MOST_SUBSETS} subsets, each "
            "with a column in tables and a line in figures; `split_by` needs a column of kinds of pairs, not of "
            "identifiers"
        )
    if subset in others:
        raise DataError(
            f"task.evaluation.{name}: its subset {subset!r} has the name of the training pairs or of a subset above; "
            "give every subset a name of its own, by `prefix` where `split_by` makes the names"
        )


def _check_labels(
    name: str, spec: EvaluationSplit, labels: Sequence[str], rows: Sequence[Row], read: Sequence[Row]
) -> None:
    """Raise DataError where no row of `read`, those asked for among `rows`, can be used; warn of labels without one."""
    there = {labels[row.label] for row in rows if row.label is not None}
    if there and spec.only_label not in (None, *there):
        raise DataError(
            f"task.evaluation.{name}.only_label = {spec.only_label!r}: none of {len(rows)} rows of {spec.file} has "
            f"this label; their labels are {[label for label in labels if label in there]}"
        )
    found = {labels[row.label] for row in read if row.used}
    if not found:
        raise DataError(
            f"task.evaluation.{name}: none of {len(read)} rows of {spec.file} has a label and two sentences"
        )
    for label in [spec.only_label] if spec.only_label else labels:
        if label not in found:
            LOGGER.warning("task.evaluation.%s: no pair of %s has the label %r", name, spec.file, label)


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


def _origin(spec: Split, rows: Sequence[Row], torn: int) -> Origin:
    unlabelled = sum(row.label is None for row in rows)
    used = sum(row.used for row in rows)
    return Origin(spec.source, len(rows), torn, unlabelled, len(rows) - unlabelled - used)


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
