"""What became of the rows that a task read, and how many pairs stand in a set twice or in training, too."""

import logging
from collections.abc import Iterable

from heuristic_core.tasks.sentences import Sentences, pair_key

LOGGER = logging.getLogger("heuristic_core")


def split_counts(pairs: Sentences) -> list[dict]:
    """Rows of table `splits`: training first, then the subsets in their order. They are logged, too."""
    classes: dict[tuple[str, str], set[int]] = {}  # a training pair -> the classes that it has there
    for row in pairs.train:
        classes.setdefault(pair_key(row), set()).add(row["label"])
    by_subset: dict[str, list[dict]] = {rule.name: [] for rule in pairs.subsets}
    for row in pairs.evaluation:
        by_subset[row["subset"]].append(row)
    counts = [_counts(pairs, "train", None, pairs.train) | {"in_training": None, "in_training_same_label": None}]
    for rule in pairs.subsets:
        rows = by_subset[rule.name]
        shared = [row for row in rows if pair_key(row) in classes]
        same = [row for row in shared if row["label"] in {rule.merge[c] for c in classes[pair_key(row)]}]
        overlap = {"in_training": len(shared), "in_training_same_label": len(same)}
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
        overlap = f", {row['in_training']} stand in training too ({row['in_training_same_label']} with the same label)"
    LOGGER.info(
        "%s (%s): %d rows, %d without a label, %d with an empty sentence, %d used, %d of them duplicates%s",
        *(row[key] for key in ("subset", "source", "rows", "unlabelled", "empty", "used", "duplicates")), overlap,
    )  # fmt: skip
