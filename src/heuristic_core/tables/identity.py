"""Identity of the run that a row describes."""

from typing import NamedTuple


class Identity(NamedTuple):
    """Identity of a subnetwork: the first columns of every table of subnetworks.

    Attributes:
        study: Name of the study.
        model: Name of the model.
        task: Name of the task.
        ft_seed: Fine-tuning seed.
        step: Fine-tuning step of the checkpoint.
        sparsity: Target sparsity; 0 for the full model.
        seed: Pruning seed; None for the full model.
        repeat: 0; repeated runs of the same seed and sparsity count from 1.
    """

    study: str
    model: str
    task: str
    ft_seed: int
    step: int = 0
    sparsity: float = 0.0
    seed: int | None = None
    repeat: int = 0

    def as_columns(self, rows: int, last: str = "repeat") -> dict[str, list]:
        """Return fields as columns of a table, repeated in all rows.

        Args:
            rows: Number of rows.
            last: The last field to include.
        """
        names = self._fields[: self._fields.index(last) + 1]
        return {name: [getattr(self, name)] * rows for name in names}
