"""Count the special tokens of a pair from a tokenizer's files, and check that sentences fit beside them."""

import json
from pathlib import Path

from heuristic_core.common.errors import InputError
from heuristic_core.config.models import NewModel, PretrainedModel
from heuristic_core.data.pairs import find_length_error
from heuristic_core.models.folder import resolve_folder

BERT_SPECIAL_TOKENS = 3
TOKENIZER_FILE = "tokenizer.json"
SPECIAL_TOKENS = {"BertProcessing": BERT_SPECIAL_TOKENS, "RobertaProcessing": 4}


def find_length_problem(model: NewModel | PretrainedModel, max_length: int) -> str | None:
    """Return why a maximum length has no room for a token of each sentence.

    Args:
        model: The model's configuration, which determines the number of special tokens.
        max_length: Maximum number of tokens of an encoded pair.

    Returns:
        Text of the problem; None if there is none, or if the files do not give the number of special tokens.
    """
    special = count_special_tokens(model)
    return None if special is None else find_length_error(special, max_length)


def count_special_tokens(model: NewModel | PretrainedModel) -> int | None:
    """Return the number of special tokens of a pair; None if the model's files do not say or are missing."""
    if isinstance(model, NewModel):
        return BERT_SPECIAL_TOKENS
    try:
        processor = json.loads(Path(resolve_folder(model), TOKENIZER_FILE).read_text(encoding="utf-8"))[
            "post_processor"
        ]
        return _count(processor)
    except (InputError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return None  # the job that reads the tokenizer reports the error


def _count(processor: dict | None) -> int:
    if processor is None:
        return 0
    if processor["type"] == "Sequence":
        return sum(map(_count, processor["processors"]))
    if processor["type"] == "TemplateProcessing":
        names = [piece["SpecialToken"]["id"] for piece in processor["pair"] if "SpecialToken" in piece]
        return sum(len(processor["special_tokens"][name]["ids"]) for name in names)
    return SPECIAL_TOKENS.get(processor["type"], 0)
