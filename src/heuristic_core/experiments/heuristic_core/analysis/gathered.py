"""The accuracies of one checkpoint's subnetworks from files of predictions, some subnetworks at a time.

Every subnetwork is compared with the full model alone, on draws that depend on the subset alone. So the full model
beside some of the subnetworks gives the same as beside all of them, and memory does not grow with their number.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from heuristic_core.experiments.heuristic_core.analysis.runs import chance
from heuristic_core.experiments.heuristic_core.analysis.scores import accuracies
from heuristic_core.experiments.heuristic_core.config.analysis import GATHERED_MODELS, GATHERED_ROWS, Analysis
from heuristic_core.pruning.subnetwork import FailedRun
from heuristic_core.tables.columns import CELL, RUN, STEP, SUBSET
from heuristic_core.tables.parquet import matrix, read_coded

COLUMNS = [*RUN, *STEP, *CELL, *SUBSET, "template", "label", "example", "correct", "correct_merged", "log_odds"]
BLOCKS = ("subset", "group", "family")  # the columns, of those that a table has, whose rows follow one another


def gathered(
    full: str | Path,
    pruned: Sequence[str | Path],
    analysis: Analysis,
    failed: Sequence[FailedRun] = (),
    most: int = GATHERED_ROWS,
) -> tuple[tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame], float | None]:
    """Tables "accuracy", "group_accuracy" and "family_scores", as :func:`accuracies` has them, and chance, percent.

    full, pruned: files of table "predictions", of the full model and of each subnetwork. most: rows in memory.
    """
    parts, known, drawn, a = [], None, {}, analysis
    shares = list(_shares(full, pruned, most))
    for share in shares:
        rows, logits = read_coded([full, *share], COLUMNS), matrix(_logits([full, *share]))
        missing = failed if share is shares[-1] else ()
        found = accuracies(rows, logits, a.subsets, a.class_rule, a.bootstrap, a.seed, missing, drawn)
        known = known if parts else chance(rows, a.subsets)
        parts.append([table[table["seed"].notna()] if parts else table for table in found])
    return tuple(map(_joined, zip(*parts, strict=True))), known


def _shares(full: str | Path, pruned: Sequence[str | Path], most: int) -> Iterator[Sequence[str | Path]]:
    """The files of subnetworks, as many at a time as have, with the full model, at most `most` rows.

    Bootstrap draws take memory by model and subset, whatever their rows: so there are at most `GATHERED_MODELS`, too.
    """
    count = min(GATHERED_MODELS, max(1, most // max(1, pq.read_metadata(full).num_rows) - 1))
    yield from (pruned[k : k + count] for k in range(0, max(1, len(pruned)), count))


def _logits(paths: Sequence[str | Path]):
    return pq.read_table(paths, columns=["logits"])["logits"]


def _joined(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """One table of the parts. Rows are in blocks of one subset, group or family, and every part has every block."""
    if len(parts) == 1:
        return parts[0]
    whole = pd.concat(parts, ignore_index=True)
    blocks = whole.groupby([name for name in BLOCKS if name in whole], dropna=False, sort=False).ngroup()
    return whole.loc[blocks.sort_values(kind="stable").index].reset_index(drop=True)
