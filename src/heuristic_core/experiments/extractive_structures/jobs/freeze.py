"""Teaching with frozen or restored layers."""

from safetensors.torch import load_file

from heuristic_core.common.roles import Input, Output
from heuristic_core.experiments.extractive_structures.config import Finetuning, Freezing
from heuristic_core.experiments.extractive_structures.freezing import freezing_rows
from heuristic_core.experiments.extractive_structures.jobs.seed_model import SeedModel
from heuristic_core.tables.parquet import write_table


def freeze_layers(
    model: SeedModel,
    first: Input,
    second: Input,
    finetuning: Finetuning,
    freezing: Freezing,
    table: Output,
) -> None:
    """Measure which layers must learn a fact, by freezing layers or restoring their former weights.

    Args:
        model: The pre-trained model.
        first: Weights after the facts of the first hop.
        second: Weights after the facts of the second hop.
        finetuning: Settings of teaching.
        freezing: Division into early and late layers.
        table: Where to write table extractive_freezing.
    """
    with model.open_setting() as setting:
        start, rows = load_file(model.checkpoint), []
        for hop, path in {"first": first, "second": second}.items():
            taught, end = setting.encode_hop(hop), load_file(path)
            hop_rows = freezing_rows(start, end, taught.facts, taught.parts, finetuning, freezing.early, model.seed)
            rows += [model.labels | {"hop": hop} | row for row in hop_rows]
        write_table("extractive_freezing", rows, table)
