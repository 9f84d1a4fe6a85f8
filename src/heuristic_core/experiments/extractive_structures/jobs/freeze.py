"""Teaching with frozen or restored layers."""

from safetensors.torch import load_file

from heuristic_core.common.roles import Input, Output
from heuristic_core.config.blocks import Device, PrecisionSetting
from heuristic_core.experiments.extractive_structures.config import Data, Finetuning, Freezing
from heuristic_core.experiments.extractive_structures.freezing import freezing_rows
from heuristic_core.experiments.extractive_structures.setting import open_setting
from heuristic_core.tables.parquet import write_table


def freeze_layers(
    checkpoint: Input,
    first: Input,
    second: Input,
    data: Data,
    finetuning: Finetuning,
    freezing: Freezing,
    study: str,
    seed: int,
    table: Output,
    tokenizer: list[Input] = (),
    device: Device = "cpu",
    precision: PrecisionSetting = "float32",
) -> None:
    """Measure which layers must learn a fact, by freezing layers or restoring their former weights.

    Args:
        checkpoint: Weights after pre-training (safetensors).
        first: Weights after the facts of the first hop.
        second: Weights after the facts of the second hop.
        data: Who and what facts are about.
        finetuning: Settings of teaching.
        freezing: Which layers count as early.
        study: Name of the study.
        seed: Of the world, of first weights and of the order.
        table: Where to write table extractive_freezing.
        tokenizer: Files of the tokenizer of a model that is not made here, tokenizer.json first.
        device: Where the model runs.
        precision: Of products of matrices.
    """
    with open_setting(data, seed, tokenizer, device, precision) as setting:
        start, rows = load_file(checkpoint), []
        for hop, path in {"first": first, "second": second}.items():
            taught, end = setting.encode_hop(hop), load_file(path)
            hop_rows = freezing_rows(start, end, taught.facts, taught.parts, finetuning, freezing.early, seed)
            rows += [{"study": study, "seed": seed, "hop": hop} | row for row in hop_rows]
        write_table("extractive_freezing", rows, table)
