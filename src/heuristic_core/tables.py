"""The schemas of the Parquet tables, and reading and writing them.

Tables are tidy: one row per observation. Each begins with the identity columns of what was observed; the meaning and
unit of every column stand in the file's own metadata (``pyarrow.parquet.read_schema(file).field(name).metadata``).
Accuracies are in percent, 0-100. A missing or undefined value is a null, never a number.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from heuristic_core.files import replacing

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
}
SUBSET = {
    "subset": (STRING, "evaluation subset"),
    "group": (STRING, "id, ood (the overlap heuristic is wrong) or ood-entailment (it is right)"),
    "family": (STRING, "lexical_overlap, subsequence, constituent, or null"),
}
COMPONENT = {
    "component": (INT, "index: heads layer by layer, then MLPs"),
    "name": (STRING, "layer.head, or mlp layer"),
    "kind": (STRING, "head or mlp"),
    "layer": (INT, "from 0"),
    "head": (INT, "from 0; null for an MLP"),
}
ACCURACY = {"n": (INT, "pairs"), "accuracy": (REAL, "percent correct, 0-100")}

SCHEMAS = {
    "sentences": {
        "subset": (STRING, "evaluation subset, or train"),
        "group": (STRING, "id, ood or ood-entailment; null in training sets"),
        "family": (STRING, "lexical_overlap, subsequence, constituent, or null"),
        "template": (STRING, "the rule or template that made the pair, or null"),
        "sentence1": (STRING, "premise, or first question"),
        "sentence2": (STRING, "hypothesis, or second question"),
        "label": (INT, "true label, in the label space of the subset"),
    },
    # ---- what jobs write, and what is gathered from them
    "predictions": RUN | STEP | CELL | SUBSET | {
        "example": (INT, "index of the pair within the evaluation set"),
        "label": (INT, "true label, in the label space of the subset"),
        "prediction": (INT, "the model's class: argmax of the logits"),
        "correct": (BOOL, "the predicted class, merged into the subset's labels, is the true one"),
        "logits": (pa.list_(pa.float32()), "one per class of the model"),
    },
    "accuracy": RUN | STEP | CELL | SUBSET | ACCURACY,
    "components": RUN | STEP | CELL | {"actual_sparsity": (REAL, "share of components removed")} | COMPONENT | {
        "kept": (BOOL, "is in the subnetwork"),
        "log_alpha": (REAL, "at the end of pruning"),
    },
    "finetune_trace": RUN | STEP | {
        "loss": (REAL, "mean training loss, nats, since the row before"),
        "learning_rate": (REAL, "at this step"),
    },
    "finetune_accuracy": RUN | STEP | SUBSET | ACCURACY,
    "prune_trace": RUN | STEP | CELL | {
        "prune_step": (INT, "step of pruning"),
        "kl": (REAL, "KL(full || gated), nats, mean over the batch"),
        "sampled_sparsity": (REAL, "1 - mean gate in this step"),
        "target_sparsity": (REAL, "the controller's target in this step"),
        "lambda_1": (REAL, "multiplier of the linear gap"),
        "lambda_2": (REAL, "multiplier of the squared gap"),
        "log_alpha": (REAL, "mean over components"),
    },
    "ablation_predictions": RUN | STEP | {
        "ablation": (STRING, "name of the ablated set"),
    } | SUBSET | {
        "example": (INT, "index of the pair within the evaluation set"),
        "label": (INT, "true label, in the label space of the subset"),
        "prediction": (INT, "argmax of the logits"),
        "correct": (BOOL, "the predicted class, merged into the subset's labels, is the true one"),
        "logits": (pa.list_(pa.float32()), "one per class of the model"),
    },
    "ablation_sets": RUN | STEP | {
        "ablation": (STRING, "name of the ablated set; none: the full model"),
        "role": (STRING, "none, non-core (one head), core (one head), pair, strongest (three), core-all, control"),
        "heads": (pa.list_(pa.int32()), "component indices of the ablated heads"),
        "matches": (STRING, "for a control: the ablation whose layers and number it matches; else null"),
    },
    "attention": RUN | STEP | COMPONENT | {
        "category": (STRING, "repeated, previous, next, separator, first, self or other"),
        "share": (REAL, "mean share of the head's attention over query tokens and pairs, 0-1"),
        "n": (INT, "pairs"),
    },
    # ---- what analysis derives
    "effective_size": RUN | STEP | {
        "group": (STRING, "id, ood, ood-entailment or mixed"),
        "order": (STRING, "per-seed (threshold, then mean), mean-first (mean, then threshold) or upward (per "
                          "seed, from dense, stopping at the first failure)"),
        "seed": (INT, "pruning seed; null for the summary over seeds"),
        "margin": (REAL, "points"),
        "full_accuracy": (REAL, "percent, full model"),
        "effective_size": (REAL, "percent of components, 100 * (1 - largest faithful sparsity); null where undefined"),
        "floor": (REAL, "percent, the smallest size that the largest sparsity of the grid can show"),
        "sd": (REAL, "standard deviation (n-1) over seeds, summary rows of per-seed orders only"),
        "n_seeds": (INT, "pruning seeds"),
        "reason": (STRING, "why effective_size is null; else null"),
    },
    "head_frequency": RUN | STEP | CELL | COMPONENT | {
        "count": (INT, "subnetworks that keep the component"),
        "n": (INT, "subnetworks"),
    },
    "core": RUN | COMPONENT | {
        "mid": (INT, "how many mid-sparsity subnetworks of the last checkpoint keep it"),
        "high": (INT, "how many high-sparsity subnetworks of the last checkpoint keep it"),
        "early": (INT, "how many early subnetworks keep it; null without early"),
        "in_core": (BOOL, "a head in every mid- and high-sparsity subnetwork"),
    },
    "core_null": RUN | {
        "set": (STRING, "high, mid, mid+high or early: the heads kept by every one of these subnetworks"),
        "n": (INT, "subnetworks"),
        "observed": (INT, "heads kept by all"),
        "expected": (REAL, "mean over permutations of heads within layers"),
        "p": (REAL, "share of permutations with at least as many, (1 + count) / (1 + permutations)"),
        "permutations": (INT, "draws"),
    },
    "rank_correlation": RUN | STEP | {
        "rho": (REAL, "Spearman's, head frequency at mid against high sparsity, over heads"),
        "p": (REAL, "two-sided"),
        "n": (INT, "heads"),
    },
    "ablations": RUN | STEP | {
        "ablation": (STRING, "name of the ablated set; none: the full model"),
        "role": (STRING, "as in ablation_sets"),
        "size": (INT, "heads ablated"),
        "matches": (STRING, "for a control: the ablation it matches; else null"),
    } | SUBSET | ACCURACY | {
        "change": (REAL, "points, ablated minus full"),
        "change_low": (REAL, "2.5th percentile of change, paired bootstrap over pairs; null for groups"),
        "change_high": (REAL, "97.5th percentile of change; null for groups"),
        "interaction": (REAL, "drop of the set minus its single drops, points; null below two heads and for controls"),
    },
    "findings": RUN | {
        "claim": (STRING, "what should be seen"),
        "shown": (BOOL, "whether this fine-tuning seed shows it; null if it cannot be said"),
        "estimate": (STRING, "the numbers behind the verdict"),
    },
}  # fmt: skip


def schema(name: str) -> pa.Schema:
    """The Arrow schema of table `name`, with each column's meaning as metadata."""
    return pa.schema([pa.field(c, t, metadata={"description": d}) for c, (t, d) in SCHEMAS[name].items()])


def as_table(name: str, rows) -> pa.Table:
    """`rows` (a pandas frame, an Arrow table, a list of dicts or a dict of columns) as table `name`.

    Columns are put into the schema's order and cast; a missing or an unknown column is an error.
    """
    wanted = schema(name)
    if isinstance(rows, pa.Table):
        table = rows
    elif isinstance(rows, Mapping):
        table = pa.table({c: pa.array(v, wanted.field(c).type if c in wanted.names else None) for c, v in rows.items()})
    elif isinstance(rows, list):
        uneven = [row for row in rows if row.keys() != set(wanted.names)]  # Arrow itself looks at the first row alone
        table = pa.Table.from_pylist(uneven[:1] or rows) if rows else wanted.empty_table()
    else:
        table = pa.Table.from_pandas(rows, preserve_index=False)
    if set(table.column_names) != set(wanted.names):
        raise ValueError(f"table {name}: columns {sorted(table.column_names)}, expected {sorted(wanted.names)}")
    return table.select(wanted.names).cast(wanted)


def write_table(name: str, rows, path: str | Path) -> None:
    """Write `rows`, of any kind that :func:`as_table` takes, as table `name`. The same rows give the same bytes."""
    with replacing(path) as partial:
        pq.write_table(as_table(name, rows), partial, compression="zstd")


def as_frame(table: pa.Table):
    """An Arrow table as a pandas frame; integers that may be null come as pandas' nullable Int32."""
    import pandas as pd

    return table.to_pandas(types_mapper={pa.int32(): pd.Int32Dtype()}.get)


def read_table(path: str | Path, without: Iterable[str] = ()):
    """A table as a pandas frame, see :func:`as_frame`, but for the columns `without`, which are not even read."""
    return as_frame(pq.read_table(path, columns=[c for c in pq.read_schema(path).names if c not in set(without)]))


def read_rows(path: str | Path) -> list[dict]:
    """A table as a list of rows."""
    return pq.read_table(path).to_pylist()


def concatenate(name: str, paths: Iterable[str | Path]) -> pa.Table:
    """The rows of several files of table `name`, in the order given; an empty table for no file."""
    return pa.concat_tables([schema(name).empty_table(), *(pq.read_table(path) for path in paths)])
