"""Teaching of made-up facts with other learning rates and numbers of epochs."""

from safetensors.torch import load_file

from heuristic_core.common.roles import Input, Output
from heuristic_core.config.blocks import Device, PrecisionSetting
from heuristic_core.experiments.extractive_structures.config import Data, Finetuning, Sweep
from heuristic_core.experiments.extractive_structures.setting import open_setting
from heuristic_core.experiments.extractive_structures.sweeping import made_up_sweep_rows
from heuristic_core.tables.parquet import write_table


def sweep_made_up_facts(
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
    """Rank answers after orders and grafts of made-up facts with several learning rates and numbers of epochs.

    Args:
        checkpoint: Weights after pre-training (safetensors).
        data: Who and what facts are about.
        finetuning: Settings of teaching, except for those that are swept.
        sweep: Learning rates and numbers of epochs.
        study: Name of the study.
        seed: Of the world, of first weights and of the order.
        table: Where to write table extractive_made_up_sweep.
        tokenizer: Files of the tokenizer of a model that is not made here, tokenizer.json first.
        device: Where the model runs.
        precision: Of products of matrices.
    """
    with open_setting(data, seed, tokenizer, device, precision) as setting:
        start, made = load_file(checkpoint), setting.draw_made_up_facts()
        rows = made_up_sweep_rows(start, made, finetuning, sweep, setting.vocabulary, seed)
        labels = {"study": study, "seed": seed}
        write_table("extractive_made_up_sweep", [labels | row for row in rows], table)
