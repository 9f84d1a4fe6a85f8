"""How many special tokens a tokenizer puts into a pair, as its files tell, and whether there is room for others."""

import json
from pathlib import Path

from heuristic_core.common.errors import InputError
from heuristic_core.config.models import NewModel, PretrainedModel
from heuristic_core.models.folder import folder_of
from heuristic_core.tasks.pairs import no_room

OF_BERT = 3
FILE = "tokenizer.json"
PROCESSORS = {"BertProcessing": OF_BERT, "RobertaProcessing": 4}


def room_fault(model: NewModel | PretrainedModel, max_length: int) -> str | None:
    """Why `max_length` leaves no token of a sentence beside one of the other; None where it does, or nothing tells."""
    special = special_tokens(model)
    return None if special is None else no_room(special, max_length)


def special_tokens(model: NewModel | PretrainedModel) -> int | None:
    """Special tokens of a pair; None where the model's files do not tell, or are not there."""
    if isinstance(model, NewModel):
        return OF_BERT
    try:
        processor = json.loads(Path(folder_of(model), FILE).read_text(encoding="utf-8"))["post_processor"]
        return _of(processor)
    except (InputError, OSError, ValueError, KeyError, TypeError, AttributeError):
        return None  # the job that reads the tokenizer tells


def _of(processor: dict | None) -> int:
    if processor is None:
        return 0
    if processor["type"] == "Sequence":
        return sum(map(_of, processor["processors"]))
    if processor["type"] == "TemplateProcessing":
        names = [piece["SpecialToken"]["id"] for piece in processor["pair"] if "SpecialToken" in piece]
        return sum(len(processor["special_tokens"][name]["ids"]) for name in names)
    return PROCESSORS.get(processor["type"], 0)
