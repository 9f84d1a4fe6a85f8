"""How many faithful subnetworks with disjoint heads a model has: each round closes the heads of all earlier rounds.

MLPs may be shared. At a high sparsity no subnetwork is within a few points of the full model. A subnetwork therefore
counts as faithful here if it recovers a given share of the full model's in-domain accuracy.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from heuristic_core.models.components import ComponentGrid
from heuristic_core.stats.faithful import ROUNDING
from heuristic_core.stats.frames import make_frame


class Round(NamedTuple):
    """One subnetwork of the packing.

    Attributes:
        number: Number of the round, from 1.
        control: 0, or the number, from 1, of a control with random heads closed.
        closed: Indices of the components that were closed before pruning.
        kept: Indices of the components kept; None if pruning failed.
        id_accuracy: Percent; None if pruning failed.
        reason: Why pruning failed, or how the run missed its target; None otherwise.
        gate_sparsity: Sparsity of the gates at the end of pruning; None if unknown.
    """

    number: int
    control: int
    closed: tuple[int, ...]
    kept: tuple[int, ...] | None
    id_accuracy: float | None
    reason: str | None = None
    gate_sparsity: float | None = None

    def faithful(self, full: float, recovery: float) -> bool:
        """Return whether ID accuracy is at least a share of the full model's; False if pruning failed.

        Args:
            full: ID accuracy of the full model, percent.
            recovery: Share, 0 to 1.
        """
        return self.id_accuracy is not None and self.id_accuracy >= recovery * full - ROUNDING


def close_next_round(last: Round, grid: ComponentGrid, size: int) -> tuple[int, ...] | None:
    """Return the components to close in the round after `last`.

    Args:
        last: A faithful round.
        grid: Components of the model.
        size: Number of components that a subnetwork keeps.

    Returns:
        Component indices, ascending; None if no further head would be closed or fewer than `size` components would be
        left.
    """
    heads = [component for component in last.kept if component < grid.layers * grid.heads]
    closed = tuple(sorted({*last.closed, *heads}))
    return closed if heads and len(grid) - len(closed) >= size else None


def compute_packing(
    rounds: Sequence[Round], grid: ComponentGrid, full: float, recovery: float, identity: Mapping
) -> pd.DataFrame:
    """Make table "packing".

    Args:
        rounds: Rounds and their controls.
        grid: Components of the model.
        full: ID accuracy of the full model, percent.
        recovery: Share of `full` that makes a subnetwork faithful.
        identity: Columns that all rows share.

    Returns:
        A row for each round and control.
    """
    heads = grid.layers * grid.heads
    first_heads = [head for head in rounds[0].kept or () if head < heads]
    room = heads // len(first_heads) if first_heads else None
    rows = []
    for round_ in sorted(rounds, key=lambda item: (item.number, item.control)):
        row = {
            **identity,
            "round": round_.number,
            "control": round_.control,
            "closed": list(round_.closed),
            "room": room,
        }
        row |= {"full_id_accuracy": full, "gate_sparsity": round_.gate_sparsity, "reason": round_.reason}
        if round_.kept is not None:
            row |= {"kept": list(round_.kept), "heads": sum(component < heads for component in round_.kept)}
            row |= {"id_accuracy": round_.id_accuracy, "share": 100 * round_.id_accuracy / full if full else None}
            row |= {"faithful": round_.faithful(full, recovery)}
        rows.append(row)
    return make_frame("packing", rows)
