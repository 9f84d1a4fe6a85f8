"""What a condition is, in numbers."""

from torch import Tensor

from heuristic_core.experiments.list_sorting.config import ListSorting
from heuristic_core.experiments.list_sorting.data import gaps


def about(study: ListSorting, held_out: Tensor) -> dict:
    """A row of table "sorting_conditions" without names. held_out: lists, int64 [n, L]."""
    return {
        "numbers": study.data.numbers,
        "length": study.data.length,
        "mean_gap": float(gaps(held_out).double().mean()),
        "heads": study.model.heads,
        "layer_norm": study.model.layer_norm,
        "biases": study.model.biases,
        "optimiser": study.training.optimiser,
        "weight_decay": study.training.weight_decay,
        "steps": study.training.steps,
    }
