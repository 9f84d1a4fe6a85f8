"""Teaching with other learning rates and numbers of epochs."""

from safetensors.torch import load_file

from heuristic_core.common.roles import Input, Output
from heuristic_core.config.blocks import Device, PrecisionSetting
from heuristic_core.experiments.extractive_structures.config import Data, Finetuning, Sweep
from heuristic_core.experiments.extractive_structures.freezing import curve_rows
from heuristic_core.experiments.extractive_structures.setting import HOPS, open_setting
from heuristic_core.tables.parquet import write_table


def sweep_settings(
    checkpoint: Input,
    data: Data,
    finetuning: Finetuning,
    sweep: Sweep,
    study: str,
    seed: int,
    table: Output,
    tokenizer: list[Input] = (),
    device: Device = "cpu",
    precision: PrecisionSetting = "float32",
) -> None:
    """Teach the facts of both hops with several learning rates, and rank answers after several numbers of epochs.

    Args:
        checkpoint: Weights after pre-training (safetensors).
        data: Who and what facts are about.
        finetuning: Settings of teaching, except for those that are swept.
        sweep: Learning rates and numbers of epochs.
        study: Name of the study.
        seed: Of the world, of first weights and of the order.
        table: Where to write table extractive_sweep.
        tokenizer: Files of the tokenizer of a model that is not made here, tokenizer.json first.
        device: Where the model runs.
        precision: Of products of matrices.
    """
    with open_setting(data, seed, tokenizer, device, precision) as setting:
        start, rows = load_file(checkpoint), []
        for hop in HOPS:
            taught = setting.encode_hop(hop)
            for rate in sweep.learning_rates:
                settings = finetuning.model_copy(update={"learning_rate": rate, "epochs": sweep.epochs[-1]})
                epoch_rows, _ = curve_rows(start, taught.facts, taught.parts, settings, seed)
                labels = {"study": study, "seed": seed, "hop": hop, "learning_rate": rate}
                rows += [labels | row for row in epoch_rows if row["epoch"] in sweep.epochs]
        write_table("extractive_sweep", rows, table)
