"""Count the special tokens of an example from a tokenizer's files, and check that sentences fit beside them."""

import json
from pathlib import Path

from heuristic_core.common.errors import InputError
from heuristic_core.config.models import NewModel, PretrainedModel
from heuristic_core.data.pairs import find_length_error
from heuristic_core.models.folder import resolve_folder

BERT_SPECIAL_TOKENS = {1: 2, 2: 3}  # by number of sentences
TOKENIZER_FILE = "tokenizer.json"
SPECIAL_TOKENS = {"BertProcessing": BERT_SPECIAL_TOKENS, "RobertaProcessing": {1: 2, 2: 4}}


def find_length_problem(model: NewModel | PretrainedModel, max_length: int, sentences: int = 2) -> str | None:
    """Return why a maximum length has no room for a token of each sentence.

    Args:
        model: The model's configuration, which determines the number of special tokens.
        max_length: Maximum number of tokens of an encoded example.
        sentences: Number of sentences of an example.

    Returns:
        Text of the problem; None if there is none, or if the files do not give the number of special tokens.
    """
    special = count_special_tokens(model, sentences)
    return None if special is None else find_length_error(special, max_length, sentences)


def count_special_tokens(model: NewModel | PretrainedModel, sentences: int = 2) -> int | None:
    """Return the number of special tokens of an example; None if the model's files do not say or are missing.

    Args:
        model: The model's configuration.
        sentences: Number of sentences of an example.
    """
    if isinstance(model, NewModel):
        return BERT_SPECIAL_TOKENS[sentences]
    try:
        processor = json.loads(Path(resolve_folder(model), TOKENIZER_FILE).read_text(encoding="utf-8"))[
            "post_processor"
        ]
        return _count(processor, sentences)
    except (InputError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return None  # the job that reads the tokenizer reports the error


def _count(processor: dict | None, sentences: int) -> int:
    if processor is None:
        return 0
    if processor["type"] == "Sequence":
        return sum(_count(part, sentences) for part in processor["processors"])
    if processor["type"] == "TemplateProcessing":
        names = [
            piece["SpecialToken"]["id"]
            for piece in processor["single" if sentences == 1 else "pair"]
            if "SpecialToken" in piece
        ]
        return sum(len(processor["special_tokens"][name]["ids"]) for name in names)
    return SPECIAL_TOKENS[processor["type"]][sentences] if processor["type"] in SPECIAL_TOKENS else 0
