"""Minimal pairs of evaluation pairs."""

import torch  # noqa: F401 (transformers imports it later, when its arithmetic could not be settled)

from heuristic_core.common.roles import Input, Output
from heuristic_core.config.generated import GeneratedTask
from heuristic_core.config.tasks import AnyTask
from heuristic_core.data.encoded import Encoded
from heuristic_core.data.languages.overlap.counterparts import build_minimal_pairs
from heuristic_core.data.minimal_pairs import find_nearest_pairs, log_changes
from heuristic_core.models.hugging_face import load_tokenizer
from heuristic_core.tables.parquet import read_rows


def find_minimal_pairs(sentences: Input, evaluation: Input, tokenizer: Input, task: AnyTask, minimal: Output) -> None:
    """Find the minimal pair of every evaluation pair: of the other label, with as many tokens and few other ones.

    Args:
        sentences: Evaluation pairs (Parquet).
        evaluation: Encoded evaluation pairs (safetensors).
        tokenizer: Folder of the tokenizer that encoded them.
        task: Block of the configuration.
        minimal: Where to write encoded minimal pairs, of the evaluation pairs in their order (safetensors).
    """
    encoded = Encoded.load(evaluation)
    if isinstance(task, GeneratedTask) and task.language == "overlap":
        pairs = build_minimal_pairs(read_rows(sentences), encoded, load_tokenizer(tokenizer), task.max_length)
    else:
        pairs = find_nearest_pairs(encoded)
    log_changes(encoded, pairs)
    pairs.save(minimal)
