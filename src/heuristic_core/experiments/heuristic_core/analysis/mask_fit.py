"""Are effects of heads additive? Accuracies of learned subnetworks, predicted from random masks.

The model has an intercept and the coefficient of each head, beta, by least squares on the random masks. Learned
subnetworks took no part in the fit. The ceiling for them is the same model of one half of the random masks, which
predicts the other half. All learned subnetworks may differ from random masks in their MLPs.
"""

from collections.abc import Collection

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from heuristic_core.analysis.frames import frame
from heuristic_core.experiments.heuristic_core.analysis.counter_heads import (
    LEARNED,
    NO_POOL,
    RANDOM,
    MaskScores,
    mask_scores,
)
from heuristic_core.experiments.heuristic_core.analysis.mask_effects import FLAT, design_of
from heuristic_core.tables.columns import SUBSET


def mask_fit(random_masks: pd.DataFrame, run: dict, subsets: Collection[str] | None = None) -> pd.DataFrame:
    """Table "mask_fit" of one run from its table "random_masks"; where the pool has no heads, one row that says so.

    subsets: as of :func:`mask_scores`.
    """
    random, learned = mask_scores(random_masks, run, subsets)
    if not random.heads:
        return frame("mask_fit", [run | {"n": 0, "heads": 0, "reason": NO_POOL}])
    enough = len(random.inside) // 2 > len(random.heads) + 1
    reason = None if enough else f"half of {len(random.inside)} masks are too few for {len(random.heads)} heads"
    predicted = (fitted(random, learned), _crossed(random)) if enough else (None, None)
    of_kind = zip((LEARNED, RANDOM), (learned, random), predicted, strict=True)
    return frame("mask_fit", pd.concat([_rows(*one, reason) for one in of_kind]))


def coefficients(inside: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The intercept and then every head's coefficient, by least squares: [1 + heads, values]."""
    return np.linalg.lstsq(design_of(inside), values, rcond=None)[0]


def fitted(on: MaskScores, of: MaskScores) -> np.ndarray:
    """What the model of the masks `on` says of the masks `of`: [masks, values]."""
    return design_of(of.inside) @ coefficients(on.inside, on.values)


def _crossed(masks: MaskScores) -> np.ndarray:
    """What the model of each half says of the other half; masks are independent draws, so any halves do."""
    first = np.arange(len(masks.inside)) % 2 == 0
    found = np.empty_like(masks.values)
    for half in (first, ~first):
        found[half] = design_of(masks.inside[half]) @ coefficients(masks.inside[~half], masks.values[~half])
    return found


def _rows(kind: str, masks: MaskScores, predicted: np.ndarray | None, reason: str | None) -> pd.DataFrame:
    """One row for each value."""
    rows = [
        {"n": len(observed)} | ({"reason": reason} if predicted is None else _agreement(observed, predicted[:, k]))
        for k, observed in enumerate(masks.values.T)
    ]
    return pd.concat([masks.about[[*SUBSET]], pd.DataFrame(rows)], axis=1).assign(
        **masks.run, masks=kind, heads=len(masks.heads)
    )


def _agreement(observed: np.ndarray, predicted: np.ndarray) -> dict:
    """How well predictions agree with what they are of; null where there is nothing to predict."""
    if len(observed) < 3:
        return {"reason": f"only {len(observed)} masks"}
    errors, apart = ((observed - predicted) ** 2).sum(), ((observed - observed.mean()) ** 2).sum()
    found = {"sd": observed.std(ddof=1), "error": np.sqrt(errors / len(observed))}
    if np.ptp(observed) < FLAT:
        return found | {"reason": "all masks have the same value"}
    found |= {"r2": 1 - errors / apart}
    if np.ptp(predicted) < FLAT:
        return found | {"reason": "no rho: predictions are all equal"}
    return found | {"rho": spearmanr(observed, predicted).statistic}
