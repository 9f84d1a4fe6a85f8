"""Sentence pairs as tokens."""

import json
from pathlib import Path

import torch  # noqa: F401 (transformers imports it later, when its arithmetic could not be settled)

from heuristic_core.common.roles import Input, Output
from heuristic_core.config.models import AnyModel
from heuristic_core.config.tasks import AnyTask
from heuristic_core.data.encode import tokenise
from heuristic_core.data.pairs import SubsetRule
from heuristic_core.data.token_coverage import add_coverage, warn_of_low_coverage
from heuristic_core.models.tokenizer import make_tokenizer
from heuristic_core.tables.parquet import read_rows, write_table


def encode_pairs(
    train_sentences: Input,
    evaluation_sentences: Input,
    subsets: Input,
    counts: Input,
    model: AnyModel,
    task: AnyTask,
    train: Output,
    evaluation: Output,
    tokenizer: Output,
    splits: Output,
    fetched: Input | None = None,
    model_files: list[Input] = (),
) -> None:
    """Encode sentence pairs with the model's tokenizer.

    Args:
        train_sentences: Training pairs (Parquet).
        evaluation_sentences: Evaluation pairs (Parquet).
        subsets: Their subsets (JSON).
        counts: Outcome of all rows (JSON).
        model: Block of the configuration.
        task: Block of the configuration.
        train: Where to write encoded training pairs (safetensors).
        evaluation: Where to write encoded evaluation pairs (safetensors).
        tokenizer: Folder in which to save the tokenizer.
        splits: Where to write the outcome of the rows and tokens of each set (Parquet).
        fetched: List of what was downloaded, for the record.
        model_files: Files of the model, where its block names a folder, for the record.
    """
    made = make_tokenizer(model, task)
    rules = [SubsetRule(**rule) for rule in json.loads(Path(subsets).read_text())["subsets"]]
    encoded_train = tokenise(read_rows(train_sentences), made, task.max_length)
    encoded_evaluation = tokenise(read_rows(evaluation_sentences), made, task.max_length, rules)
    rows = add_coverage(json.loads(Path(counts).read_text()), encoded_train, encoded_evaluation)
    warn_of_low_coverage(rows, encoded_train, encoded_evaluation, task.max_length)
    encoded_train.pairs.save(train)
    encoded_evaluation.pairs.save(evaluation)
    write_table("splits", rows, splits)
    made.save_pretrained(tokenizer)
