"""Tables of the experiment."""

import pyarrow as pa

from heuristic_core.study.table import Table, register_tables
from heuristic_core.tables.columns import BOOL, INT, REAL, REASON, STRING

CONDITION = {"study": (STRING, "name of the study"), "condition": (STRING, "name of the condition")}
RUN = CONDITION | {"seed": (INT, "training seed")}
STEP = {"step": (INT, "training step of the checkpoint; 0: first weights")}
HEAD = {"head": (INT, "from 0")}
SCORES = {
    "loss": (REAL, "cross-entropy of a sorted number, nats"),
    "token_accuracy": (REAL, "share of sorted numbers whose highest logit is right, 0-1"),
    "list_accuracy": (REAL, "share of lists all of whose sorted numbers are right, 0-1"),
    "entropy": (REAL, "of the distribution over tokens, nats"),
    "confidence": (REAL, "highest probability, mean, 0-1"),
    "calibration_error": (REAL, "expected calibration error over bins of the highest probability, 0-1"),
}
KEPT = {
    "kept": (STRING, "its halves of heads, such as qk0+ov1; empty: none; null where reason is given"),
}
KL = {"kl": (REAL, "KL(full model || subset) of a sorted number, nats")}
POINT = {
    "point": (STRING, "start or end"),
    "step": (REAL, "geometric mean over seeds; null where no seed has it"),
    "low": (REAL, "95 % interval: bootstrap over seeds, at least the gap between measured steps"),
    "high": (REAL, "its upper end"),
    "seeds": (INT, "seeds that have it"),
    "of": (INT, "seeds"),
}
# Columns of "sorting_models" that are 1 at most.
SHARES = {"token_accuracy", "list_accuracy", "calibration_error", "overlap", "splitting", "folded_opposite_sign"}


def measure_limits(measure: str) -> tuple[float, float]:
    """Return the smallest and the largest possible value of a measure in table "sorting_models"."""
    return 0.0, 1.0 if measure in SHARES else float("inf")


def _is_pruned(study) -> bool:
    return bool(study.pruned_conditions)


TABLES = {
    "sorting_conditions": Table(CONDITION | {
        "numbers": (INT, "numbers that a list can have"),
        "length": (INT, "numbers of a list"),
        "mean_gap": (REAL, "mean difference between neighbours of sorted held-out lists"),
        "nominal_gap": (REAL, "the mean gap that lists are drawn for: (width of their window + 1) / (length + 1)"),
        "heads": (INT, "heads of the model"),
        "positions": (BOOL, "learned embeddings of positions"),
        "layer_norm": (BOOL, "LayerNorm before attention and before the unembedding"),
        "biases": (BOOL, "biases of attention, unembedding and LayerNorms"),
        "optimiser": (STRING, "adam-l2, adamw or adam"),
        "weight_decay": (REAL, "0 without"),
        "steps": (INT, "training steps"),
        "but_decay": (STRING, "digest of all settings that make a model, but for optimiser and weight decay"),
        "but_data": (STRING, "the same but for the data"),
    }, "{condition}/conditions.parquet"),
    "sorting_trace": Table(RUN | STEP | {"loss": (REAL, "training loss, mean since the checkpoint before, nats")},
        "{condition}/trace.parquet"),
    "sorting_models": Table(RUN | STEP | SCORES | {
        "overlap": (REAL, "sum over numbers of the smaller of two heads' positive effects where the number is next, "
                          "over the sum of the larger; mean over pairs of heads; null of one head"),
        "splitting": (REAL, "information that a number has about which head copies it, over its maximum, 0-1: 1 where "
                            "heads copy different numbers and equally many; null of one head"),
        "suppression": (REAL, "sum of negative effects (absolute) over the sum of positive ones, over heads and "
                              "numbers, where another number is next; null without positive effects"),
        "suppression_of_next": (REAL, "the same where the number is next"),
        "attention_similarity": (REAL, "1 minus the total variation between two heads' attention, 0-1, mean over "
                                       "pairs; null of one head"),
        "folded_overlap": (REAL, "overlap of D in place of effects; D_h(k) is OV_h[k, k] less the mean of row k"),
        "folded_both_copy": (REAL, "share of numbers with positive D in both heads, 0-1"),
        "folded_opposite_sign": (REAL, "share of numbers with positive D in one head and negative D in the other, 0-1"),
        "weight_norm": (REAL, "Euclidean norm of all weights"),
        "lists": (INT, "held-out lists behind the scores"),
    }, "{condition}/models.parquet"),
    "sorting_heads": Table(RUN | STEP | HEAD | {
        "copying": (REAL, "what the head adds to the number that is next, mean over numbers, logits"),
        "suppression": (REAL, "what it takes from numbers where another one is next, mean over numbers, logits"),
        "copied_share": (REAL, "share of numbers that it copies, 0-1"),
        "suppressed_share": (REAL, "share of numbers that it suppresses, 0-1"),
        "ranges": (INT, "runs of neighbouring numbers that it copies"),
        "qk_rank": (REAL, "effective rank of the folded QK matrix, rows centred"),
        "ov_rank": (REAL, "of the folded OV matrix"),
        "attention_error": (REAL, "total variation between the folded matrix's attention and the model's, 0-1"),
        "written_error": (REAL, "share of the variance that the head writes to the logits that folded OV misses"),
        "agreement": (REAL, "share of numbers for which the head raises the same number most by folded OV as by what "
                            "it writes to the logits of held-out lists, 0-1"),
        "sign_agreement": (REAL, "share of numbers whose D has the sign of the effect where they are next, 0-1"),
        "other_sign_agreement": (REAL, "the same where another one is next"),
    }, "{condition}/heads.parquet"),
    "sorting_numbers": Table(RUN | STEP | HEAD | {
        "number": (INT, "the number attended to"),
        "d": (REAL, "D_h(k), logits"),
        "copies": (BOOL, "whether the head raises the number where it is next: effect above 2 standard errors"),
        "suppresses": (BOOL, "whether it lowers the number where another one is next: other_effect below -2 errors"),
        "effect": (REAL, "how much the number's logit, relative to the mean over numbers, falls where it is next if "
                         "the head does not read it in the list; mean over held-out lists"),
        "effect_error": (REAL, "standard error of the effect, over lists"),
        "attention": (REAL, "the head's attention to the number where it is next, 0-1"),
        "other_effect": (REAL, "effect where another number is next, mean over positions and lists"),
        "other_effect_error": (REAL, "its standard error, over lists"),
        "other_attention": (REAL, "the head's attention to the number where another one is next, 0-1"),
    }, "{condition}/numbers.parquet"),
    "sorting_matrices": Table(RUN | STEP | HEAD | {
        "circuit": (STRING, "qk: scores of a query token for a key token; ov: logits that attending to a token adds"),
        "row": (INT, "token: query (qk), attended to (ov); the last is the separator"),
        "values": (pa.list_(pa.float32()), "one for each token of the column"),
    }, "{condition}/matrices.parquet"),
    "sorting_distance": Table(RUN | STEP | HEAD | {
        "keys": (STRING, "list or sorted: where the key is"),
        "distance": (INT, "number of the key less number of the query"),
        "attention": (REAL, "mean share of attention, 0-1; null where no pair has this distance"),
        "pairs": (INT, "pairs of a query and a key"),
    }, "{condition}/distance.parquet"),
    "sorting_ablations": Table(RUN | STEP | {
        "kind": (STRING, "what takes the heads' place: zero, mean (over training lists, of each position) or resample "
                          "(another list); none: the whole model"),
        "ablated": (STRING, "the heads, such as 0 or 0+1; empty: none"),
    } | SCORES, "{condition}/ablations.parquet"),
    "sorting_mode_ablations": Table(RUN | STEP | {
        "mode": (STRING, "copying: values of the numbers that a head copies are replaced where they are next; "
                         "suppression: of those that it suppresses, where another number is next"),
        "kind": (STRING, "what takes the values' place: zero, mean (over training lists, of each position) or resample "
                          "(another list)"),
        "ablated": (STRING, "the heads, such as 0 or 0+1"),
        "replaced": (INT, "numbers whose values are replaced, added up over these heads"),
    } | SCORES, "{condition}/mode_ablations.parquet"),
    "sorting_llc": Table(RUN | STEP | {
        "estimator": (STRING, "raw, scaled (weights in units of their tensor's size) or tilted (scaled, without the "
                              "loss's linear term at w0)"),
        "start_loss": (REAL, "loss at w0, nats"),
        "slide": (REAL, "what the linear term of a loss without curvature takes from an LLC that is not tilted"),
        "value": (REAL, "local learning coefficient; null where a check fails"),
        "standard_error": (REAL, "over chains"),
        "distance": (REAL, "root mean square distance from w0 of the farthest chain, prior radii"),
        "displacement": (REAL, "the same in norms of w0"),
        "drift": (REAL, "second half less first half of the chain with the largest"),
        "r_hat": (REAL, "split R-hat over chains"),
        "step_effect": (REAL, "value at half the step size less value"),
        "local": (BOOL, "chains stay near w0"),
        "converged": (BOOL, "halves and chains agree"),
        "stable": (BOOL, "half the step size gives the same; null where not asked"),
        "level": (BOOL, "the linear term takes no more than the value is; null of tilted"),
        "chains": (INT, "chains"),
        "diverged": (INT, "chains that diverged"),
    } | REASON, "{sampled_checkpoint}.parquet", lambda study: any(map(study.sampled_steps, study.conditions))),
    "sorting_subsets": Table(RUN | STEP | KEPT | {
        "halves": (INT, "halves that the subset keeps"),
        "heads": (INT, "heads of which it keeps a half or both"),
    } | SCORES | KL | REASON, "{pruned_condition}/subsets.parquet", _is_pruned),
    "sorting_masks": Table(RUN | STEP | {
        "prune_seed": (INT, "pruning seed"),
        "sparsity": (REAL, "target share of halves removed"),
        "sampled_sparsity": (REAL, "of the gates, mean over the last tenth of recorded steps"),
    } | KEPT | SCORES | KL | {
        "best": (STRING, "of all subsets of as many halves that with the lowest KL"),
        "rank": (INT, "of the learned subset by KL among them, from 1"),
        "of": (INT, "how many they are"),
    } | REASON, "{pruned_condition}/masks.parquet", _is_pruned),
    "sorting_sizes": Table(RUN | STEP | {
        "unit": (STRING, "what is counted: half, or head, where subsets have both halves of a head or none"),
        "criterion": (STRING, "when a subset is faithful: accuracy or kl"),
        "threshold": (REAL, "points of token accuracy, or nats"),
        "effective_size": (REAL, "percent of halves or heads that the smallest faithful subset keeps, 0-100"),
    } | KEPT | REASON, exists=_is_pruned),
    "sorting_core": Table(RUN | STEP | HEAD | {
        "half": (STRING, "qk or ov"),
        "kept_by": (INT, "pruning seeds whose subset keeps it"),
        "of": (INT, "pruning seeds with a subset"),
        "core": (BOOL, "whether all of them keep it; null where there are none"),
        "copying": (REAL, "of the head, as in sorting_heads"),
        "suppression": (REAL, "of the head"),
    } | REASON, exists=_is_pruned),
    "sorting_stages": Table(CONDITION | {
        "stage": (STRING, "initial learning, head overlap or specialisation"),
    } | POINT | REASON),
    "sorting_seed_stages": Table(RUN | {
        "stage": (STRING, "as of sorting_stages"),
        "start": (REAL, "measured step; null where the model has no such stage"),
        "end": (REAL, "measured step"),
    } | REASON),
    "sorting_changes": Table(CONDITION | {
        "curve": (STRING, "loss, overlap or llc with its estimator"),
        "run": (STRING, "fall or rise: the largest of the curve"),
    } | POINT | REASON),
    "sorting_movements": Table(CONDITION | {
        "curve": (STRING, "loss, overlap or llc with its estimator"),
        "stage": (STRING, "as of sorting_stages"),
        "seeds": (INT, "seeds that have the stage and both values"),
        "of": (INT, "seeds"),
        "change": (REAL, "value at the stage's end less value at its start, mean over seeds"),
        "low": (REAL, "95 % interval over seeds"),
        "high": (REAL, "its upper end"),
        "direction": (STRING, "rises, falls or not clear"),
    } | REASON),
}  # fmt: skip
register_tables(TABLES)
