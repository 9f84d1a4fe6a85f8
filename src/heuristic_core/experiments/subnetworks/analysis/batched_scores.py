"""Compute the accuracies of one checkpoint's subnetworks from files of predictions, in batches of subnetworks.

Each subnetwork is compared only with the full model, on bootstrap draws that depend only on the subset. Batches that
include the full model therefore give the same results as all subnetworks at once, and bound the memory.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from heuristic_core.experiments.subnetworks.analysis.runs import compute_chance
from heuristic_core.experiments.subnetworks.analysis.scores import compute_accuracies
from heuristic_core.experiments.subnetworks.config.analysis import MAX_MODELS_IN_MEMORY, MAX_ROWS_IN_MEMORY, Analysis
from heuristic_core.pruning.subnetwork import FailedRun
from heuristic_core.tables.columns import CELL, RUN, STEP, SUBSET
from heuristic_core.tables.parquet import read_categorical, to_matrix

COLUMNS = [*RUN, *STEP, *CELL, *SUBSET, "template", "label", "example", "correct", "correct_merged", "log_odds"]
BLOCK_KEYS = ("subset", "group", "family")  # rows with equal values in these columns, if present, are contiguous


def score_in_batches(
    full: str | Path,
    pruned: Sequence[str | Path],
    analysis: Analysis,
    failed: Sequence[FailedRun] = (),
    max_rows: int = MAX_ROWS_IN_MEMORY,
) -> tuple[tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame], float | None]:
    """Compute accuracies in batches of files.

    Args:
        full: File of table "predictions" of the full model.
        pruned: Files of table "predictions" of the subnetworks.
        analysis: Settings `analysis`.
        failed: Pruning runs without a subnetwork.
        max_rows: Largest number of rows in memory.

    Returns:
        Tables "accuracy", "group_accuracy" and "family_scores" of :func:`accuracies`, and chance, percent.
    """
    parts, chance_accuracy, draws, a = [], None, {}, analysis
    batches = list(_batches(full, pruned, max_rows))
    for batch in batches:
        rows, logits = read_categorical([full, *batch], COLUMNS), to_matrix(_logits([full, *batch]))
        missing = failed if batch is batches[-1] else ()
        tables = compute_accuracies(rows, logits, a.subsets, a.class_rule, a.bootstrap, a.seed, missing, draws)
        chance_accuracy = chance_accuracy if parts else compute_chance(rows, a.subsets)
        parts.append([table[table["seed"].notna()] if parts else table for table in tables])
    return tuple(map(_concatenate, zip(*parts, strict=True))), chance_accuracy


def _batches(full: str | Path, pruned: Sequence[str | Path], most: int) -> Iterator[Sequence[str | Path]]:
    """Yield batches of files that have, with the full model, at most `most` rows.

    Bootstrap draws take memory per model and subset whatever the rows, so `MAX_MODELS_IN_MEMORY` limits a batch too.
    """
    count = min(MAX_MODELS_IN_MEMORY, max(1, most // max(1, pq.read_metadata(full).num_rows) - 1))
    yield from (pruned[k : k + count] for k in range(0, max(1, len(pruned)), count))


def _logits(paths: Sequence[str | Path]):
    return pq.read_table(paths, columns=["logits"])["logits"]


def _concatenate(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate tables block by block; each part has all blocks, of one subset, group or family each."""
    if len(parts) == 1:
        return parts[0]
    table = pd.concat(parts, ignore_index=True)
    blocks = table.groupby([name for name in BLOCK_KEYS if name in table], dropna=False, sort=False).ngroup()
    return table.loc[blocks.sort_values(kind="stable").index].reset_index(drop=True)
