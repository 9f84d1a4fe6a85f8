"""Tests by draws of what chance gives: permutations, random sets of heads, surrogates."""

import math

import numpy as np
import pandas as pd

PERMUTATIONS = 10_000
TIE_TOLERANCE = 1e-9  # draws that differ by less from what is observed are equal to it


def tail_p_values(drawn: np.ndarray, observed: float) -> tuple[float, float]:
    """The p of both tails: the shares of draws that are at least, and at most, as large as what is observed.

    drawn: [draws]. The observed value counts as a draw, too: (1 + count) / (1 + draws).
    """
    counts = (drawn >= observed - TIE_TOLERANCE).sum(), (drawn <= observed + TIE_TOLERANCE).sum()
    more, fewer = ((1 + int(count)) / (1 + len(drawn)) for count in counts)
    return more, fewer


def draw_random_heads(heads: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
    """Sums of `value` over random heads, with as many heads in each layer as the core has: [PERMUTATIONS].

    heads: columns layer, in_core (bool) and value, a row for each head. Heads of the core are drawn, too.
    """
    sums = np.zeros(PERMUTATIONS)
    for _, layer in heads.groupby("layer"):
        values = np.tile(layer["value"].to_numpy(), (PERMUTATIONS, 1))
        sums += rng.permuted(values, axis=1)[:, : layer["in_core"].sum()].sum(axis=1)
    return sums


def layer_randomisation_test(heads: pd.DataFrame, rng: np.random.Generator) -> tuple[float, float, float]:
    """The p of both tails of the core's sum of `value` among random heads of its layers, and the smallest p possible.

    heads: as of :func:`draw_random_heads`. No p is below one in the number of sets that there are.
    """
    sets = np.prod([math.comb(len(layer), int(layer["in_core"].sum())) for _, layer in heads.groupby("layer")])
    attainable = 1 / float(sets)
    p_values = tail_p_values(draw_random_heads(heads, rng), heads.loc[heads["in_core"], "value"].sum())
    more, fewer = (max(p, attainable) for p in p_values)
    return more, fewer, attainable


def draw_shared_counts(masks: np.ndarray, permutations: int, rng: np.random.Generator) -> np.ndarray:
    """How many heads all masks share once heads are permuted within layers: int, one for each permutation.

    masks: bool, subnetworks x layers x heads.
    """
    # A permuted layer is a uniformly random set of its k heads. Of the heads shared so far it hits a
    # hypergeometric number, and which ones does not matter, as the next mask is uniform again. So the counts
    # alone are drawn: the distribution of permuting every mask, without building a single one.
    heads = masks.shape[2]
    shared = np.full((permutations, masks.shape[1]), heads)
    for kept_per_layer in masks.sum(axis=2):
        shared = rng.hypergeometric(shared, heads - shared, kept_per_layer)
    return shared.sum(axis=1)


def compute_overlap(masks: np.ndarray) -> float:
    """How many heads two masks share, mean over pairs of masks; 0 for a single mask.

    masks: bool, subnetworks x layers x heads.
    """
    pairs = len(masks) * (len(masks) - 1) / 2
    counts = masks.sum(axis=0)
    return float((counts * (counts - 1)).sum() / 2 / max(pairs, 1))


def draw_overlaps(masks: np.ndarray, permutations: int, rng: np.random.Generator) -> np.ndarray:
    """The overlap of masks (:func:`compute_overlap`) once heads are permuted within layers: [permutations]."""
    return np.array([compute_overlap(rng.permuted(masks, axis=2)) for _ in range(permutations)])
