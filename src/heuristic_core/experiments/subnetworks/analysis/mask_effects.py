"""Estimate effects of heads on the accuracy of random masks: coefficients and their tests.

The effect beta of a head is the mean over masks with the head minus the mean over masks without it. Since heads are
drawn independently, beta is also the head's coefficient in the regression on all heads, whether or not effects are
additive. Least squares removes the noise from the other heads: in the miniature study, its error is half the error of a
difference of two means. Standard errors are consistent under heteroscedasticity (HC3: MacKinnon and White 1985),
because the linear model need not hold.

`masks` is [masks, heads], 1 where a mask keeps the head. `values` is [..., masks, values]: accuracies in percent, or J
in points, with optional leading axes such as permutations.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import stdtr
from scipy.stats import false_discovery_control

MIN_MASKS = 3  # minimum number of masks with a head, and without it, to estimate its effect
ALPHA = 0.05  # false discovery rate, and significance level of tests
ID_MARGIN = 1.0  # points; equivalence margin: a head with a smaller effect on ID accuracy does not serve the task
ROUNDING_TOLERANCE = 1e-9  # points, or points squared; smaller differences are rounding errors
BATCH = 100  # resamples in memory at once


class Effects(NamedTuple):
    """Estimated effects of heads on values.

    Attributes:
        beta: Effects in points, [..., heads, values]. NaN for a head that fewer than `MIN_MASKS` masks keep or fewer
            than `MIN_MASKS` lack, and for all heads if there are fewer than two masks per coefficient.
        p: Two-sided p-values, same shape. NaN where beta is NaN, and where there is no residual error.
        error: Standard errors of beta in points, same shape. NaN where p is NaN.
        df: Degrees of freedom of the errors.
    """

    beta: np.ndarray
    p: np.ndarray
    error: np.ndarray
    df: int

    def p_raised(self) -> np.ndarray:
        """Return the two-sided p-value where beta is positive, and 1 elsewhere."""
        return np.where(self.beta > 0, self.p, np.where(np.isnan(self.p), np.nan, 1))

    def p_equivalent(self, margin: float) -> np.ndarray:
        """Return the p-value of two one-sided tests that beta is within the margin.

        Args:
            margin: Equivalence margin, points.
        """
        with np.errstate(invalid="ignore"):
            return 1 - stdtr(self.df, (margin - np.abs(self.beta)) / self.error)


def find_estimable(masks: np.ndarray) -> np.ndarray:
    """Find the heads whose effect can be estimated from the masks.

    Args:
        masks: Heads that masks keep, [masks, heads].

    Returns:
        bool, [heads].
    """
    included = masks.sum(axis=0)
    estimable = (included >= MIN_MASKS) & (len(masks) - included >= MIN_MASKS)
    return estimable & (len(masks) >= 2 * (estimable.sum() + 1))


def estimate_effects(masks: np.ndarray, values: np.ndarray) -> Effects:
    """Estimate the effect of each head on each value by least squares.

    Args:
        masks: Heads that masks keep, [masks, heads].
        values: Percent or points, [..., masks, values].

    Returns:
        Coefficients with HC3 standard errors.
    """
    shape = (*values.shape[:-2], masks.shape[1], values.shape[-1])
    beta, p, error = (np.full(shape, np.nan) for _ in range(3))
    estimable = find_estimable(masks)
    if not estimable.any():
        return Effects(beta, p, error, 0)
    design = build_design(masks[:, estimable])
    inverse = np.linalg.pinv(design)
    values = values - values.mean(axis=-2, keepdims=True)  # equal values become exact zeros
    coefficients = inverse @ values
    leverage = (design * inverse.T).sum(axis=1)
    errors = (values - design @ coefficients) / np.maximum(1 - leverage, ROUNDING_TOLERANCE)[:, None]
    variance = inverse[1:] ** 2 @ errors**2
    coefficients, df = coefficients[..., 1:, :], len(design) - design.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        p_values = 2 * stdtr(df, -np.abs(coefficients) / np.sqrt(variance))
    beta[..., estimable, :] = np.where(np.abs(coefficients) > ROUNDING_TOLERANCE, coefficients, 0)
    p[..., estimable, :] = np.where(variance > ROUNDING_TOLERANCE, p_values, np.nan)
    error[..., estimable, :] = np.where(variance > ROUNDING_TOLERANCE, np.sqrt(variance), np.nan)
    return Effects(beta, p, error, df)


def bootstrap_effects(masks: np.ndarray, values: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Estimate beta in bootstrap draws of the masks, with the same draws for all heads and values.

    Args:
        masks: Heads that masks keep, [masks, heads].
        values: Percent or points, [masks, values].
        count: Number of draws.
        rng: Generator of the draws.

    Returns:
        beta in points, [count, heads, values]. NaN for a head whose effect cannot be estimated, and in draws where all
        masks or no masks keep the head.
    """
    mask_count, estimable = len(values), find_estimable(masks)
    betas = np.full((count, masks.shape[1], values.shape[1]), np.nan)
    if not estimable.any():
        return betas
    design = build_design(masks[:, estimable])
    weights = rng.multinomial(mask_count, np.full(mask_count, 1 / mask_count), size=count).astype(float)
    for start in range(0, count, BATCH):
        batch = weights[start : start + BATCH]
        weighted = batch[:, :, None] * design
        squares, products = weighted.swapaxes(1, 2) @ design, weighted.swapaxes(1, 2) @ values
        estimates = (np.linalg.pinv(squares, hermitian=True) @ products)[:, 1:]
        including = batch @ design[:, 1:]
        constant = (including == 0) | (including == mask_count)
        betas[start : start + BATCH, estimable] = np.where(constant[..., None], np.nan, estimates)
    return betas


def build_design(masks: np.ndarray) -> np.ndarray:
    """Build the design matrix: an intercept followed by the heads.

    Args:
        masks: Heads that masks keep, [masks, heads].

    Returns:
        Design matrix, [masks, 1 + heads].
    """
    return np.column_stack([np.ones(len(masks)), masks])


def adjust_p(p: np.ndarray) -> np.ndarray:
    """Adjust p-values for the false discovery rate over the last two axes, heads and values (Benjamini and Hochberg).

    Args:
        p: p-values, [..., heads, values]. NaN counts as 1 and stays NaN.

    Returns:
        Adjusted p-values, same shape.
    """
    flat = np.where(np.isnan(p), 1, p).reshape(*p.shape[:-2], -1)
    if not flat.size:
        return p
    return np.where(np.isnan(p), np.nan, false_discovery_control(flat, axis=-1).reshape(p.shape))


def find_counter_heuristic(masks: np.ndarray, ood: np.ndarray, id_: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Find the heads that are counter-heuristic on an OOD subset.

    Such a head meets three conditions:

    - It raises accuracy on the subset.
    - Its effect on ID accuracy is within `ID_MARGIN`, by two one-sided tests of equivalence (Schuirmann 1987).
    - Its effect on J is above 0, because a head that only makes masks reject more pairs also raises OOD accuracy.

    The p-value of a head and subset is the largest of the three (Berger 1982), adjusted over heads and subsets for the
    false discovery rate.

    Args:
        masks: Heads that masks keep, [masks, heads].
        ood: Accuracies on OOD subsets, percent, [..., masks, subsets].
        id_: ID accuracy, percent, [..., masks, 1].
        j: J, points, [..., masks, 1].

    Returns:
        bool, [..., heads, subsets].
    """
    on_ood, on_id, on_j = (estimate_effects(masks, values) for values in (ood, id_, j))
    p = np.maximum(np.maximum(on_ood.p_raised(), on_j.p_raised()), on_id.p_equivalent(ID_MARGIN))
    with np.errstate(invalid="ignore"):
        return adjust_p(p) < ALPHA


def profile_variance(masks: np.ndarray, ood: np.ndarray) -> np.ndarray:
    """Compute the variance of beta over OOD subsets, averaged over heads.

    The variance is of effects relative to a mask's mean over subsets. Heads are weighted by the precision of beta,
    n m / (n + m), where n masks keep the head and m lack it.

    Args:
        masks: Heads that masks keep, [masks, heads].
        ood: Accuracies on OOD subsets, percent, [..., masks, subsets].

    Returns:
        Points squared, [...].
    """
    centred = ood - ood.mean(axis=-1, keepdims=True)  # accuracy of a mask relative to its mean over subsets
    beta = estimate_effects(masks, centred).beta
    share = np.asarray(masks, dtype=float).mean(axis=0)
    estimable = ~np.isnan(beta).any(axis=(*range(beta.ndim - 2), -1))
    variances = (beta[..., estimable, :] ** 2).sum(axis=-1) / max(ood.shape[-1] - 1, 1)
    return variances @ (share * (1 - share))[estimable] / (share * (1 - share))[estimable].sum()


def compute_opposite_p(masks: np.ndarray, ood: np.ndarray) -> np.ndarray:
    """Test for each head whether it raises accuracy on one OOD subset and lowers it on another.

    Under the null hypothesis, a head raises accuracy on no subset, or lowers it on none. Each half of this hypothesis
    is tested by the smallest p-value over subsets, and both together by the larger of the two (intersection-union test:
    Berger 1982). A floor or a ceiling can hide an effect but cannot reverse its sign.

    Args:
        masks: Heads that masks keep, [masks, heads].
        ood: Accuracies on OOD subsets, percent, [masks, subsets].

    Returns:
        p-value of each head, Bonferroni-adjusted for subsets and heads, [heads].
    """
    estimates = estimate_effects(masks, ood)
    test_count = int((~np.isnan(estimates.p)).any(axis=1).sum())
    p_raised = np.where(np.isnan(estimates.p), 1, np.where(estimates.beta > 0, estimates.p / 2, 1 - estimates.p / 2))
    one_sided = np.stack([p_raised, 1 - p_raised])
    one_sided[:, np.isnan(estimates.p)] = 1
    return np.minimum(1, max(test_count, 1) * ood.shape[1] * one_sided.min(axis=2).max(axis=0))
