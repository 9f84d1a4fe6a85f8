"""What a condition is: in numbers, and as digests that tell which conditions differ in one thing alone."""

import hashlib
import json
from collections.abc import Collection

from torch import Tensor

from heuristic_core.experiments.list_sorting.config import ListSorting
from heuristic_core.experiments.list_sorting.data import gaps

BUT = {  # column -> block, and its settings that the digest leaves out; None: all
    "but_decay": ("training", {"optimiser", "weight_decay"}),
    "but_data": ("data", None),
    "but_gap": ("data", {"mean_gap"}),
}
NO_PART = {"seeds", "checkpoints", "per_decade", "save_every"}  # of training: a seed's model is the same without them


def about(study: ListSorting, held_out: Tensor) -> dict:
    """A row of table "sorting_conditions" without names. held_out: lists, int64 [n, L]."""
    return {
        "numbers": study.data.numbers,
        "length": study.data.length,
        "mean_gap": float(gaps(held_out).double().mean()),
        "nominal_gap": study.data.nominal_gap,
        "heads": study.model.heads,
        "layer_norm": study.model.layer_norm,
        "biases": study.model.biases,
        "optimiser": study.training.optimiser,
        "weight_decay": study.training.weight_decay,
        "steps": study.training.steps,
    } | {column: digest_but(study, *left_out) for column, left_out in BUT.items()}


def digest_but(study: ListSorting, block: str, settings: Collection[str] | None) -> str:
    """SHA-256 of all settings that make a seed's model, without the `settings` of a block, or without the block."""
    given = json.loads(study.model_dump_json())
    gone = given[block] if settings is None else settings
    given[block] = {name: value for name, value in given[block].items() if name not in gone}
    given["training"] = {name: value for name, value in given["training"].items() if name not in NO_PART}
    return hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()
