"""Teaching of made-up facts with other learning rates and numbers of epochs."""

from safetensors.torch import load_file

from heuristic_core.common.roles import Output
from heuristic_core.experiments.extractive_structures.config import Finetuning, Sweep
from heuristic_core.experiments.extractive_structures.jobs.seed_model import SeedModel
from heuristic_core.experiments.extractive_structures.sweeping import made_up_sweep_rows
from heuristic_core.tables.parquet import write_table


def sweep_made_up_facts(
    model: SeedModel,
    finetuning: Finetuning,
    sweep: Sweep,
    table: Output,
) -> None:
    """Rank answers after orders and grafts of made-up facts with several learning rates and numbers of epochs.

    Args:
        model: The pre-trained model.
        finetuning: Settings of teaching, except for those that are swept.
        sweep: Learning rates and numbers of epochs.
        table: Where to write table extractive_made_up_sweep.
    """
    with model.open_setting() as setting:
        start, made = load_file(model.checkpoint), setting.draw_made_up_facts()
        rows = made_up_sweep_rows(start, made, finetuning, sweep, setting.vocabulary, model.seed)
        labels = model.labels
        write_table("extractive_made_up_sweep", [labels | row for row in rows], table)
