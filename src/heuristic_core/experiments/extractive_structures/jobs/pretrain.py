"""Pre-training of a small language model."""

from safetensors.torch import save

from heuristic_core.common.atomic import write_bytes
from heuristic_core.common.roles import Output, Unfinished
from heuristic_core.experiments.extractive_structures.config import Data, Kind, Model, Pretraining
from heuristic_core.experiments.extractive_structures.parameters import init_parameters
from heuristic_core.experiments.extractive_structures.setting import Setting
from heuristic_core.experiments.extractive_structures.training import Saving, learn
from heuristic_core.tables.parquet import write_table

TRACE_STEPS = 20  # steps per row of the table


def pretrain_model(
    data: Data,
    model: Model,
    pretraining: Pretraining,
    study: str,
    seed: int,
    corpus: Kind,
    checkpoint: Output,
    trace: Output,
    unfinished: Unfinished,
) -> None:
    """Pre-train a small language model on a corpus of a seed's world.

    Args:
        data: Who and what facts are about.
        model: The embedded decoder.
        pretraining: Settings of pre-training.
        study: Name of the study.
        seed: Seed of the world, the initial weights and the order of sentences.
        corpus: Kind of the corpus.
        checkpoint: Where to write weights (safetensors).
        trace: Where to write table extractive_trace.
        unfinished: Folder of the state from which the job resumes.
    """
    setting, steps = Setting(data, seed), pretraining.steps
    trained = learn(
        init_parameters(model, len(setting.vocabulary), seed),
        setting.encode_corpus(corpus),
        pretraining,
        steps,
        ("pretraining", seed),
        saving=Saving(unfinished / "state.safetensors", pretraining.save_every),
    )
    write_bytes(checkpoint, save(trained.parameters))
    labels = {"study": study, "seed": seed, "corpus": corpus}
    rows = [
        labels | {"step": min(TRACE_STEPS * number, steps), "loss": float(part.double().mean())}
        for number, part in enumerate(trained.losses.split(TRACE_STEPS), start=1)
    ]
    write_table("extractive_trace", rows, trace)
