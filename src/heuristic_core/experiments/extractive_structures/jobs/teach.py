"""Teaching of facts."""

from safetensors.torch import load_file

from heuristic_core.common.roles import Input, Output, Unfinished
from heuristic_core.config.blocks import Device, PrecisionSetting
from heuristic_core.experiments.extractive_structures.config import Data, Finetuning, Kind
from heuristic_core.experiments.extractive_structures.freezing import curve_rows
from heuristic_core.experiments.extractive_structures.setting import open_setting, write_weights
from heuristic_core.tables.parquet import write_table


def teach_facts(
    checkpoint: Input,
    data: Data,
    finetuning: Finetuning,
    study: str,
    seed: int,
    corpus: Kind,
    first: Output,
    second: Output,
    curves: Output,
    unfinished: Unfinished,
    tokenizer: list[Input] = (),
    device: Device = "cpu",
    precision: PrecisionSetting = "float32",
) -> None:
    """Teach a pre-trained model the facts of both hops, and measure its answers after every epoch.

    Args:
        checkpoint: Weights after pre-training (safetensors).
        data: Who and what facts are about.
        finetuning: Settings of teaching.
        study: Name of the study.
        seed: Of the world, of first weights and of the order.
        corpus: Corpus of pre-training.
        first: Where to write weights after the facts of the first hop (safetensors).
        second: Where to write weights after the facts of the second hop.
        curves: Where to write table extractive_curves.
        unfinished: Folder of the state from which the job resumes.
        tokenizer: Files of the tokenizer of a model that is not made here, tokenizer.json first.
        device: Where the model runs.
        precision: Of products of matrices.
    """
    paths = {"first": first, "second": second}
    with open_setting(data, seed, tokenizer, device, precision) as setting:
        start, rows = load_file(checkpoint), []
        hops = {hop: setting.encode_hop(hop) for hop in paths}  # before teaching: raises if options begin alike
        for hop, taught in hops.items():
            epoch_rows, end = curve_rows(start, taught.facts, taught.parts, finetuning, seed, unfinished / hop)
            labels = {"study": study, "seed": seed, "corpus": corpus, "hop": hop}
            rows += [labels | row for row in epoch_rows]
            write_weights(paths[hop], end)
        write_table("extractive_curves", rows, curves)
