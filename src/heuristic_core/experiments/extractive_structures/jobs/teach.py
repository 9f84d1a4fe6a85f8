"""Teaching of facts."""

from safetensors.torch import load_file

from heuristic_core.common.roles import Output, Unfinished
from heuristic_core.experiments.extractive_structures.config import Finetuning, Kind
from heuristic_core.experiments.extractive_structures.freezing import curve_rows
from heuristic_core.experiments.extractive_structures.jobs.seed_model import SeedModel
from heuristic_core.experiments.extractive_structures.setting import write_weights
from heuristic_core.tables.parquet import write_table


def teach_facts(
    model: SeedModel,
    finetuning: Finetuning,
    corpus: Kind,
    first: Output,
    second: Output,
    curves: Output,
    unfinished: Unfinished,
) -> None:
    """Teach a pre-trained model the facts of both hops, and measure its answers after every epoch.

    Args:
        model: The pre-trained model.
        finetuning: Settings of teaching.
        corpus: Corpus of pre-training.
        first: Where to write weights after the facts of the first hop (safetensors).
        second: Where to write weights after the facts of the second hop.
        curves: Where to write table extractive_curves.
        unfinished: Folder of the state from which the job resumes.
    """
    paths = {"first": first, "second": second}
    with model.open_setting() as setting:
        start, rows = load_file(model.checkpoint), []
        hops = {hop: setting.encode_hop(hop) for hop in paths}  # before teaching: raises if options begin alike
        for hop, taught in hops.items():
            epoch_rows, end = curve_rows(start, taught.facts, taught.parts, finetuning, model.seed, unfinished / hop)
            labels = model.labels | {"corpus": corpus, "hop": hop}
            rows += [labels | row for row in epoch_rows]
            write_weights(paths[hop], end)
        write_table("extractive_curves", rows, curves)
