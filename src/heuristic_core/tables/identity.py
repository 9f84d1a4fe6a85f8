"""Which run a row is about."""

from typing import NamedTuple


class Identity(NamedTuple):
    """Which subnetwork: the columns that every table of subnetworks begins with.

    The full model is the cell with sparsity 0 and no seed. repeat: 0; runs of the same cell again count from 1.
    """

    study: str
    model: str
    task: str
    ft_seed: int
    step: int = 0
    sparsity: float = 0.0
    seed: int | None = None
    repeat: int = 0

    def columns(self, rows: int, last: str = "repeat") -> dict[str, list]:
        """The identity, up to its field `last`, as columns of a table with this number of rows."""
        names = self._fields[: self._fields.index(last) + 1]
        return {name: [getattr(self, name)] * rows for name in names}
