"""Schemas of the Parquet tables on data, training and records. Experiments add their own to `SCHEMAS`.

Tables are tidy: one row per observation, identity columns first. The meaning and unit of every column are in the file's
metadata (``pyarrow.parquet.read_schema(file).field(name).metadata``). Accuracies are in percent, 0-100. A missing or
undefined value is null.
"""

import pyarrow as pa

from heuristic_core.tables.columns import BOOL, CELL, COMPONENT, EXAMPLE, INT, REAL, RUN, SCORES, STEP, STRING, SUBSET

SCHEMAS = {
    "sentences": {
        "subset": (STRING, "evaluation subset, or train"),
        "group": (STRING, "id, ood or ood-entailment; null in training sets"),
        "family": (STRING, "lexical_overlap, subsequence, constituent, or null"),
        "template": (STRING, "the rule or template that made the pair, or null"),
        "sentence1": (STRING, "premise, or first question"),
        "sentence2": (STRING, "hypothesis, or second question; null in a task of single sentences"),
        "target_start": (INT, "first character of the classified word in sentence1; null without a target"),
        "target_end": (INT, "the character after the last one of this word"),
        "label": (INT, "true label, in the label space of the subset"),
    },
    "splits": {
        "set": (STRING, "train, or the evaluation set's key in the configuration; of a generated task the subset"),
        "subset": (STRING, "evaluation subset, or train; null for rows of the set's files that belong to no subset"),
        "group": (STRING, "id, ood or ood-entailment; null for training, and where no row is used"),
        "source": (STRING, "file or hub repository, as the configuration names it; generated"),
        "rows": (INT, "rows of the files: those used, and those left out for one of the reasons that follow"),
        "torn": (INT, "left out: lines with other fields than the header; of no subset where a column has these"),
        "not_chosen": (INT, "left out: rows that do not fit `where`; of no subset where a column has these"),
        "other_label": (INT, "left out: of another label than `only_label`; of no subset where a column has these"),
        "unlabelled": (INT, "left out: rows without a label"),
        "overlapping": (INT, "left out: training pairs that an evaluation set has (drop_overlap)"),
        "not_drawn": (INT, "left out: pairs beyond the sample that train_pairs or pairs asks for"),
        "used": (INT, "pairs used"),
        "duplicates": (INT, "pairs used that repeat another one of the set, but for case, space and how Unicode writes "
                            "them; null where none is used"),
        "in_training": (INT, "pairs used that stand in training, too, as above; null for training"),
        "in_training_same_label": (INT, "of these, the pairs that have the same label there"),
        "in_training_swapped": (INT, "pairs used whose two sentences stand in training in the other order"),
        "truncated": (INT, "pairs used that are longer than max_length and lose the end of a sentence"),
        "truncated_share": (REAL, "their share of the pairs used, 0-1; null where none is used"),
        "unknown_share": (REAL, "share of the tokens of the pairs used, special ones apart, that the tokenizer does "
                                "not know, 0-1; null where none is used"),
    },
    "predictions": RUN | STEP | CELL | SUBSET | EXAMPLE | SCORES,
    "finetune_predictions": RUN | STEP | SUBSET | EXAMPLE | SCORES,
    "finetune_trace": RUN | STEP | {
        "loss": (REAL, "mean training loss, nats, since the row before"),
        "learning_rate": (REAL, "at this step"),
    },
    "prune_trace": RUN | STEP | CELL | {
        "prune_step": (INT, "step of pruning"),
        "kl": (REAL, "KL(full || gated), nats, mean over the batch"),
        "sampled_sparsity": (REAL, "1 - mean gate in this step"),
        "target_sparsity": (REAL, "the controller's target in this step"),
        "lambda_1": (REAL, "multiplier of the linear gap"),
        "lambda_2": (REAL, "multiplier of the squared gap"),
        "log_alpha": (REAL, "mean over components"),
    },
    "attention_maps": RUN | STEP | COMPONENT | {
        "pair": (INT, "example pair, from 0"),
        "query": (INT, "position of the asking token"),
        "key": (INT, "position of the attended token"),
        "query_token": (STRING, "its text"),
        "key_token": (STRING, "its text"),
        "sentence": (INT, "0 or 1: the sentence of the asking token; null for special tokens"),
        "key_sentence": (INT, "of the attended token; null for special tokens"),
        "category": (STRING, "what the attended token is to the asking one, as in attention; null if that is special"),
        "probability": (REAL, "attention, 0-1"),
    },
    "claims": {**RUN, "ft_seed": (INT, "fine-tuning seed; null for the study as a whole")} | {
        "claim": (STRING, "its name in claims.yaml"),
        "sentence": (STRING, "what is claimed"),
        "paper": (STRING, "where the paper says it"),
        "family": (STRING, "claims whose p are adjusted together; null of a check"),
        "verdict": (STRING, "supported, contradicted, not clear, too few, failed runs, not run or does not apply"),
        "estimate": (REAL, "value of the statistic, of a test p of its tail; null if it cannot be computed. Of several "
                           "fine-tuning seeds the mean, of tests twice the mean p"),
        "low": (REAL, "95 % interval, null where there is none; of several fine-tuning seeds Student's t over them "
                       "and evaluation pairs, of the one pre-trained model that they start from"),
        "high": (REAL, "its upper end"),
        "opposite": (REAL, "of a test the p of the other tail; null of others and of two-sided tests"),
        "p": (REAL, "two-sided; of an interval that of Student's t with this interval. Null of a count"),
        "p_holm": (REAL, "the same, adjusted for the claims of its family (Holm); null of a check"),
        "threshold": (STRING, "what the statistic must be, such as > 20"),
        "n": (INT, "units of the interval"),
        "unit": (STRING, "what the interval is over"),
        "detail": (STRING, "the numbers behind it, or why there is none"),
    },
    "replicates": {
        "claim": (STRING, "its name in claims.yaml"),
        "sentence": (STRING, "what is claimed"),
        "paper": (STRING, "where the paper says it"),
        "family": (STRING, "claims whose p are adjusted together; null of a check"),
        "threshold": (STRING, "as in table claims"),
        "models": (INT, "pre-trained models, one of each study"),
        "seeds": (INT, "fine-tuning seeds of all models to which the claim applies and that can decide it"),
        "too_few": (INT, "seeds to which it applies and that have too few runs, sets or heads to decide it"),
        "supported": (INT, "of these, on how many the claim is supported"),
        "contradicted": (INT, "and on how many it is contradicted"),
        "by_model": (STRING, "supported on how many of how many seeds, model by model"),
        "low": (REAL, "95 % interval (Clopper-Pearson) of the share supported, 0-1, of these models"),
        "high": (REAL, "its upper end"),
        "mean": (REAL, "of a claim on a value: the mean over models of their means over seeds"),
        "mean_lowest": (REAL, "the lowest mean of a model"),
        "mean_highest": (REAL, "the highest mean of a model"),
    },
    "provenance": {
        "study": RUN["study"],
        "job": (STRING, "its log below logs/, without .log"),
        "script": (STRING, "of workflow/scripts"),
        "started": (STRING, "when, UTC"),
        "seconds": (REAL, "from reading the arguments to the end"),
        "device": (STRING, "cpu or cuda"),
        "processor": (STRING, "model of the processor or GPU"),
        "system": (STRING, "operating system and architecture"),
        "precision": (STRING, "of the models that ran; null where none did"),
        "arithmetic": (STRING, "what the job computed in: portable or native"),
        "commit": (STRING, "of the code; null where it lay in no repository"),
        "dirty": (BOOL, "files differed from the commit"),
        "code": (STRING, "digest of the modules and locked packages that the job depends on"),
        "packages": (STRING, "versions of Python and packages, JSON"),
        "seeds": (STRING, "every seed among the settings, JSON"),
        "settings": (STRING, "by option, JSON; of a path outside the checkout its last part"),
        "inputs": (STRING, "results that were read: path below the study's folder -> SHA-256, JSON"),
        "sources": (STRING, "other files that were read: path -> SHA-256, JSON"),
        "outputs": (STRING, "results: path below the study's folder -> SHA-256, JSON"),
        "digest": (STRING, "SHA-256 of the record"),
    },
    "differences": {
        "quantity": (STRING, "what is compared between studies a and b"),
        "group_or_subset": (STRING, "group, subset, condition, or what a core size or rank correlation is over"),
        "sparsity_role": (STRING, "full, mid or high, as each study has them; null where it has no meaning"),
        "sparsity_a": (REAL, "sparsity of a's subnetworks; null where there is not one"),
        "sparsity_b": (REAL, "of b's; another than a's: no difference is taken"),
        "step_a": (INT, "training step of the checkpoint of a"),
        "step_b": (INT, "of b"),
        "a": (REAL, "value in study a"),
        "a_low": (REAL, "95 % interval of a; null where there is none"),
        "a_high": (REAL, "its upper end"),
        "b": (REAL, "value in study b"),
        "b_low": (REAL, "95 % interval of b; null where there is none"),
        "b_high": (REAL, "its upper end"),
        "difference": (REAL, "b - a"),
        "low": (REAL, "95 % interval of the difference; null where a side has none"),
        "high": (REAL, "its upper end"),
        "unit": (STRING, "what the intervals are over"),
        "n_a": (INT, "units of a's interval; examples where it has several units"),
        "n_b": (INT, "of b's"),
        "reason": (STRING, "why a value or the interval of the difference is null; else null"),
    },
}  # fmt: skip


def get_schema(name: str) -> pa.Schema:
    """Return the Arrow schema of table `name`, with the description of each column as metadata."""
    return pa.schema([pa.field(c, t, metadata={"description": d}) for c, (t, d) in SCHEMAS[name].items()])
