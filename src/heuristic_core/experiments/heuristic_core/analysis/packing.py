"""How many faithful subnetworks with different heads a model has: each round closes the heads of those before.

MLPs may be shared. At a high sparsity no subnetwork is within a few points of the full model, so that a subnetwork is
faithful here if it recovers a share of the full model's in-domain accuracy.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from heuristic_core.analysis.faithful import ROUNDING
from heuristic_core.analysis.frames import frame
from heuristic_core.models.components import ComponentGrid


class Round(NamedTuple):
    """One subnetwork. number: of its round, from 1. control: 0, or from 1 with random heads closed.

    closed, kept: component indices; kept is None, and `reason` says why, where pruning failed. id_accuracy: percent.
    gate_sparsity: at the end of pruning, None where unknown; reason: also in what way the run missed its target.
    """

    number: int
    control: int
    closed: tuple[int, ...]
    kept: tuple[int, ...] | None
    id_accuracy: float | None
    reason: str | None = None
    gate_sparsity: float | None = None

    def faithful(self, full: float, recovery: float) -> bool:
        """Whether its ID accuracy is at least a share of the full model's, both percent; not where it failed."""
        return self.id_accuracy is not None and self.id_accuracy >= recovery * full - ROUNDING


def closed_next(last: Round, grid: ComponentGrid, size: int) -> tuple[int, ...] | None:
    """What the round after `last`, a faithful one, closes: ascending component indices; None where there is no such
    round, because no further head would be closed, or because fewer than `size` components would be left."""
    heads = [component for component in last.kept if component < grid.layers * grid.heads]
    closed = tuple(sorted({*last.closed, *heads}))
    return closed if heads and len(grid) - len(closed) >= size else None


def packing(rounds: Sequence[Round], grid: ComponentGrid, full: float, recovery: float, about: Mapping) -> pd.DataFrame:
    """Table "packing". full: the full model's ID accuracy, percent. about: columns that all rows share."""
    heads = grid.layers * grid.heads
    first = [head for head in rounds[0].kept or () if head < heads]
    room = heads // len(first) if first else None
    rows = []
    for one in sorted(rounds, key=lambda one: (one.number, one.control)):
        row = {**about, "round": one.number, "control": one.control, "closed": list(one.closed), "room": room}
        row |= {"full_id_accuracy": full, "gate_sparsity": one.gate_sparsity, "reason": one.reason}
        if one.kept is not None:
            row |= {"kept": list(one.kept), "heads": sum(component < heads for component in one.kept)}
            row |= {"id_accuracy": one.id_accuracy, "share": 100 * one.id_accuracy / full if full else None}
            row |= {"faithful": one.faithful(full, recovery)}
        rows.append(row)
    return frame("packing", rows)
