"""Schemas of tables derived from masks: the heads that subnetworks keep and share."""

from heuristic_core.study.table import Table
from heuristic_core.tables.columns import BOOL, CELL, COMPONENT, INT, REAL, REASON, RUN, STEP, STRING

MASK_TABLES = {
    "head_frequency": Table(RUN | STEP | CELL | COMPONENT | {
        "count": (INT, "subnetworks that keep the component"),
        "n": (INT, "subnetworks"),
    }),
    "core": Table(RUN | COMPONENT | {
        "mid": (INT, "how many mid-sparsity subnetworks of the last checkpoint keep it"),
        "high": (INT, "how many high-sparsity subnetworks of the last checkpoint keep it"),
        "early": (INT, "how many early subnetworks keep it; null without early"),
        "n_mid": (INT, "mid-sparsity subnetworks of the last checkpoint whose run did not fail"),
        "n_high": (INT, "high-sparsity ones"),
        "n_early": (INT, "early ones; null without early"),
        "in_core": (BOOL, "a head in every mid- and high-sparsity subnetwork"),
        "seed_share": (REAL, "share of pruning seeds all of whose mid- and high-sparsity subnetworks keep it, 0-1"),
        "seed_share_low": (REAL, "Wilson's 95 % interval over pruning seeds"),
        "seed_share_high": (REAL, "its upper end"),
        "in_stable_core": (BOOL, "a head that at least `least` seeds keep, as in stable_core"),
    }, "ft{ft_seed}/core.parquet", reported=True),
    "stable_core": Table(RUN | {
        "n": (INT, "mid- and high-sparsity subnetworks of the last checkpoint whose run did not fail"),
        "seeds": (INT, "their pruning seeds; a seed keeps a head that all of its subnetworks keep"),
        "heads": (INT, "heads of the model"),
        "kept": (REAL, "heads that a seed keeps, mean over seeds"),
        "least": (INT, "how many seeds at least must keep a head: the fewest that at most 0.5 heads reach by chance; "
                       "null where more than that are expected in all seeds"),
        "observed": (INT, "heads that at least so many seeds keep: the stable core"),
        "expected": (REAL, "the same by chance, heads permuted within layers, exactly; without `least` in all seeds"),
        "bound": (REAL, "kept^2 / ((2 pi - 1) heads), pi = least / seeds: Meinshausen and Bühlmann's bound of heads "
                        "selected wrongly; null where pi is not above 1/2"),
        "p": (REAL, "share of permutations within layers with at least `observed` heads, (1 + count) / (1 + draws)"),
        "p_fewer": (REAL, "the same with at most as many"),
        "permutations": (INT, "draws"),
    } | REASON, "ft{ft_seed}/stable_core.parquet"),
    "core_null": Table(RUN | {
        "set": (STRING, "high, mid, mid+high, early or early+mid+high: the heads kept by all these subnetworks"),
        "n": (INT, "subnetworks"),
        "seeds": (INT, "pruning seeds: heads are permuted in what all subnetworks of a seed keep"),
        "observed": (INT, "heads kept by all; null where only the paper's masks would tell"),
        "expected": (REAL, "mean over permutations of heads within layers; null without masks, as p"),
        "expected_over_all": (REAL, "the paper's: heads times the product over subnetworks of 1 - target sparsity"),
        "p": (REAL, "share of permutations with at least as many, (1 + count) / (1 + permutations)"),
        "overlap": (REAL, "heads that two seeds share, mean over pairs of seeds; null without masks"),
        "expected_overlap": (REAL, "mean over permutations"),
        "p_fewer": (REAL, "share of permutations with at most this overlap"),
        "permutations": (INT, "draws"),
    }, "ft{ft_seed}/core_null.parquet", reported=True),
    "core_seeds": Table(RUN | {
        "set": (STRING, "high, mid or mid+high"),
        "seeds": (INT, "pruning seeds whose subnetworks are compared"),
        "heads": (REAL, "heads kept by all of them, mean over choices of this number of seeds"),
        "sd": (REAL, "standard deviation over these choices"),
        "expected": (REAL, "the same under permutation of heads within layers"),
        "choices": (INT, "choices of seeds averaged over"),
    }),
    "mask_clusters": Table(RUN | {
        "set": (STRING, "mid, high or early: the masks of these subnetworks are compared in pairs"),
        "seeds": (INT, "pruning seeds"),
        "variance": (REAL, "of the number of heads that two seeds share, over pairs of seeds"),
        "expected": (REAL, "mean over swaps that keep each seed's heads in every layer and each head's frequency"),
        "p": (REAL, "share of swaps with at least this variance, (1 + count) / (1 + draws): clusters"),
        "p_below": (REAL, "share with at most this variance: more even than chance"),
        "draws": (INT, "random swaps"),
    }),
    "rank_correlation": Table(RUN | STEP | {
        "seeds": (STRING, "shared: all seeds at both sparsities; disjoint: one half of them at mid, the other at high, "
                          "mean over splits (all, or 1,000 random ones where there are more)"),
        "rho": (REAL, "Spearman's, head frequency at mid against high sparsity, over heads"),
        "low": (REAL, "2.5th percentile over bootstrap draws of heads"),
        "high": (REAL, "97.5th percentile"),
        "n": (INT, "heads"),
    }),
    "frequency_agreement": Table(RUN | STEP | {
        "seeds": (INT, "pruning seeds of each half: one half at mid, the other at high sparsity, mean over splits"),
        "n": (INT, "heads"),
        "rho": (REAL, "Spearman's, head frequency at mid against high sparsity, of ranks within layers"),
        "reliability_mid": (REAL, "the same between the halves at mid sparsity"),
        "reliability_high": (REAL, "the same at high sparsity"),
        "corrected": (REAL, "rho over the root of both reliabilities, what ever more seeds would give; capped at 1, "
                            "which chance can exceed; null where a reliability is not above 0"),
        "p": (REAL, "share of permutations of heads within layers with at least this rho, (1 + count) / (1 + draws)"),
        "p_below": (REAL, "share with at most this rho"),
    }),
}  # fmt: skip
