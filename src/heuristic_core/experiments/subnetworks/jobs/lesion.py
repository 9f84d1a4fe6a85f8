"""Fine-tuning without some heads."""

import logging
from typing import Annotated

from heuristic_core.common.roles import Fields, Input, Output, Unfinished
from heuristic_core.config.blocks import Device, Finetune, PrecisionSetting
from heuristic_core.config.models import AnyModel
from heuristic_core.experiments.subnetworks.config.analysis import Analysis
from heuristic_core.experiments.subnetworks.jobs.lesion_heads import LesionUnavailable, select_lesion_heads
from heuristic_core.models.close_heads import close_heads
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import read_rows, write_table
from heuristic_core.training.checkpoints import FinetuningRun, load_initial_model

LOGGER = logging.getLogger(__name__)


def finetune_lesioned_model(
    train: Input,
    evaluation: Input,
    subsets: Input,
    tokenizer: Input,
    overlap_heads: Input,
    model: AnyModel,
    finetune: Finetune,
    analysis: Analysis,
    run: Annotated[Identity, Fields("ft_seed")],
    lesion: str,
    trace: Output,
    predictions: Output,
    heads: Output,
    unfinished: Unfinished,
    fetched: Input | None = None,
    model_files: list[Input] = (),
    pretrained: Input | None = None,
    threads: int = 1,
    device: Device = "cpu",
    precision: PrecisionSetting = "float32",
) -> None:
    """Fine-tune a model with some of its heads removed for good.

    These are the heads that attend to the repeated word before fine-tuning, or as many random heads of the same layers.
    No checkpoints are kept.

    Args:
        train: Encoded training pairs (safetensors).
        evaluation: Encoded evaluation pairs (safetensors).
        subsets: Subsets and labels (JSON).
        tokenizer: Folder of the tokenizer.
        overlap_heads: Attention of heads to the repeated word before fine-tuning (Parquet).
        model: Block of the configuration.
        finetune: Settings of fine-tuning.
        analysis: Settings of the analysis.
        run: Identity of the run.
        lesion: overlap, or random1, random2 and so on.
        trace: Where to write losses (Parquet).
        predictions: Where to write predictions of every evaluation (Parquet).
        heads: Where to write which heads were taken out (Parquet).
        unfinished: Folder of the state from which the job resumes.
        fetched: List of what was downloaded, for the record.
        model_files: Files of the model, where its block names a folder, for the record.
        pretrained: Folder of the model, where its block has `pretraining`.
        threads: CPU threads.
        device: Device of the model.
        precision: Precision of evaluation.
    """
    rows, reason = read_rows(overlap_heads), None
    try:
        removed = select_lesion_heads(lesion, rows, analysis.seed, run.ft_seed)
    except LesionUnavailable as error:
        removed, reason = [], str(error)
    if reason:
        LOGGER.warning("no model is fine-tuned without %s heads: %s", lesion, reason)
        write_table("finetune_trace", [], trace)
        write_table("finetune_predictions", [], predictions)
    else:
        dropout = finetune.dropout
        initial, _ = load_initial_model(model, tokenizer, subsets, run.ft_seed, dropout, device, pretrained)
        close_heads(initial, [(row["layer"], row["head"]) for row in rows if row["component"] in removed])
        FinetuningRun(run, train, evaluation, finetune, precision, unfinished).write(initial, trace, predictions)
    columns = {name: getattr(run, name) for name in ("study", "model", "task", "ft_seed")}
    columns |= {"lesion": lesion, "heads": removed, "size": len(removed), "reason": reason}
    write_table("lesions", [columns], heads)
