"""What became of the rows that a task read, and how many pairs are in a set twice or in training, too."""

import logging
from collections.abc import Collection, Mapping, Sequence

from heuristic_core.common.errors import counted
from heuristic_core.config.demands import Demands
from heuristic_core.config.tasks import unknown_subsets
from heuristic_core.tasks.pairs import LISTED, REASONS, Account, Sentences, pair_key, reasons_text, set_names

LOGGER = logging.getLogger(__name__)
OVERLAP = ("in_training", "in_training_same_label", "in_training_swapped")


def row_counts(pairs: Sentences) -> list[dict]:
    """Rows of table `splits` without the columns of tokens: training first, then the subsets in their order."""
    classes: dict[tuple[str, str], set[int]] = {}  # a training pair -> the classes that it has there
    keys = [pair_key(row) for row in pairs.train]
    for key, row in zip(keys, pairs.train, strict=True):
        classes.setdefault(key, set()).add(row["label"])
    by_subset: dict[str, list[tuple[tuple[str, str], int]]] = {rule.name: [] for rule in pairs.subsets}
    for row in pairs.evaluation:
        by_subset[row["subset"]].append((pair_key(row), row["label"]))
    merges = {rule.name: rule.merge for rule in pairs.subsets}
    counts = []
    for account in pairs.accounts:
        if account is pairs.accounts[0]:
            more = _duplicates(keys) | dict.fromkeys(OVERLAP)
        elif account.group is None:
            more = dict.fromkeys(("duplicates", *OVERLAP))
        else:
            rows, merge = by_subset[account.subset], merges[account.subset]
            more = _duplicates([key for key, _ in rows]) | _overlap(rows, classes, merge)
        counts.append(_row(account) | more)
    return counts


def log_counts(pairs: Sentences, counts: Sequence[Mapping]) -> None:
    """Write the counts into the log, and what a person should know of the files as warnings."""
    for name, row in zip(set_names(counts), counts, strict=True):
        LOGGER.info("%s", _line(name, row))
    for warning in pairs.warnings:
        LOGGER.warning("%s", warning)


def unmet(pairs: Sentences, demands: Demands) -> list[str]:
    """A message for each demand of a study's settings that its pairs do not meet."""
    training, reasons = pairs.accounts[0], reasons_text(pairs.accounts[0].reasons)
    of = f"{training.source}: {counted(training.rows, 'row')}"
    of += f", of which are left out: {reasons}" if reasons else ""
    there = len(pairs.train)
    few = [exceeds(setting, need, there, of) for setting, need in demands.pairs.items() if need > there]
    return few + _missing_subsets(pairs, demands.subsets) + _missing_groups(pairs, demands.groups)


def exceeds(setting: str, need: int, there: int, of: str) -> str:
    """The message that a setting needs more training pairs than are there. of: where the pairs are from."""
    asked = setting if setting.endswith(f"= {need}") else f"{setting} needs {need:,}"
    only = f"there {'is' if there == 1 else 'are'} only {counted(there, 'training pair')}"
    return f"{asked}, but {only} ({of}); lower it, or train on more pairs"


def _missing_subsets(pairs: Sentences, asked: Mapping[str, Sequence[str]]) -> list[str]:
    lost = {account.subset: account for account in _lost(pairs)}
    messages = [
        f"{key}: subset {name!r} has no pair: none of its {counted(lost[name].rows, 'row')} of {lost[name].source} can "
        f"be used: {reasons_text(lost[name].reasons)}"
        for key, names in asked.items()
        for name in names
        if name in lost
    ]
    return messages + unknown_subsets(asked, [*(rule.name for rule in pairs.subsets), *lost])


def _missing_groups(pairs: Sentences, groups: Collection[str]) -> list[str]:
    lost = ", ".join(f"{account.subset!r} ({reasons_text(account.reasons)})" for account in _lost(pairs)[:LISTED])
    return [
        f"task.evaluation: no pair is of the group {group!r}, but a study compares in-domain with out-of-domain pairs"
        + (f"; no row can be used of {lost}" if lost else "")
        for group in groups
        if group not in {rule.group for rule in pairs.subsets}
    ]


def _lost(pairs: Sentences) -> list[Account]:
    """The subsets of which no row can be used."""
    return [one for one in pairs.accounts[1:] if one.group is None and one.subset is not None]


def _duplicates(keys: Sequence[tuple[str, str]]) -> dict:
    return {"duplicates": len(keys) - len(set(keys))}


def _overlap(rows: Sequence[tuple[tuple[str, str], int]], classes: Mapping, merge: Sequence[int]) -> dict:
    """How many pairs of a subset, (key, label) each, are in training, too."""
    shared = [(key, label) for key, label in rows if key in classes]
    same = sum(label in {merge[one] for one in classes[key]} for key, label in shared)
    swapped = sum(key[::-1] in classes for key, _ in rows)
    return dict(zip(OVERLAP, (len(shared), same, swapped), strict=True))


def _row(account: Account) -> dict:
    row = {name: getattr(account, name) for name in ("set", "subset", "group", "source", "rows")}
    return row | {reason: account.reasons.get(reason, 0) for reason in REASONS} | {"used": account.used}


def _line(name: str, row: Mapping) -> str:
    """A row of the counts in words; what is 0 is not mentioned, but pairs that are in training, too."""
    parts = [f"{counted(row['rows'], 'row')}, {row['used']:,} used"]
    if reasons := reasons_text(row):
        parts.append(f"left out: {reasons}")
    if duplicates := row["duplicates"]:
        parts.append(f"{duplicates:,} of the used {'repeats' if duplicates == 1 else 'repeat'} another")
    if row["in_training"] is not None:
        shared, same, swapped = (row[key] for key in OVERLAP)
        parts.append(f"{shared:,} are in training, too ({same:,} with the same label), {swapped:,} in the other order")
    return f"{name} ({row['source']}): " + "; ".join(parts)
