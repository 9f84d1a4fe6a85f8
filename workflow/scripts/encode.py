"""Encode sentence pairs with the model's tokenizer."""

import json
from pathlib import Path

import torch  # noqa: F401 (transformers imports it later, when its arithmetic could not be settled)

from heuristic_core.config.models import AnyModel
from heuristic_core.config.tasks import AnyTask
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.models.tokenizer import make_tokenizer
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_rows, write_table
from heuristic_core.tasks.encode import tokenise
from heuristic_core.tasks.losses import split_rows, warn_of_losses
from heuristic_core.tasks.pairs import SubsetRule


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("model", AnyModel)
    parser.settings("task", AnyTask)
    parser.reads(
        train_sentences="training pairs (Parquet)",
        evaluation_sentences="evaluation pairs (Parquet)",
        subsets="their subsets (JSON)",
        counts="what became of all rows (JSON)",
    )
    parser.writes(
        train="where to write encoded training pairs (safetensors)",
        evaluation="where to write encoded evaluation pairs (safetensors)",
        tokenizer="folder in which to save the tokenizer",
        splits="where to write what became of the rows and tokens of each set (Parquet)",
    )
    parser.sources()
    args = parser.read(arguments)
    tokenizer = make_tokenizer(args.model, args.task)
    rules = [SubsetRule(**rule) for rule in json.loads(Path(args.subsets).read_text())["subsets"]]
    train = tokenise(read_rows(args.train_sentences), tokenizer, args.task.max_length)
    evaluation = tokenise(read_rows(args.evaluation_sentences), tokenizer, args.task.max_length, rules)
    splits = split_rows(json.loads(Path(args.counts).read_text()), train, evaluation)
    warn_of_losses(splits, train, evaluation, args.task.max_length)
    train.pairs.save(args.train)
    evaluation.pairs.save(args.evaluation)
    write_table("splits", splits, args.splits)
    tokenizer.save_pretrained(args.tokenizer)


if __name__ == "__main__":
    recorded(main)
