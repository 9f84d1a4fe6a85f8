"""Encode sentence pairs with the model's tokenizer."""

import json
from pathlib import Path

import torch  # noqa: F401 (transformers imports it later, when its arithmetic could not be settled)

from heuristic_core.config.models import AnyModel
from heuristic_core.config.tasks import AnyTask
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.models.tokenizer import make_tokenizer
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_rows
from heuristic_core.tasks.encode import encode
from heuristic_core.tasks.pairs import SubsetRule


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("model", AnyModel)
    parser.settings("task", AnyTask)
    parser.reads(
        train_sentences="training pairs (Parquet)",
        evaluation_sentences="evaluation pairs (Parquet)",
        subsets="their subsets (JSON)",
    )
    parser.writes(
        train="where to write encoded training pairs (safetensors)",
        evaluation="where to write encoded evaluation pairs (safetensors)",
        tokenizer="folder in which to save the tokenizer",
    )
    parser.sources()
    args = parser.read(arguments)
    tokenizer = make_tokenizer(args.model, args.task)
    rules = [SubsetRule(**rule) for rule in json.loads(Path(args.subsets).read_text())["subsets"]]
    encode(read_rows(args.train_sentences), tokenizer, args.task.max_length).save(args.train)
    encode(read_rows(args.evaluation_sentences), tokenizer, args.task.max_length, rules).save(args.evaluation)
    tokenizer.save_pretrained(args.tokenizer)


if __name__ == "__main__":
    recorded(main)
