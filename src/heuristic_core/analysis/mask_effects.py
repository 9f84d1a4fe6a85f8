"""What keeping a head adds to the accuracy of random masks: differences of means, their tests, and permutations.

Arrays are of masks x heads (`inside`: 1 where a mask keeps the head) and of masks x values (accuracies in percent, or
J in points). Values may have axes before these two, such as permutations.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import stdtr
from scipy.stats import false_discovery_control

LEAST = 3  # masks with the head, and without it, from which a difference is taken
LEVEL = 0.05  # of the false discovery rate
ID_MARGIN = 1.0  # points of ID accuracy: a head that changes no more of it is no part of the task
FLAT = 1e-9  # points, or points squared: what rounding alone makes of equal values


class Effects(NamedTuple):
    """beta: mean of masks with a head minus that of masks without, [..., heads, values], NaN below `LEAST` masks.

    p: Welch's t test, two-sided; NaN where beta is, and where neither side varies.
    """

    beta: np.ndarray
    p: np.ndarray


def effects(inside: np.ndarray, values: np.ndarray) -> Effects:
    """The effect of every head on every value."""
    values = values - values.mean(axis=-2, keepdims=True)  # before squares are summed: they would swallow digits
    inside = np.asarray(inside, dtype=float)
    sides = []
    for side in (inside, 1 - inside):
        count = side.sum(axis=0)[:, None]
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = side.T @ values / count
            variance = (side.T @ values**2 - count * mean**2) / (count - 1)
        sides.append((count, mean, np.where(variance > FLAT, variance, 0)))
    (n, mean, variance), (m, other, other_variance) = sides
    known = (n >= LEAST) & (m >= LEAST)
    with np.errstate(invalid="ignore", divide="ignore"):
        difference = mean - other
        beta = np.where(known, np.where(np.abs(difference) > FLAT, difference, 0), np.nan)
        own, others = variance / n, other_variance / m
        error = own + others
        freedom = error**2 / (own**2 / (n - 1) + others**2 / (m - 1))
        p = 2 * stdtr(freedom, -np.abs(beta) / np.sqrt(error))
    return Effects(beta, np.where(known & (error > 0), p, np.nan))


def resampled(inside: np.ndarray, values: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """beta in `count` draws of the masks with replacement, the same draws for all: [count, heads, values].

    NaN in a draw in which all masks, or none, have the head.
    """
    masks = len(values)
    times = rng.multinomial(masks, np.full(masks, 1 / masks), size=count).astype(float)
    found = np.empty((count, inside.shape[1], values.shape[1]))
    for head, kept in enumerate(np.asarray(inside, dtype=float).T):
        with np.errstate(invalid="ignore", divide="ignore"):
            means = [(times * side) @ values / (times @ side)[:, None] for side in (kept, 1 - kept)]
        found[:, head] = means[0] - means[1]
    return found


def adjusted(p: np.ndarray) -> np.ndarray:
    """Benjamini and Hochberg's q over the last axes of p: heads and values. An unknown p counts as 1, and stays NaN."""
    flat = np.where(np.isnan(p), 1, p).reshape(*p.shape[:-2], -1)
    if not flat.size:
        return p
    return np.where(np.isnan(p), np.nan, false_discovery_control(flat, axis=-1).reshape(p.shape))


def counter(inside: np.ndarray, ood: np.ndarray, id_: np.ndarray) -> np.ndarray:
    """Which heads are counter-heuristic on which OOD subsets: bool [..., heads, subsets].

    Such a head raises accuracy on the subset (q over heads and subsets), and hardly touches ID accuracy.
    ood: [..., masks, subsets]. id_: [..., masks, 1].
    """
    found = effects(inside, ood)
    with np.errstate(invalid="ignore"):
        harmless = np.abs(effects(inside, id_).beta) <= ID_MARGIN
        return (found.beta > 0) & (adjusted(found.p) < LEVEL) & harmless


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
