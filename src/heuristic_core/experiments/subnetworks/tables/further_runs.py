"""Schemas of tables of further pruning runs: with heads closed, transplanted between checkpoints, and entry times."""

import pyarrow as pa

from heuristic_core.experiments.subnetworks.tables.parts import has_part
from heuristic_core.study.table import Table
from heuristic_core.tables.columns import (
    ACTUAL_SPARSITY,
    BOOL,
    CELL,
    COMPONENT,
    INT,
    REAL,
    REASON,
    RUN,
    STEP,
    STRING,
    SUBSET,
)

HEADS = pa.list_(pa.int32())
LEVEL = SUBSET | {
    "subset": (STRING, "evaluation subset; null for means and for J and AUC"),
    "group": (STRING, "id, ood or ood-entailment: with neither subset nor family the unweighted mean over subsets, "
                      "with a family the mean over its subsets; j: J, points; auc: AUC, percent"),
}  # fmt: skip
SPARSITY = {"sparsity": CELL["sparsity"]}
SEED = {"seed": (INT, "pruning seed")}
RUN_FLAGS = {
    "missed": (BOOL, "as in runs; null where the run failed"),
    "collapsed": (BOOL, "as in runs; null where the run failed"),
}

FURTHER_RUN_TABLES = {
    "core_free_runs": Table(RUN | STEP | SPARSITY | SEED | {
        "role": (STRING, "core-free (the core closed) or control (a random set of its layers closed)"),
        "set": (INT, "0: the core; from 1: the random sets"),
        "closed": (HEADS, "component indices of the closed heads; null where there is no such set"),
    } | ACTUAL_SPARSITY | RUN_FLAGS | {
        "gate_sparsity": (REAL, "as in runs"),
        "id_accuracy": (REAL, "percent, as in group_accuracy"),
        "ood_accuracy": (REAL, "percent, as in group_accuracy"),
        "entailment_accuracy": (REAL, "percent, group ood-entailment, as in group_accuracy"),
        "j": (REAL, "J, points, as in group_accuracy"),
        "mid_id_accuracy": (REAL, "mean ID accuracy of the sound mid-sparsity subnetworks with no head closed, "
                                  "percent; null without any"),
        "faithful": (BOOL, "id_accuracy is above mid_id_accuracy less analysis.margin; null where either is"),
        "sound": (BOOL, "the run neither failed nor collapsed nor missed its target: core_free has it"),
    } | REASON, "ft{ft_seed}/mechanism/core_free_runs.parquet", has_part("core_free")),
    "core_free": Table(RUN | STEP | SPARSITY | {
        "measure": (STRING, "accuracy (with J and AUC), or kl: mean KL(full model || subnetwork), nats"),
    } | LEVEL | {
        "n": (INT, "sound runs with the core closed"),
        "n_control": (INT, "random sets whose run is sound"),
        "left_out": (INT, "runs with the core closed that are not sound"),
        "left_out_control": (INT, "runs of random sets that are not sound"),
        "core_free": (REAL, "mean over runs with the core closed; percent, points or nats"),
        "control": (REAL, "mean over random sets"),
        "difference": (REAL, "core_free minus control: negative accuracy is a cost"),
        "low": (REAL, "95 % interval of difference: Welch's t of independent samples"),
        "high": (REAL, "its upper end"),
        "p_lower": (REAL, "share of sets, the core among them, whose mean over runs is at most the core's: "
                          "(1 + count) / (1 + n_control)"),
        "p_higher": (REAL, "the same with at least the core's"),
    } | REASON, "ft{ft_seed}/mechanism/core_free.parquet", has_part("core_free")),
    "packing": Table(RUN | STEP | SPARSITY | SEED | {
        "round": (INT, "from 1; round 1 closes nothing"),
        "control": (INT, "0: the heads of the subnetworks of all rounds before are closed; from 1: random heads"),
        "closed": (HEADS, "component indices of the closed heads"),
        "kept": (HEADS, "component indices of the subnetwork; null where there is none"),
        "heads": (INT, "heads among them"),
        "room": (INT, "disjoint sets of as many heads as round 1 keeps that the model has"),
        "gate_sparsity": (REAL, "as in runs; null in round 1, whose run is in runs"),
        "id_accuracy": (REAL, "percent, group id"),
        "full_id_accuracy": (REAL, "the full model's"),
        "share": (REAL, "the former in percent of the latter"),
        "faithful": (BOOL, "share is at least mechanism.core_free.recovery"),
        "reason": (STRING, "why values are null, or in what way the run missed its target sparsity; else null"),
    }, "ft{ft_seed}/mechanism/packing.parquet", has_part("core_free")),
    "transplant": Table(RUN | {
        "mask_step": (INT, "step at which the subnetwork was found; null for the full model"),
        "step": (INT, "step whose weights and means it is given"),
    } | SPARSITY | {"seed": CELL["seed"]} | LEVEL | {
        "n": (INT, "pairs"),
        "accuracy": (REAL, "percent, of group j points"),
        "log_odds": (REAL, "mean log odds of the true label, nats, clipped to +-30 for each pair; null for group j"),
    } | REASON, "ft{ft_seed}/mechanism/transplant.parquet", has_part("transplant")),
    "entry_frequency": Table(RUN | STEP | SPARSITY | COMPONENT | {
        "group": (STRING, "core, counter (on some OOD subset, by table counter_heads) or other"),
        "count": (INT, "subnetworks that keep the head"),
        "n": (INT, "subnetworks: pruning seeds whose run neither failed nor collapsed nor missed its target"),
    }, "ft{ft_seed}/mechanism/entry_frequency.parquet", has_part("entry")),
    "entry": Table(RUN | COMPONENT | {
        "group": (STRING, "as in entry_frequency"),
        "entry_step": (INT, "first of two consecutive steps at which at least 75 % of subnetworks keep the head; "
                             "null where it never enters, or where a step with fewer than 3 subnetworks decides"),
        "censored": (BOOL, "the head is in at the first step already: it entered at this step or before"),
        "half_step": (REAL, "from where on the full model's J is at least half of its last value, "
                            "interpolated between evaluations of fine-tuning"),
        "before_half": (BOOL, "entry_step is below half_step; null where half_step is, or such a step decides"),
        "rise": (REAL, "percent of subnetworks that keep the head, mean over the steps from half_step on minus mean "
                       "over the steps before; without steps with fewer than 3 subnetworks"),
    } | REASON, "ft{ft_seed}/mechanism/entry.parquet", has_part("entry")),
}  # fmt: skip
