"""The local learning coefficient of one condition's models at one checkpoint."""

import torch
from safetensors.torch import load_file
from torch import Tensor

from heuristic_core.common.roles import Input, Output
from heuristic_core.experiments.list_sorting.config import ListSorting
from heuristic_core.experiments.list_sorting.data import draw_lists, make_sequences
from heuristic_core.experiments.list_sorting.llc import estimate_llc
from heuristic_core.experiments.list_sorting.model import compute_losses
from heuristic_core.experiments.list_sorting.study import LlcRuns
from heuristic_core.tables.parquet import write_table


def sample_llc(
    checkpoint: Input,
    sorting: ListSorting,
    llc: LlcRuns,
    study: str,
    condition: str,
    step: int,
    table: Output,
) -> None:
    """Sample the local learning coefficient of the models of one condition at one checkpoint.

    Args:
        checkpoint: Weights (safetensors).
        sorting: Data, model and training of the condition.
        llc: Settings of the sampling.
        study: Name of the study.
        condition: Name of the condition.
        step: Training step of the checkpoint.
        table: Where to write table sorting_llc.
    """
    tokens = make_sequences(draw_lists(sorting.data).train, sorting.data)

    def draw(count: int, generator: torch.Generator) -> Tensor:
        return tokens[torch.randint(len(tokens), (count,), generator=generator)]

    estimates = estimate_llc(compute_losses, load_file(checkpoint), draw, llc, sorting.training.seeds)
    names = {"study": study, "condition": condition, "step": step}
    rows = [names | {"seed": row.pop("model")} | row for row in estimates.rows]
    write_table("sorting_llc", rows, table)
