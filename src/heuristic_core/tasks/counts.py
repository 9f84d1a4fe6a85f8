"""What became of the rows that a task read, and how many pairs are in a set twice or in training, too."""

import logging
from collections.abc import Iterable

from heuristic_core.tasks.pairs import Sentences, pair_key

LOGGER = logging.getLogger(__name__)
OVERLAP = ("in_training", "in_training_same_label", "in_training_swapped")


def split_counts(pairs: Sentences) -> list[dict]:
    """Rows of table `splits`: training first, then the subsets in their order. They are logged, too."""
    classes: dict[tuple[str, str], set[int]] = {}  # a training pair -> the classes that it has there
    for row in pairs.train:
        classes.setdefault(pair_key(row), set()).add(row["label"])
    by_subset: dict[str, list[dict]] = {rule.name: [] for rule in pairs.subsets}
    for row in pairs.evaluation:
        by_subset[row["subset"]].append(row)
    counts = [_counts(pairs, "train", None, pairs.train) | dict.fromkeys(OVERLAP)]
    for rule in pairs.subsets:
        rows = by_subset[rule.name]
        shared = [row for row in rows if pair_key(row) in classes]
        same = [row for row in shared if row["label"] in {rule.merge[c] for c in classes[pair_key(row)]}]
        swapped = sum(pair_key(row)[::-1] in classes for row in rows)
        overlap = dict(zip(OVERLAP, (len(shared), len(same), swapped), strict=True))
        counts.append(_counts(pairs, rule.name, rule.group, rows) | overlap)
    for row in counts:
        _log(row)
    return counts


def _counts(pairs: Sentences, subset: str, group: str | None, rows: Iterable[dict]) -> dict:
    keys = [pair_key(row) for row in rows]
    found = {"subset": subset, "group": group, **pairs.origins[subset]._asdict()}
    return found | {"used": len(keys), "duplicates": len(keys) - len(set(keys))}


def _log(row: dict) -> None:
    overlap = ""
    if row["in_training"] is not None:
        shared, same, swapped = (row[key] for key in OVERLAP)
        overlap = f", {shared} are in training too ({same} with the same label), {swapped} in the other order"
    LOGGER.info(
        "%s (%s): %d rows (and %d torn lines), %d without a label, %d with an empty sentence, %d used, "
        "%d of them duplicates%s",
        *(row[key] for key in ("subset", "source", "rows", "torn", "unlabelled", "empty", "used", "duplicates")),
        overlap,
    )
