"""What keeping a head adds to the accuracy of random masks: coefficients, their tests, and permutations.

beta is what masks with a head score on average more than masks without it. As heads are drawn independently, this is
the head's coefficient in the regression on all heads, whether effects are additive or not. Least squares estimate it
without the noise that the other heads make: with half the error of a difference of two means in the miniature. Errors
are consistent under heteroscedasticity (HC3: MacKinnon and White 1985), as the model need not hold.

Arrays are of masks x heads (`inside`: 1 where a mask keeps the head) and of masks x values (accuracies in percent, or
J in points). Values may have axes before these two, such as permutations.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import stdtr
from scipy.stats import false_discovery_control

LEAST = 3  # masks with a head, and without it, that its effect is taken from
LEVEL = 0.05  # of the false discovery rate, and of tests
ID_MARGIN = 1.0  # points: a head whose effect on ID accuracy is no larger counts as no part of the task
FLAT = 1e-9  # points, or points squared: what rounding alone makes of equal values
TOGETHER = 100  # resamples that are in memory at once


class Effects(NamedTuple):
    """beta: [..., heads, values], points; NaN of a head that fewer than `LEAST` masks have or lack, and of all heads
    where masks are fewer than two for each coefficient. error: standard errors of beta; p: two-sided; both NaN where
    beta is, and where no error is left. freedom: degrees of freedom of the errors."""

    beta: np.ndarray
    p: np.ndarray
    error: np.ndarray
    freedom: int

    def p_raised(self) -> np.ndarray:
        """The two-sided p where beta is positive; 1 elsewhere."""
        return np.where(self.beta > 0, self.p, np.where(np.isnan(self.p), np.nan, 1))

    def p_equivalent(self, margin: float) -> np.ndarray:
        """The p of the two one-sided tests that beta is within the margin, points."""
        with np.errstate(invalid="ignore"):
            return 1 - stdtr(self.freedom, (margin - np.abs(self.beta)) / self.error)


def estimable(inside: np.ndarray) -> np.ndarray:
    """Which heads have an effect that masks can tell: bool [heads]."""
    count = inside.sum(axis=0)
    known = (count >= LEAST) & (len(inside) - count >= LEAST)
    return known & (len(inside) >= 2 * (known.sum() + 1))


def effects(inside: np.ndarray, values: np.ndarray) -> Effects:
    """The effect of every head on every value."""
    shape = (*values.shape[:-2], inside.shape[1], values.shape[-1])
    beta, p, error = (np.full(shape, np.nan) for _ in range(3))
    known = estimable(inside)
    if not known.any():
        return Effects(beta, p, error, 0)
    design = design_of(inside[:, known])
    inverse = np.linalg.pinv(design)
    values = values - values.mean(axis=-2, keepdims=True)  # equal values become zeros, and have no error
    found = inverse @ values
    leverage = (design * inverse.T).sum(axis=1)
    errors = (values - design @ found) / np.maximum(1 - leverage, FLAT)[:, None]
    variance = inverse[1:] ** 2 @ errors**2
    found, freedom = found[..., 1:, :], len(design) - design.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        both = 2 * stdtr(freedom, -np.abs(found) / np.sqrt(variance))
    beta[..., known, :] = np.where(np.abs(found) > FLAT, found, 0)
    p[..., known, :] = np.where(variance > FLAT, both, np.nan)
    error[..., known, :] = np.where(variance > FLAT, np.sqrt(variance), np.nan)
    return Effects(beta, p, error, freedom)


def resampled(inside: np.ndarray, values: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """beta in `count` draws of the masks with replacement, the same draws for all: [count, heads, values].

    NaN of a head that no effect is known of, and in a draw whose masks all have the head, or all lack it.
    """
    masks, known = len(values), estimable(inside)
    found = np.full((count, inside.shape[1], values.shape[1]), np.nan)
    if not known.any():
        return found
    design = design_of(inside[:, known])
    times = rng.multinomial(masks, np.full(masks, 1 / masks), size=count).astype(float)
    for start in range(0, count, TOGETHER):
        drawn = times[start : start + TOGETHER]
        weighted = drawn[:, :, None] * design
        squares, products = weighted.swapaxes(1, 2) @ design, weighted.swapaxes(1, 2) @ values
        betas = (np.linalg.pinv(squares, hermitian=True) @ products)[:, 1:]
        having = drawn @ design[:, 1:]
        constant = (having == 0) | (having == masks)
        found[start : start + TOGETHER, known] = np.where(constant[..., None], np.nan, betas)
    return found


def design_of(inside: np.ndarray) -> np.ndarray:
    """An intercept and the heads: [masks, 1 + heads]."""
    return np.column_stack([np.ones(len(inside)), inside])


def adjusted(p: np.ndarray) -> np.ndarray:
    """Benjamini and Hochberg's q over the last axes of p: heads and values. An unknown p counts as 1, and stays NaN."""
    flat = np.where(np.isnan(p), 1, p).reshape(*p.shape[:-2], -1)
    if not flat.size:
        return p
    return np.where(np.isnan(p), np.nan, false_discovery_control(flat, axis=-1).reshape(p.shape))


def counter(inside: np.ndarray, ood: np.ndarray, id_: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Which heads are counter-heuristic on which OOD subsets: bool [..., heads, subsets].

    Such a head raises accuracy on the subset; its effect on ID accuracy is within `ID_MARGIN`, by two one-sided tests
    of equivalence (Schuirmann 1987); and its effect on J is above 0, as a head that makes masks reject more pairs
    raises OOD accuracy, too. All three have to hold, so the largest p of the three is the p of a head and subset
    (Berger 1982), and these are adjusted for heads and subsets.

    Args:
        ood: Accuracies on OOD subsets, percent, [..., masks, subsets].
        id_: ID accuracy, percent, [..., masks, 1].
        j: J in points, [..., masks, 1].
    """
    on_ood, on_id, on_j = (effects(inside, values) for values in (ood, id_, j))
    p = np.maximum(np.maximum(on_ood.p_raised(), on_j.p_raised()), on_id.p_equivalent(ID_MARGIN))
    with np.errstate(invalid="ignore"):
        return adjusted(p) < LEVEL


def profile_variance(inside: np.ndarray, ood: np.ndarray) -> np.ndarray:
    """The variance of a head's beta over OOD subsets, points squared, mean over heads: [...].

    Heads weigh as their beta is known: by n m / (n + m), with n masks with the head and m masks without it.
    """
    apart = ood - ood.mean(axis=-1, keepdims=True)  # of a mask: what one subset has more of than subsets on average
    beta = effects(inside, apart).beta
    share = np.asarray(inside, dtype=float).mean(axis=0)
    known = ~np.isnan(beta).any(axis=(*range(beta.ndim - 2), -1))
    variances = (beta[..., known, :] ** 2).sum(axis=-1) / max(ood.shape[-1] - 1, 1)
    return variances @ (share * (1 - share))[known] / (share * (1 - share))[known].sum()


def opposite(inside: np.ndarray, ood: np.ndarray) -> np.ndarray:
    """The p of every head that it raises one OOD subset and lowers another one: [heads].

    Adjusted for subsets and heads (Bonferroni). Under the null hypothesis a head raises none, or lowers none. Of either
    half the smallest p over subsets is one of a test, so the larger of both is (Berger 1982: union of intersections).
    A floor or a ceiling can hide an effect, and cannot turn its sign.
    """
    found = effects(inside, ood)
    tested = int((~np.isnan(found.p)).any(axis=1).sum())
    up = np.where(np.isnan(found.p), 1, np.where(found.beta > 0, found.p / 2, 1 - found.p / 2))
    one_sided = np.stack([up, 1 - up])
    one_sided[:, np.isnan(found.p)] = 1
    return np.minimum(1, max(tested, 1) * ood.shape[1] * one_sided.min(axis=2).max(axis=0))
