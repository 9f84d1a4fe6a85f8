"""Describe a condition: its settings, and digests that show which conditions differ in one setting only."""

import hashlib
import json
from collections.abc import Collection

from torch import Tensor

from heuristic_core.experiments.list_sorting.config import ListSorting
from heuristic_core.experiments.list_sorting.data import neighbour_gaps

DIGEST_VARIANTS = {  # column -> block, and the settings of the block that the digest leaves out; None: all
    "but_decay": ("training", {"optimiser", "weight_decay"}),
    "but_data": ("data", None),
}
IRRELEVANT_SETTINGS = {"seeds", "checkpoints", "per_decade", "save_every"}  # of training: do not change a seed's model


def describe_condition(study: ListSorting, held_out: Tensor) -> dict:
    """Return a row of table "sorting_conditions" without the names of study and condition.

    Args:
        study: Settings of the condition.
        held_out: Held-out lists, int64 [n, L].
    """
    return {
        "numbers": study.data.numbers,
        "length": study.data.length,
        "mean_gap": float(neighbour_gaps(held_out).double().mean()),
        "nominal_gap": study.data.nominal_gap,
        "heads": study.model.heads,
        "positions": study.model.positions,
        "layer_norm": study.model.layer_norm,
        "biases": study.model.biases,
        "optimiser": study.training.optimiser,
        "weight_decay": study.training.weight_decay,
        "steps": study.training.steps,
    } | {column: digest_without(study, *left_out) for column, left_out in DIGEST_VARIANTS.items()}


def digest_without(study: ListSorting, block: str, settings: Collection[str] | None) -> str:
    """Return the SHA-256 of all settings that determine a seed's model, except some settings of one block.

    Args:
        study: Settings of the condition.
        block: Name of the block.
        settings: Settings of the block to leave out; None leaves out the block.
    """
    blocks = json.loads(study.model_dump_json())
    excluded = blocks[block] if settings is None else settings
    blocks[block] = {name: value for name, value in blocks[block].items() if name not in excluded}
    blocks["training"] = {name: value for name, value in blocks["training"].items() if name not in IRRELEVANT_SETTINGS}
    return hashlib.sha256(json.dumps(blocks, sort_keys=True).encode()).hexdigest()
