"""Groups of columns shared by the schemas of several tables: name -> type, and description with unit."""

import pyarrow as pa

STRING, INT, REAL, BOOL = pa.string(), pa.int32(), pa.float64(), pa.bool_()

RUN = {
    "study": (STRING, "name of the study"),
    "model": (STRING, "name of the model"),
    "task": (STRING, "name of the task"),
    "ft_seed": (INT, "fine-tuning seed"),
}
STEP = {"step": (INT, "fine-tuning step of the checkpoint")}
CELL = {
    "sparsity": (REAL, "target share of components removed; 0 for the full model"),
    "seed": (INT, "pruning seed; null for the full model"),
    "repeat": (INT, "0; runs of the same seed and sparsity again count from 1"),
}
SUBSET = {
    "subset": (STRING, "evaluation subset"),
    "group": (STRING, "id, ood (out-of-domain) or ood-entailment (its entailment class)"),
    "family": (STRING, "lexical_overlap, subsequence, constituent, or null"),
}
SUBSET_OR_GROUP = SUBSET | {
    "subset": (STRING, "evaluation subset; null: the mean over the group's subsets, J or AUC, as in group_accuracy"),
    "group": (STRING, "id, ood (out-of-domain) or ood-entailment (its entailment class); j: OOD + entailment - 100, "
                      "points; auc: the area under the ROC curve of these two by log odds of entailment, percent"),
}  # fmt: skip
ABLATION = {
    "kind": (STRING, "what takes the heads' place: mean, zero, resample or counterfactual"),
    "ablation": (STRING, "name of the ablated set; none: the full model"),
}
LESION = {
    "lesion": (STRING, "which heads were taken out before fine-tuning: overlap, or random1, random2, ..."),
    "heads": (pa.list_(pa.int32()), "their component indices; none where there is no such set"),
    "size": (INT, "their number"),
}
COMPONENT = {
    "component": (INT, "index: heads layer by layer, then MLPs"),
    "name": (STRING, "layer.head, or mlp layer"),
    "kind": (STRING, "head or mlp"),
    "layer": (INT, "from 0"),
    "head": (INT, "from 0; null for an MLP"),
}
ACCURACY = {"n": (INT, "pairs; null where unknown"), "accuracy": (REAL, "percent correct, 0-100")}
INTERVAL = {
    "low": (REAL, "2.5th percentile of accuracy, bootstrap over units; null without predictions"),
    "high": (REAL, "97.5th percentile of accuracy"),
    "unit": (
        STRING,
        "what the bootstrap draws: template, where a subset has several; example of one template, where it "
        "has one: the interval says nothing of others; example, where none is known; null without",
    ),
    "units": (INT, "how many of them"),
}
CHANGE = {
    "change": (REAL, "points, this model minus the full model of the same checkpoint"),
    "change_low": (REAL, "2.5th percentile of change, paired bootstrap: the same draws for both models"),
    "change_high": (REAL, "97.5th percentile of change"),
}
AGAINST_FULL = CHANGE | {
    "agreement": (REAL, "percent of pairs with the full model's class"),
    "kl": (REAL, "mean KL(full model || this model), nats"),
}
SCORES = {
    "prediction": (INT, "the model's class: argmax of the logits"),
    "correct": (BOOL, "the predicted class, merged into the subset's labels, is the true label"),
    "correct_merged": (BOOL, "the label with most probability, its classes' probabilities added up, is the true one"),
    "log_odds": (pa.float32(), "log p / (1 - p) of the true label, p its classes' probabilities added up"),
    "logits": (pa.list_(pa.float32()), "one per class of the model"),
}
EXAMPLE = {
    "example": (INT, "index of the pair within the pairs evaluated"),
    "template": (STRING, "the rule or template that made the pair, or null"),
    "label": (INT, "true label, in the label space of the subset"),
}
ATTENTION = {
    "category": (STRING, "repeated, previous, next, separator, first, self or other"),
    "share": (REAL, "mean share of the head's attention over query words and pairs, 0-1"),
    "n": (INT, "pairs"),
}
PRETRAINING = {name: RUN[name] for name in ("study", "model", "task")} | {
    "pretraining_step": (INT, "step of pre-training"),
}
ACTUAL_SPARSITY = {"actual_sparsity": (REAL, "share of components removed")}
REASON = {"reason": (STRING, "why values are null; else null")}
