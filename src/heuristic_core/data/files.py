"""Read the pairs of a task from files, and count the rows that are dropped."""

from collections import Counter

import numpy as np

from heuristic_core.common.errors import format_count
from heuristic_core.config.splits import Split
from heuristic_core.config.tasks import FilesTask
from heuristic_core.data.evaluation_subsets import check_subset_name, read_evaluation_subsets
from heuristic_core.data.labels import LabelStyle
from heuristic_core.data.pairs import (
    MAX_LISTED_SUBSETS,
    UNREQUESTED_REASONS,
    RowCounts,
    Sentences,
    format_reasons,
    make_pair_key,
    make_row,
)
from heuristic_core.data.readers import DataError
from heuristic_core.data.rows import list_dropped_row_warnings, read_rows


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
        subsets, set_warnings = read_evaluation_subsets(task, name, spec, max_rows, style)
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
    training.used = len(order)
    training.reasons["not_drawn"] += len(train) - len(order)
    train = [train[i] for i in order]
    _check_classes(task, train, training, overlap)
    present = {row["label"] for row in train}
    missing = [label for index, label in enumerate(task.labels) if index not in present]
    warnings += [f"task.train: no pair has the label {label!r}" for label in missing]
    return Sentences(tuple(task.labels), train, evaluation, tuple(rules), tuple(accounts), tuple(warnings))


def _read_training(task: FilesTask, max_rows: int | None, style: LabelStyle) -> tuple[list[dict], RowCounts, list[str]]:
    """Return the training pairs, the counts of the rows of all files together, and warnings."""
    pairs, counts, warnings, not_drawn = [], [], [], 0
    for index, spec in enumerate(task.train):
        names = get_training_labels(task, spec)
        to_class = [task.labels.index(name) for name in names]
        rows, files = read_rows(task, spec, names, max_rows, style)
        usable = [row for row in rows if row.used]
        if all(file.is_complete for file in files) and len(usable) < (spec.pairs or 0):
            raise DataError(
                f"task.train.{index}.pairs = {spec.pairs}, but {spec.source} holds "
                f"{format_count(len(usable), 'usable pair')}; set at most {len(usable)}"
            )
        sample = _sample(usable, spec.pairs, np.random.default_rng([task.seed, 2, index]))
        not_drawn += len(usable) - len(sample)
        pairs += [
            make_row("train", None, None, row.template, row.sentences, to_class[row.label], row.target)
            for row in sample
        ]
        counts += files
        warnings += list_dropped_row_warnings(f"task.train.{index}", files)
    source = ", ".join(dict.fromkeys(spec.source for spec in task.train))
    dropping = *UNREQUESTED_REASONS, "not_chosen"
    reasons = {reason: sum(getattr(count, reason) for count in counts) for reason in dropping}
    reasons["not_drawn"] = not_drawn
    account = RowCounts("train", "train", None, source, sum(count.rows for count in counts), len(pairs), reasons)
    return pairs, account, warnings


def get_training_labels(task: FilesTask, spec: Split) -> list[str]:
    """Return the names of a training file's labels 0, 1, ...

    Args:
        task: The task, for the names of its classes.
        spec: Configuration of the training file.

    Returns:
        The file's own `labels`, or else the task's.

    Raises:
        DataError: If a label is not a class of the task.
    """
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


def _describe_dropped_rows(account: RowCounts) -> str:
    """Describe the dropped training rows, for messages about too few pairs; empty if there are none."""
    reasons = format_reasons(account.reasons)
    return f" ({format_count(account.rows, 'row')}, of which are left out: {reasons})" if reasons else ""


def _sample(rows: list[dict], count: int | None, rng: np.random.Generator) -> list[dict]:
    """Draw at most `count` rows without replacement, and keep their order."""
    if count is None or len(rows) <= count:
        return rows
    return [rows[i] for i in np.sort(rng.choice(len(rows), count, replace=False))]
