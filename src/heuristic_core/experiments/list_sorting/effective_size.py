"""The size of a model's smallest faithful subset, and the halves that all learned subsets keep.

Effective size is defined as in the heuristic core, but over all subsets instead of subsets learned at some sparsities:
100 times the halves of the smallest faithful subset over all halves. It needs no interpolation and no pruning seed.
Counted in heads, it is over subsets that keep both halves of a head or none.
"""

from collections.abc import Iterator

import pandas as pd

from heuristic_core.experiments.list_sorting.config_prune import PruneRuns
from heuristic_core.stats.faithful import Criterion

MODEL = ["study", "condition", "seed", "step"]
UNITS = {"half": "halves", "head": "heads"}  # unit -> column that counts them


def size_rows(subsets: pd.DataFrame, settings: PruneRuns) -> list[dict]:
    """Return rows of table "sorting_sizes".

    Args:
        subsets: Table "sorting_subsets".
        settings: Settings with the margin and KL of a faithful subset.
    """
    criteria = (
        Criterion("accuracy", settings.margin, "token_accuracy", min_full_accuracy=settings.margin),
        Criterion("kl", settings.kl, "kl"),
    )
    rows = []
    for model, model_subsets in subsets.groupby(MODEL, sort=False):
        for unit in UNITS:
            for criterion in criteria:
                columns = dict(zip(MODEL, model, strict=True)) | {"unit": unit, "criterion": criterion.name}
                columns |= {"threshold": criterion.threshold, "effective_size": None, "kept": None}
                rows.append(columns | _size(model_subsets, unit, criterion))
    return rows


def _size(subsets: pd.DataFrame, unit: str, criterion: Criterion) -> dict:
    """Return the effective size of one model and its smallest faithful subset of lowest KL; or the reason for none."""
    if pd.notna(reason := subsets["reason"].iloc[0]):
        return {"reason": reason}
    if unit == "head":
        subsets = subsets[subsets["halves"] == 2 * subsets["heads"]]
    full_subset = subsets.loc[subsets["halves"].idxmax()]
    full_accuracy = 100 * full_subset["token_accuracy"]
    if problem := criterion.undefined_reason(full_accuracy):
        return {"reason": f"undefined: {problem}"}
    values = subsets[criterion.column] * (100 if criterion.name == "accuracy" else 1)
    faithful = subsets[criterion.is_met(criterion.slack(values, full_accuracy))]
    smallest = faithful.sort_values([UNITS[unit], "kl"]).iloc[0]
    size = 100 * smallest[UNITS[unit]] / full_subset[UNITS[unit]]
    return {"effective_size": float(size), "kept": smallest["kept"], "reason": None}


def core_rows(masks: pd.DataFrame, heads: pd.DataFrame) -> Iterator[dict]:
    """Compute the rows of table "sorting_core".

    Args:
        masks: Table "sorting_masks".
        heads: Table "sorting_heads".

    Yields:
        A row for each model, head, and half of the head.
    """
    measures = heads.set_index([*MODEL, "head"])[["copying", "suppression"]]
    model_heads = {model: sorted(rows["head"]) for model, rows in heads.groupby(MODEL)}
    for model, model_masks in masks.groupby(MODEL, sort=False):
        kept = [halves.split("+") for halves in model_masks["kept"].dropna()]
        for head in model_heads[model]:
            for half in ("qk", "ov"):
                count = sum(f"{half}{head}" in halves for halves in kept)
                yield dict(zip(MODEL, model, strict=True)) | {
                    "head": head,
                    "half": half,
                    "kept_by": count,
                    "of": len(kept),
                    "core": count == len(kept) if kept else None,
                    **measures.loc[(*model, head)],
                    "reason": None if kept else "; ".join(sorted(set(model_masks["reason"]))),
                }
