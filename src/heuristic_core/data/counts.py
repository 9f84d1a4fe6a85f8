"""Count the used and dropped rows of a task, its duplicate pairs, and pairs shared with training."""

import logging
from collections.abc import Collection, Mapping, Sequence

from heuristic_core.common.errors import format_count
from heuristic_core.config.requirements import DataRequirements
from heuristic_core.config.tasks import describe_unknown_subsets
from heuristic_core.data.pairs import (
    MAX_LISTED_SUBSETS,
    REASONS,
    RowCounts,
    Sentences,
    format_reasons,
    make_pair_key,
    name_sets,
)

LOGGER = logging.getLogger(__name__)
OVERLAP_COLUMNS = ("in_training", "in_training_same_label", "in_training_swapped")


def count_rows(pairs: Sentences) -> list[dict]:
    """Return rows of table `splits` without its columns about tokens: training first, then the subsets in order."""
    classes: dict[tuple[str, ...], set[int]] = {}  # training pair -> its classes
    keys = [make_pair_key(row) for row in pairs.train]
    for key, row in zip(keys, pairs.train, strict=True):
        classes.setdefault(key, set()).add(row["label"])
    subset_pairs: dict[str, list[tuple[tuple[str, ...], int]]] = {rule.name: [] for rule in pairs.subsets}
    for row in pairs.evaluation:
        subset_pairs[row["subset"]].append((make_pair_key(row), row["label"]))
    merges = {rule.name: rule.merge for rule in pairs.subsets}
    counts = []
    for account in pairs.accounts:
        if account is pairs.accounts[0]:
            pair_counts = _count_duplicates(keys) | dict.fromkeys(OVERLAP_COLUMNS)
        elif account.group is None:
            pair_counts = dict.fromkeys(("duplicates", *OVERLAP_COLUMNS))
        else:
            rows, merge = subset_pairs[account.subset], merges[account.subset]
            pair_counts = _count_duplicates([key for key, _ in rows]) | _count_overlap(rows, classes, merge)
        counts.append(_make_row(account) | pair_counts)
    return counts


def log_counts(pairs: Sentences, counts: Sequence[Mapping]) -> None:
    """Log the counts, and the warnings about the files.

    Args:
        pairs: The pairs, whose warnings are logged.
        counts: Rows of :func:`count_rows`.
    """
    for name, row in zip(name_sets(counts), counts, strict=True):
        LOGGER.info("%s", _format_row(name, row))
    for warning in pairs.warnings:
        LOGGER.warning("%s", warning)


def list_unmet_requirements(pairs: Sentences, requirements: DataRequirements) -> list[str]:
    """Return a message for each requirement of a study's settings that its pairs do not meet.

    Args:
        pairs: Sentences and counts of the task's sets.
        requirements: What the settings require of them.
    """
    training, reasons = pairs.accounts[0], format_reasons(pairs.accounts[0].reasons)
    source = f"{training.source}: {format_count(training.rows, 'row')}"
    source += f", of which are left out: {reasons}" if reasons else ""
    available = len(pairs.train)
    shortages = [
        format_shortage(setting, need, available, source)
        for setting, need in requirements.pairs.items()
        if need > available
    ]
    missing = _missing_subsets(pairs, requirements.subsets) + _missing_groups(pairs, requirements.groups)
    return shortages + missing + _mixed_labels(pairs)


def format_shortage(setting: str, need: int, available: int, source: str) -> str:
    """Format the message that a setting needs more training pairs than available.

    Args:
        setting: the setting, with or without "= value".
        need: number of pairs that it needs.
        available: number of pairs.
        source: where the pairs come from.
    """
    requirement = setting if setting.endswith(f"= {need}") else f"{setting} needs {need:,}"
    shortage = f"there {'is' if available == 1 else 'are'} only {format_count(available, 'training pair')}"
    return f"{requirement}, but {shortage} ({source}); lower it, or train on more pairs"


def _missing_subsets(pairs: Sentences, requested_subsets: Mapping[str, Sequence[str]]) -> list[str]:
    unusable = {account.subset: account for account in _select_unusable(pairs)}
    messages = [
        f"{key}: subset {name!r} has no pair: none of its {format_count(unusable[name].rows, 'row')} of "
        f"{unusable[name].source} can be used: {format_reasons(unusable[name].reasons)}"
        for key, names in requested_subsets.items()
        for name in names
        if name in unusable
    ]
    return messages + describe_unknown_subsets(requested_subsets, [*(rule.name for rule in pairs.subsets), *unusable])


def _missing_groups(pairs: Sentences, groups: Collection[str]) -> list[str]:
    unusable = ", ".join(
        f"{account.subset!r} ({format_reasons(account.reasons)})"
        for account in _select_unusable(pairs)[:MAX_LISTED_SUBSETS]
    )
    return [
        f"task.evaluation: no pair is of the group {group!r}, but a study compares in-domain with out-of-domain pairs"
        + (f"; no row can be used of {unusable}" if unusable else "")
        for group in groups
        if group not in {rule.group for rule in pairs.subsets}
    ]


def _mixed_labels(pairs: Sentences) -> list[str]:
    """Return a message if J of a constant answer could be above 0.

    J compares subsets for which the shortcut is wrong with subsets of the same family for which it is right, so each
    needs a single label, and theirs must differ.
    """
    compared = {rule.name: rule for rule in pairs.subsets if rule.group in ("ood", "ood-entailment")}
    if len({rule.group for rule in compared.values()}) < 2:
        return []
    # A label by the classes that count as it: files may have labels of their own.
    labels: dict[str, set[frozenset[int]]] = {name: set() for name in compared}
    for row in pairs.evaluation:
        if rule := compared.get(row["subset"]):
            labels[rule.name].add(frozenset(k for k, label in enumerate(rule.merge) if label == row["label"]))
    by_side: dict[str | None, dict[str, set]] = {}
    for name, rule in compared.items():
        if len(labels[name]) > 1:
            return [
                f"task.evaluation: subset {name!r} has {len(labels[name])} labels and is of the group {rule.group!r}; "
                "J needs one label, for which the shortcut is wrong (ood) or right (ood-entailment): divide the subset "
                "by group_by_label or only_label, or leave out the group ood-entailment"
            ]
        by_side.setdefault(rule.family, {}).setdefault(rule.group, set()).update(labels[name])
    for family, sides in by_side.items():
        if sides.get("ood", set()) & sides.get("ood-entailment", set()):
            return [
                "task.evaluation: subsets of the groups 'ood' and 'ood-entailment'"
                f"{f' of family {family!r}' if family else ''} have the same label; if the shortcut is wrong for one "
                "label, it is right for another"
            ]
    return []


def _select_unusable(pairs: Sentences) -> list[RowCounts]:
    """Return the accounts of subsets without a usable row."""
    return [account for account in pairs.accounts[1:] if account.group is None and account.subset is not None]


def _count_duplicates(keys: Sequence[tuple[str, ...]]) -> dict:
    return {"duplicates": len(keys) - len(set(keys))}


def _count_overlap(rows: Sequence[tuple[tuple[str, ...], int]], classes: Mapping, merge: Sequence[int]) -> dict:
    """Count the pairs of a subset, (key, label) each, that are also in training."""
    shared = [(key, label) for key, label in rows if key in classes]
    same = sum(label in {merge[class_index] for class_index in classes[key]} for key, label in shared)
    swapped = sum(len(key) == 2 and key[::-1] in classes for key, _ in rows)
    return dict(zip(OVERLAP_COLUMNS, (len(shared), same, swapped), strict=True))


def _make_row(account: RowCounts) -> dict:
    row = {name: getattr(account, name) for name in ("set", "subset", "group", "source", "rows")}
    return row | {reason: account.reasons.get(reason, 0) for reason in REASONS} | {"used": account.used}


def _format_row(name: str, row: Mapping) -> str:
    """Format a row of the counts for the log; only the overlap with training is given when it is 0."""
    parts = [f"{format_count(row['rows'], 'row')}, {row['used']:,} used"]
    if reasons := format_reasons(row):
        parts.append(f"left out: {reasons}")
    if duplicates := row["duplicates"]:
        parts.append(f"{format_count(duplicates, 'duplicate')} used")
    if row["in_training"] is not None:
        shared, same, swapped = (row[key] for key in OVERLAP_COLUMNS)
        parts.append(f"{shared:,} also in training ({same:,} with the same label), {swapped:,} with swapped sentences")
    return f"{name} ({row['source']}): " + "; ".join(parts)
