"""Schemas of the tables of random masks, and of interpolation between two learned subnetworks."""

import pyarrow as pa

from heuristic_core.experiments.subnetworks.tables.parts import has_part
from heuristic_core.study.table import Table
from heuristic_core.tables.columns import (
    ACCURACY,
    BOOL,
    CHANGE,
    COMPONENT,
    INT,
    INTERVAL,
    REAL,
    REASON,
    RUN,
    STEP,
    STRING,
)

VALUE_COLUMNS = {
    "subset": (STRING, "evaluation subset; null of means over subsets"),
    "group": (STRING, "id, ood or ood-entailment, without a subset the unweighted mean over its subsets; j: J"),
    "family": (STRING, "of the subset, or the family that a mean or J is of; null otherwise"),
}
RANDOM_MASK_TABLES = {
    "random_masks": Table(RUN | STEP | {
        "kind": (STRING, "random (the core and random heads) or learned (a sound mid-sparsity subnetwork)"),
        "mask": (INT, "of random ones their number, from 0; of learned ones the pruning seed"),
        "heads": (pa.list_(pa.int32()), "component indices of its heads that are not in the core"),
        "mlps": (pa.list_(pa.int32()), "component indices of its MLPs"),
    } | VALUE_COLUMNS | {"n": ACCURACY["n"], "accuracy": (REAL, "percent; of group j points, -100 to 100")},
        "ft{ft_seed}/mechanism/random_masks.parquet", has_part("masks")),
    "counter_heads": Table(RUN | STEP | COMPONENT | VALUE_COLUMNS | {
        "included": (INT, "random masks with the head"),
        "excluded": (INT, "random masks without it"),
        "beta": (REAL, "points of accuracy (or J) by which masks with the head exceed masks without it: least squares "
                       "on all heads"),
        "low": (REAL, "2.5th percentile of beta, bootstrap over masks; null where a value does not vary"),
        "high": (REAL, "97.5th percentile"),
        "p": (REAL, "two-sided t test with robust errors (HC3); null where beta or its error is unknown"),
        "q": (REAL, "p adjusted for the false discovery rate (Benjamini and Hochberg) over all heads and all values of "
                    "one kind: all subsets of a group, all its families, or its mean alone"),
        "counter": (BOOL, "counter-heuristic on this OOD subset: beta above 0, q below 0.05, the 90 % t interval of "
                          "the head's effect on ID accuracy within 1 point of 0, and the 95 % t interval of its effect "
                          "on J above 0; null on other values, and in a study without J"),
    } | REASON, "ft{ft_seed}/mechanism/counter_heads.parquet", has_part("masks")),
    "mask_fit": Table(RUN | STEP | VALUE_COLUMNS | {
        "masks": (STRING, "what is predicted: learned subnetworks, from all random masks; or random, each half of the "
                          "random masks from the other half"),
        "n": (INT, "masks predicted"),
        "heads": (INT, "heads of the additive model, which has an intercept, too"),
        "sd": (REAL, "standard deviation (n-1) of what is predicted, points"),
        "error": (REAL, "root mean square error, points"),
        "r2": (REAL, "1 - squared errors over squared deviations from the mean; below 0 where the mean is nearer"),
        "rho": (REAL, "Spearman's, predicted against observed"),
    } | REASON, "ft{ft_seed}/mechanism/mask_fit.parquet", has_part("masks")),
    "mask_tests": Table(RUN | STEP | {
        "test": (STRING, "counter: heads x OOD subsets that are counter-heuristic; profile: variance over OOD subsets "
                         "of a head's beta, which floors and ceilings of accuracy make, too; opposite: heads that "
                         "raise one OOD subset and lower another one"),
        "observed": (REAL, "number (counter, opposite: heads); of profile points squared, mean over heads"),
        "expected": (REAL, "mean over permutations; null of opposite"),
        "p": (REAL, "share of permutations with at least as much, (1 + count) / (1 + draws); of opposite the adjusted "
                    "p (union of intersections, Bonferroni)"),
        "p_below": (REAL, "share with at most as much; null of opposite"),
        "masks": (INT, "random masks"),
        "draws": (INT, "permutations of what masks score; null of opposite"),
    } | REASON, "ft{ft_seed}/mechanism/mask_tests.parquet", has_part("masks")),
    "interpolation": Table(RUN | STEP | {
        "measure": (STRING, "group that H, M and steps are chosen by: j, or ood in a study without J"),
        "heuristic": (INT, "pruning seed of H, the mid-sparsity subnetwork with the lowest measure"),
        "generalising": (INT, "pruning seed of M, the one with the highest"),
        "role": (STRING, "H; M; path: a step of the greedy path from H to M; with: H and one component of M; without: "
                         "M but for one component that H lacks"),
        "place": (INT, "of H and of steps of the path: changes since H"),
        "added": (BOOL, "whether the component was added; else it was removed; null of H and M"),
    } | COMPONENT | VALUE_COLUMNS | {
        "n": ACCURACY["n"],
        "accuracy": (REAL, "percent, on the half of the pairs that chose nothing; of group j points, -100 to 100"),
    } | INTERVAL | {
        "against": (STRING, "what change is from: H, or M where the role is M or without"),
    } | {name: (kind, text.replace("the full model of the same checkpoint", "H or M"))
         for name, (kind, text) in CHANGE.items()} | REASON,
             "ft{ft_seed}/mechanism/interpolation.parquet", has_part("interpolation")),
}  # fmt: skip
