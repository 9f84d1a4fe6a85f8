"""Pre-training of a new model."""

import shutil
from pathlib import Path
from typing import Annotated

from transformers.utils import logging as hugging_face_logging

from heuristic_core.common.errors import InputError
from heuristic_core.common.roles import Input, Output, Read, Unfinished
from heuristic_core.common.threads import use_threads
from heuristic_core.config.generated import PAIRS_TEXT, UnlabelledText
from heuristic_core.config.models import AnyModel
from heuristic_core.data.words import encode_word_pairs
from heuristic_core.experiments.subnetworks.tables.schemas import SCHEMAS
from heuristic_core.interventions.attention import share_rows
from heuristic_core.models.hugging_face import load_tokenizer
from heuristic_core.models.implementation import wrap_model
from heuristic_core.models.pretrained import build_masked_language_model
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import concatenate, write_table
from heuristic_core.training.pretrain import Corpus, pretrain


def pretrain_model(
    tokenizer: Input,
    model: AnyModel,
    study: str,
    model_name: str,
    task_name: str,
    max_length: int,
    checkpoint: Output,
    trace: Output,
    attention: Output,
    unfinished: Unfinished,
    text: Annotated[UnlabelledText, Read(UnlabelledText.model_validate_json)] = PAIRS_TEXT,
) -> None:
    """Pre-train a new model on unlabelled text.

    Args:
        tokenizer: Folder of the tokenizer.
        model: Block of the configuration.
        study: Name of the study.
        model_name: Name of the model.
        task_name: Name of the task.
        max_length: Tokens beyond which a pair is cut.
        checkpoint: Folder in which to save the model.
        trace: Where to write losses and accuracies (Parquet).
        attention: Where to write attention shares (Parquet).
        unfinished: Folder of the state from which the job resumes.
        text: Settings of the text; default: pairs.

    Raises:
        InputError: The model is not one that is pre-trained here.
    """
    settings = getattr(model, "pretraining", None)
    if settings is None:
        raise InputError(f"model {model.name}: block `model` has no `pretraining`; only new models are pre-trained")
    use_threads(settings.threads)
    hugging_face_logging.disable_progress_bar()
    loaded = load_tokenizer(tokenizer)
    corpus = Corpus(settings, text, loaded, max_length)
    words = encode_word_pairs(tokenizer, corpus.related(), max_length)
    names = {"study": study, "model": model_name, "task": task_name}
    trained = build_masked_language_model(model, len(loaded))

    def measure(step: int) -> list[Path]:
        path = unfinished / f"attention{step}.parquet"
        shares = share_rows(Identity(**names, ft_seed=0), wrap_model(trained), words)
        rows = [{**row, "pretraining_step": step} for row in shares]
        rows = [{name: row[name] for name in SCHEMAS["pretraining_attention"]} for row in rows]
        write_table("pretraining_attention", rows, path)
        return [path]

    record = pretrain(trained, corpus, settings, measure, unfinished / "state.safetensors")
    shutil.rmtree(checkpoint, ignore_errors=True)
    trained.save_pretrained(checkpoint)
    loaded.save_pretrained(checkpoint)
    rows = [names | {"pretraining_step": row.pop("step")} | row for row in map(dict, record.trace)]
    write_table("pretraining_trace", rows, trace)
    parts = [unfinished / f"attention{row['step']}.parquet" for row in record.trace]
    write_table("pretraining_attention", concatenate("pretraining_attention", parts), attention)
