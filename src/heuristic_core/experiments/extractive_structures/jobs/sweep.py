"""Teaching with other learning rates and numbers of epochs."""

from safetensors.torch import load_file

from heuristic_core.common.roles import Output
from heuristic_core.experiments.extractive_structures.config import Finetuning, Sweep
from heuristic_core.experiments.extractive_structures.freezing import curve_rows
from heuristic_core.experiments.extractive_structures.jobs.seed_model import SeedModel
from heuristic_core.experiments.extractive_structures.setting import HOPS
from heuristic_core.tables.parquet import write_table


def sweep_settings(
    model: SeedModel,
    finetuning: Finetuning,
    sweep: Sweep,
    table: Output,
) -> None:
    """Teach the facts of both hops with several learning rates, and rank answers after several numbers of epochs.

    Args:
        model: The pre-trained model.
        finetuning: Settings of teaching, except for those that are swept.
        sweep: Learning rates and numbers of epochs.
        table: Where to write table extractive_sweep.
    """
    with model.open_setting() as setting:
        start, rows = load_file(model.checkpoint), []
        for hop in HOPS:
            taught = setting.encode_hop(hop)
            for rate in sweep.learning_rates:
                settings = finetuning.model_copy(update={"learning_rate": rate, "epochs": sweep.epochs[-1]})
                epoch_rows, _ = curve_rows(start, taught.facts, taught.parts, settings, model.seed)
                labels = model.labels | {"hop": hop, "learning_rate": rate}
                rows += [labels | row for row in epoch_rows if row["epoch"] in sweep.epochs]
        write_table("extractive_sweep", rows, table)
