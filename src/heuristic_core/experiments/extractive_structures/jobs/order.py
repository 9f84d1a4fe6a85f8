"""Orders and grafts of made-up facts."""

from safetensors.torch import load_file

from heuristic_core.common.roles import Input, Output, Unfinished
from heuristic_core.config.blocks import Device, PrecisionSetting
from heuristic_core.experiments.extractive_structures.config import Data, Finetuning
from heuristic_core.experiments.extractive_structures.grafting import graft_rows
from heuristic_core.experiments.extractive_structures.localisation import localisation_rows
from heuristic_core.experiments.extractive_structures.ordering import order_rows
from heuristic_core.experiments.extractive_structures.setting import open_setting
from heuristic_core.tables.parquet import write_table


def teach_orders(
    checkpoint: Input,
    data: Data,
    finetuning: Finetuning,
    study: str,
    seed: int,
    ordering: Output,
    grafting: Output,
    localisation: Output,
    unfinished: Unfinished,
    tokenizer: list[Input] = (),
    device: Device = "cpu",
    precision: PrecisionSetting = "float32",
) -> None:
    """Teach facts of made-up words and their implications in several orders; graft and localise what is learned.

    Args:
        checkpoint: Weights after pre-training (safetensors).
        data: Who and what facts are about.
        finetuning: Settings of teaching.
        study: Name of the study.
        seed: Of the world, of first weights and of the order.
        ordering: Where to write table extractive_ordering.
        grafting: Where to write table extractive_grafting.
        localisation: Where to write table extractive_localisation.
        unfinished: Folder of the state from which the job resumes.
        tokenizer: Files of the tokenizer of a model that is not made here, tokenizer.json first.
        device: Where the model runs.
        precision: Of products of matrices.
    """
    with open_setting(data, seed, tokenizer, device, precision) as setting:
        start = load_file(checkpoint)
        made, encode, tested = setting.draw_made_up_facts(), setting.vocabulary, data.cities
        orders = order_rows(start, made.first, tested, finetuning, encode, seed, unfinished)
        grafts = graft_rows(start, made, orders.stages, finetuning, encode, seed, unfinished)
        models = grafts.knows, grafts.learned
        localisations = localisation_rows(*models, made.first, tested, finetuning, encode, seed, unfinished)
        labels = {"study": study, "seed": seed}
        write_table("extractive_ordering", [labels | row for row in orders.rows], ordering)
        write_table("extractive_grafting", [labels | row for row in grafts.rows], grafting)
        write_table("extractive_localisation", [labels | row for row in localisations], localisation)
