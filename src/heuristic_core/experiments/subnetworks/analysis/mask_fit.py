"""Tests whether effects of heads are additive, by predicting learned subnetworks from random masks.

The model is a least-squares fit to the random masks, with an intercept and a coefficient (beta) for each head. Learned
subnetworks are not in the fit. The ceiling for their predictions is a model of one half of the random masks that
predicts the other half. Learned subnetworks may also differ from random masks in their MLPs.
"""

from collections.abc import Collection

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from heuristic_core.experiments.subnetworks.analysis.counter_heads import (
    LEARNED,
    NO_POOL,
    RANDOM,
    MaskScores,
    collect_mask_scores,
)
from heuristic_core.experiments.subnetworks.analysis.mask_effects import ROUNDING_TOLERANCE, build_design
from heuristic_core.stats.frames import make_frame
from heuristic_core.tables.columns import SUBSET


def compute_mask_fit(random_masks: pd.DataFrame, run: dict, subsets: Collection[str] | None = None) -> pd.DataFrame:
    """Make table "mask_fit" of one run from its table "random_masks".

    Args:
        random_masks: Table "random_masks" of the run.
        run: Identity columns.
        subsets: Subsets to analyse, as for :func:`collect_mask_scores`; None for all.

    Returns:
        A row for each kind of mask and value; a single row with a reason if the pool has no heads.
    """
    random, learned = collect_mask_scores(random_masks, run, subsets)
    if not random.heads:
        return make_frame("mask_fit", [run | {"n": 0, "heads": 0, "reason": NO_POOL}])
    sufficient = len(random.kept) // 2 > len(random.heads) + 1
    reason = None if sufficient else f"half of {len(random.kept)} masks are too few for {len(random.heads)} heads"
    predictions = (predict(random, learned), _cross_predict(random)) if sufficient else (None, None)
    parts = zip((LEARNED, RANDOM), (learned, random), predictions, strict=True)
    return make_frame("mask_fit", pd.concat([_rows(*part, reason) for part in parts]))


def fit_coefficients(masks: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Fit an intercept and a coefficient for each head by least squares: [1 + heads, values].

    Args:
        masks: Whether a mask keeps a head, bool [masks, heads].
        values: Values to fit, [masks, values].
    """
    return np.linalg.lstsq(build_design(masks), values, rcond=None)[0]


def predict(train: MaskScores, test: MaskScores) -> np.ndarray:
    """Predict the values of some masks from a fit to others.

    Args:
        train: Masks that the coefficients are fitted to.
        test: Masks to predict.

    Returns:
        Predicted values, [test masks, values].
    """
    return build_design(test.kept) @ fit_coefficients(train.kept, train.values)


def _cross_predict(masks: MaskScores) -> np.ndarray:
    """Predict each half of the masks from the other half; masks are independent draws, so any halves will do."""
    even = np.arange(len(masks.kept)) % 2 == 0
    predicted = np.empty_like(masks.values)
    for half in (even, ~even):
        predicted[half] = build_design(masks.kept[half]) @ fit_coefficients(masks.kept[~half], masks.values[~half])
    return predicted


def _rows(kind: str, masks: MaskScores, predicted: np.ndarray | None, reason: str | None) -> pd.DataFrame:
    """Return one row for each value, with its goodness of fit or the reason for its absence."""
    rows = [
        {"n": len(observed)} | ({"reason": reason} if predicted is None else _agreement(observed, predicted[:, k]))
        for k, observed in enumerate(masks.values.T)
    ]
    return pd.concat([masks.identity[[*SUBSET]], pd.DataFrame(rows)], axis=1).assign(
        **masks.run, masks=kind, heads=len(masks.heads)
    )


def _agreement(observed: np.ndarray, predicted: np.ndarray) -> dict:
    """Compare predictions with observed values, [masks] each; null where the comparison is undefined."""
    if len(observed) < 3:
        return {"reason": f"only {len(observed)} masks"}
    residual, total = ((observed - predicted) ** 2).sum(), ((observed - observed.mean()) ** 2).sum()
    row = {"sd": observed.std(ddof=1), "error": np.sqrt(residual / len(observed))}
    if np.ptp(observed) < ROUNDING_TOLERANCE:
        return row | {"reason": "all masks have the same value"}
    row |= {"r2": 1 - residual / total}
    if np.ptp(predicted) < ROUNDING_TOLERANCE:
        return row | {"reason": "no rho: predictions are all equal"}
    return row | {"rho": spearmanr(observed, predicted).statistic}
