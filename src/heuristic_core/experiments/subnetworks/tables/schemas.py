"""Tables of the experiment; importing this module registers their schemas."""

import pyarrow as pa

from heuristic_core.experiments.subnetworks.tables.further_runs import FURTHER_RUN_TABLES
from heuristic_core.experiments.subnetworks.tables.interventions import INTERVENTION_TABLES
from heuristic_core.experiments.subnetworks.tables.learned_masks import MASK_TABLES
from heuristic_core.experiments.subnetworks.tables.random_masks import RANDOM_MASK_TABLES
from heuristic_core.study.table import Table, register_tables
from heuristic_core.tables.columns import (
    ABLATION,
    ACCURACY,
    ACTUAL_SPARSITY,
    AGAINST_FULL,
    ATTENTION,
    BOOL,
    CELL,
    CHANGE,
    COMPONENT,
    EXAMPLE,
    INT,
    INTERVAL,
    LESION,
    PRETRAINING,
    REAL,
    REASON,
    RUN,
    SCORES,
    STEP,
    STRING,
    SUBSET,
    SUBSET_OR_GROUP,
)
from heuristic_core.tables.schemas import SCHEMAS

TABLES = {
    # ---- tables that jobs write, and tables that join them
    "pretraining_trace": Table(PRETRAINING | {
        "loss": (REAL, "mean loss over restored words, nats, since the row before; null at step 0"),
        "copied": (REAL, "percent of held-out masked words restored, of words that occur in the other sentence, too"),
        "other": (REAL, "percent restored of the others"),
    }, exists=lambda study: bool(study.pretraining)),
    "pretraining_attention": Table(PRETRAINING | COMPONENT | ATTENTION, exists=lambda study: bool(study.pretraining)),
    "accuracy": Table(RUN | STEP | CELL | SUBSET | ACCURACY | INTERVAL | AGAINST_FULL | REASON,
        "ft{ft_seed}/step{step}/accuracy.parquet", reported=True),
    "group_accuracy": Table(RUN | STEP | CELL | {
        "group": (STRING, "id, ood or ood-entailment: the unweighted mean over its analysed subsets; j: J, points, "
                          "-100 to 100; auc: AUC, percent (both: means over families, see family_scores)"),
        "subsets": (INT, "subsets in the mean"),
    } | ACCURACY | INTERVAL | AGAINST_FULL | REASON, "ft{ft_seed}/step{step}/group_accuracy.parquet", reported=True),
    "family_scores": Table(RUN | STEP | CELL | {
        "group": (STRING, "j: J, mean accuracy on the family's ood plus its ood-entailment subsets minus 100, points; "
                          "auc: the area under the ROC curve of the two by log odds of entailment, percent"),
        "family": SUBSET["family"],
        "subsets": (INT, "subsets of both sides"),
    } | {"n": ACCURACY["n"], "accuracy": (REAL, "value: points, -100 to 100, or percent, 0-100")} | INTERVAL | CHANGE
    | REASON, "ft{ft_seed}/step{step}/family_scores.parquet"),
    "components": Table(RUN | STEP | CELL | ACTUAL_SPARSITY | COMPONENT | {
        "kept": (BOOL, "is in the subnetwork"),
        "log_alpha": (REAL, "at the end of pruning"),
    }, "ft{ft_seed}/step{step}/components.parquet", reported=True),
    "runs": Table(RUN | STEP | CELL | ACTUAL_SPARSITY | {
        "rule": (STRING, "what decided the subnetwork: exact (k components), by-hand (a threshold of the "
                         "configuration), or the threshold_rule that chose one; null where the run failed"),
        "gate_sparsity": (REAL, "1 - mean gate, mean over the last tenth of the recorded steps of pruning"),
        "gap": (REAL, "the controller's target minus that, over the same steps"),
        "kl": (REAL, "KL(full || gated), nats, over the same steps"),
        "id_accuracy": (REAL, "percent, group id, as in group_accuracy"),
        "id_low": (REAL, "lower end of its interval"),
        "id_high": (REAL, "upper end"),
        "chance": (REAL, "percent, of always giving the most frequent label of the same subsets"),
        "missed": (BOOL, "the subnetwork or the gates are further from the target sparsity than allowed"),
        "collapsed": (BOOL, "ID accuracy is at chance, though the full model's is not"),
        "reason": (STRING, "why it is missed or collapsed, or why the run failed and values are null; else null"),
    }, "ft{ft_seed}/step{step}/runs.parquet", reported=True),
    # for published subnetworks, whose components are unknown
    "actual_sparsity": Table(RUN | STEP | CELL | ACTUAL_SPARSITY,
        archived=False),
    "finetune_accuracy": Table(RUN | STEP | SUBSET_OR_GROUP | ACCURACY | INTERVAL, "ft{ft_seed}/accuracy.parquet"),
    "chance": Table(RUN | STEP | ACCURACY | {
        "high": (REAL, "upper 95 % confidence limit of accuracy, exact, of the binomial distribution"),
        "chance": (REAL, "percent, of the class that does best where it is always given, as each subset counts it"),
        "constant": (STRING, "this class"),
        "outcome": (STRING, "learned, weak (no better than a constant class), at chance, below chance, or unclear"),
    }, "ft{ft_seed}/chance.parquet", reported=True),
    "lesions": Table(RUN | LESION | REASON,
        "ft{ft_seed}/lesion-{lesion}/heads.parquet", lambda study: bool(study.lesion)),
    "lesion_accuracy": Table(RUN | STEP | LESION | SUBSET_OR_GROUP | ACCURACY | INTERVAL,
        "ft{ft_seed}/lesion-{lesion}/accuracy.parquet", lambda study: bool(study.lesion)),
    "ablation_predictions": Table(RUN | STEP | ABLATION | {
        "draw": (INT, "of the training pairs that activations are resampled from, from 0; 0 of other kinds"),
    } | SUBSET | EXAMPLE | SCORES, "ft{ft_seed}/ablation_predictions.parquet", archived=False),
    "ablation_sets": Table(RUN | STEP | ABLATION | {
        "role": (STRING, "none, non-core or core (one head), pair, strongest (three), core-all, chosen, control; "
                         "triple, control-triple: three that half of the pairs chooses, of the core, of a random set; "
                         "all-heads, all-but-core, stable-core and all-but-stable-core; control-: the same of a random "
                         "set in place of the core"),
        "heads": (pa.list_(pa.int32()), "component indices of the ablated heads"),
        "layers": (STRING, "layer of each head, ascending, such as 0+1+1: a set's controls have the same"),
    }, "ft{ft_seed}/ablation_sets.parquet"),
    "control_predictions": Table(RUN | STEP | CELL | {
        "control": (STRING, "random (heads permuted within layers of the same seed's subnetwork) or importance"),
    } | SUBSET | EXAMPLE | SCORES, "ft{ft_seed}/control_predictions.parquet", archived=False),
    # for the model with all components ablated
    "empty_circuit": Table(RUN | STEP | SUBSET | ACCURACY,
        "ft{ft_seed}/step{circuit_step}/empty_circuit.parquet"),
    "attention": Table(RUN | STEP | COMPONENT | ATTENTION, "ft{ft_seed}/attention.parquet"),
    "overlap_heads": Table(RUN | COMPONENT | {
        "share": (REAL, "mean share of the head's attention to the repeated word before fine-tuning, as in attention"),
        "uniform": (REAL, "what uniform attention of its layer would give on the same pairs"),
        "overlap": (BOOL, "share is at least analysis.overlap_times_uniform times uniform"),
        "n": (INT, "pairs"),
    }, "ft{ft_seed}/overlap_heads.parquet"),
    # ---- tables that the analysis derives
    "effective_size": Table(RUN | STEP | {
        "group": (STRING, "id, ood, ood-entailment, j (J), auc (AUC), mixed (plain mean over ID and OOD subsets: the "
                          "authors' script) or mixed-1:1 (mean of ID and OOD: the paper's text)"),
        "criterion": (STRING, "accuracy (above the full model's minus threshold points), recovery (at least threshold "
                              "percent of it), agreement (at least threshold percent of pairs with its class) or kl "
                              "(at most threshold nats)"),
        "threshold": (REAL, "of the criterion, in its unit"),
        "order": (STRING, "per-seed (threshold, then mean), mean-first (mean, then threshold) or upward (per "
                          "seed, from dense, stopping at the first failure)"),
        "seed": (INT, "pruning seed; null for the summary over seeds"),
        "full_accuracy": (REAL, "percent, full model; of group j points; of group auc points above 50"),
        "effective_size": (REAL, "percent of components, 100 * (1 - largest faithful sparsity), interpolated between "
                                 "sparsities unless analysis.effective_size is grid; null where undefined or a bound"),
        "least": (REAL, "percent, what the size is at least: itself where it is known; where all subnetworks fail, "
                        "what the densest one keeps; 0 where the sparsest one is faithful; of a summary the mean"),
        "most": (REAL, "percent, what it is at most: itself; 100 where all fail; where the sparsest one is faithful, "
                       "what that one keeps"),
        "floor": (REAL, "percent, the smallest size that the largest sparsity of the grid can show"),
        "low": (REAL, "95 % interval, of a seed over evaluation pairs, of the mean over pruning seeds and pairs; null "
                      "for mean-first, for criteria that have no interval, and without predictions"),
        "high": (REAL, "its upper end"),
        "sd": (REAL, "standard deviation (n-1) over seeds, summary rows of per-seed orders only; null where a size is"),
        "n_seeds": (INT, "pruning seeds"),
        "reason": (STRING, "why effective_size is null; else null"),
    }),
    "circuit_performance": Table(RUN | STEP | {
        "group": (STRING, "id, ood or j (J)"),
        "seed": (INT, "pruning seed; null for the mean over seeds"),
        "full_accuracy": (REAL, "percent, full model; of group j points"),
        "empty_accuracy": (REAL, "the same of the empty circuit, all of whose components are ablated"),
        "cpr": (REAL, "circuit performance ratio, percent: the integral over the share of components kept of f, the "
                      "share of the full model's accuracy above the empty circuit's that subnetworks keep"),
        "cpr_low": (REAL, "95 % interval, of a seed over evaluation pairs, of the mean over pruning seeds and pairs"),
        "cpr_high": (REAL, "its upper end"),
        "cmd": (REAL, "circuit-model distance, percent: the integral of |1 - f|"),
        "cmd_low": (REAL, "as of cpr"),
        "cmd_high": (REAL, "its upper end"),
        "reach": (REAL, "half of the interval over evaluation pairs alone, points; of the mean over seeds their mean"),
        "n_seeds": (INT, "pruning seeds"),
        "reason": (STRING, "why cpr and cmd are null; else null"),
    }),
    **MASK_TABLES,
    **FURTHER_RUN_TABLES,
    **INTERVENTION_TABLES,
    **RANDOM_MASK_TABLES,
    "summary": Table({**RUN, "ft_seed": (INT, "fine-tuning seed; null over fine-tuning seeds")} | STEP | {
        "sparsity": CELL["sparsity"],
    } | SUBSET | {
        "over": (STRING, "pruning seeds (of one fine-tuning seed) or fine-tuning seeds (their means over these)"),
        "n": (INT, "seeds"),
        "mean": (REAL, "percent; of group j points"),
        "sd": (REAL, "standard deviation (n-1), points"),
        "min": (REAL, "percent"),
        "max": (REAL, "percent"),
        "low": (REAL, "95 % confidence interval of the mean, over seeds and the evaluation pairs that they share; null "
                      "below two, and where seeds agree anywhere but at a limit"),
        "high": (REAL, "its upper end"),
        "pair_half_width": (REAL, "half of the interval over evaluation pairs alone, points, mean over seeds"),
        "left_out": (INT, "pruning runs that failed, collapsed or missed their target, which are left out"),
    }, reported=True),
    "variance": Table(RUN | STEP | {"sparsity": CELL["sparsity"]} | SUBSET | {
        "between_sd": (REAL, "standard deviation (n-1) between pruning seeds, points"),
        "seeds": (INT, "pruning seeds"),
        "within_sd": (REAL, "root mean square difference between two runs of one seed, over sqrt 2, points"),
        "repeated": (INT, "pruning seeds that ran twice"),
        "same_masks": (INT, "of these, how many kept the same components both times; null where unknown"),
    }),
    "controls": Table(RUN | STEP | {
        "sparsity": CELL["sparsity"],
        "control": (STRING, "learned (the spread itself), random or importance"),
    } | SUBSET | {
        "n": (INT, "subnetworks"),
        "left_out": (INT, "pruning runs that failed, collapsed or missed their target, which are left out with the "
                          "random subnetworks of their shape"),
        "accuracy": (REAL, "percent, mean over subnetworks, all on the pairs that analysis.control_pairs leaves"),
        "sd": (REAL, "standard deviation (n-1), points"),
        "difference": (REAL, "points, learned minus control, mean over the same seeds"),
        "difference_low": (REAL, "95 % confidence interval, over pruning seeds and pairs"),
        "difference_high": (REAL, "its upper end"),
        "pair_half_width": (REAL, "half of the interval of difference over pairs or templates alone, points"),
    }),
    "ablations": Table(RUN | STEP | ABLATION | {
        "role": (STRING, "as in ablation_sets"),
        "size": (INT, "heads ablated"),
        "layers": (STRING, "as in ablation_sets"),
    } | SUBSET | ACCURACY | INTERVAL | {
        "change": (REAL, "points, ablated minus full; of group j in J, of group auc in AUC"),
        "change_low": (REAL, "2.5th percentile of change, paired bootstrap over pairs or templates; this and all other "
                             "ends of intervals are null for controls"),
        "change_high": (REAL, "97.5th percentile of change"),
        "interaction": (REAL, "drop of the set minus its single drops, points: positive is super-additive; null below "
                              "two heads and for controls"),
        "interaction_low": (REAL, "2.5th percentile of interaction"),
        "interaction_high": (REAL, "97.5th percentile of interaction"),
        "log_odds_change": (REAL, "mean change of the true label's log odds, nats"),
        "log_odds_interaction": (REAL, "interaction in log odds, nats"),
        "log_odds_interaction_low": (REAL, "2.5th percentile"),
        "log_odds_interaction_high": (REAL, "97.5th percentile"),
    }, reported=True),
}  # fmt: skip
# Roles triple and control-triple, on the half of the pairs that did not choose the heads.
TABLES["triples"] = TABLES["ablations"]
TABLES |= {  # with schemas of the library
    "splits": Table(SCHEMAS["splits"], reported=True),
    "prune_trace": Table(SCHEMAS["prune_trace"], "ft{ft_seed}/step{step}/prune_trace.parquet"),
    "finetune_trace": Table(SCHEMAS["finetune_trace"], "ft{ft_seed}/trace.parquet"),
    "attention_maps": Table(SCHEMAS["attention_maps"], "ft{ft_seed}/attention_maps.parquet"),
}
register_tables(TABLES)
