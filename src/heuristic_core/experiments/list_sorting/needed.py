"""How much of a model its smallest faithful subset keeps, and which halves all learned subsets keep.

Effective size is defined as in the heuristic core, over all subsets instead of learned ones at some sparsities: 100
times the halves of the smallest faithful subset over all halves. It needs no interpolation and no pruning seed. Counted
in heads, it is over subsets that keep both halves of a head or none.
"""

from collections.abc import Iterator

import pandas as pd

from heuristic_core.analysis.faithful import Criterion
from heuristic_core.experiments.list_sorting.config_prune import PruneRuns

MODEL = ["study", "condition", "seed", "step"]
UNITS = {"half": "halves", "head": "heads"}  # unit -> column that counts them


def size_rows(subsets: pd.DataFrame, settings: PruneRuns) -> list[dict]:
    """Rows of table "sorting_sizes" from table "sorting_subsets". settings: margin and kl."""
    criteria = (
        Criterion("accuracy", settings.margin, "token_accuracy", least=settings.margin),
        Criterion("kl", settings.kl, "kl"),
    )
    rows = []
    for model, of_model in subsets.groupby(MODEL, sort=False):
        for unit in UNITS:
            for criterion in criteria:
                about = dict(zip(MODEL, model, strict=True)) | {"unit": unit, "criterion": criterion.name}
                about |= {"threshold": criterion.threshold, "effective_size": None, "kept": None}
                rows.append(about | _size(of_model, unit, criterion))
    return rows


def _size(subsets: pd.DataFrame, unit: str, criterion: Criterion) -> dict:
    """Effective size of one model and the smallest faithful subset, of several the one of lowest KL; or the reason."""
    if pd.notna(reason := subsets["reason"].iloc[0]):
        return {"reason": reason}
    if unit == "head":
        subsets = subsets[subsets["halves"] == 2 * subsets["heads"]]
    whole = subsets.loc[subsets["halves"].idxmax()]
    full = 100 * whole["token_accuracy"]
    if why := criterion.undefined(full):
        return {"reason": f"undefined: {why}"}
    values = subsets[criterion.column] * (100 if criterion.name == "accuracy" else 1)
    faithful = subsets[criterion.holds(criterion.slack(values, full))]
    smallest = faithful.sort_values([UNITS[unit], "kl"]).iloc[0]
    size = 100 * smallest[UNITS[unit]] / whole[UNITS[unit]]
    return {"effective_size": float(size), "kept": smallest["kept"], "reason": None}


def core_rows(masks: pd.DataFrame, heads: pd.DataFrame) -> Iterator[dict]:
    """Rows of table "sorting_core" from tables "sorting_masks" and "sorting_heads"."""
    scores = heads.set_index([*MODEL, "head"])[["copying", "suppression"]]
    of_models = {model: sorted(rows["head"]) for model, rows in heads.groupby(MODEL)}
    for model, of_model in masks.groupby(MODEL, sort=False):
        kept = [found.split("+") for found in of_model["kept"].dropna()]
        for head in of_models[model]:
            for half in ("qk", "ov"):
                keeping = sum(f"{half}{head}" in found for found in kept)
                yield dict(zip(MODEL, model, strict=True)) | {
                    "head": head,
                    "half": half,
                    "kept_by": keeping,
                    "of": len(kept),
                    "core": keeping == len(kept) if kept else None,
                    **scores.loc[(*model, head)],
                    "reason": None if kept else "; ".join(sorted(set(of_model["reason"]))),
                }
