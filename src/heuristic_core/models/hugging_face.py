"""Load models and tokenizers from a folder through transformers, without running code or pickles from the folder.

Weights become float32 whatever the stored precision, unless `dtype` is passed.
"""

import contextlib
import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heuristic_core.common.errors import InputError
from heuristic_core.models.weight_validation import summarise_weights

if TYPE_CHECKING:
    from transformers import PretrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

LOGGER = logging.getLogger(__name__)


def load_config(folder: str | Path, **options: Any) -> "PretrainedConfig":
    """Load the configuration of a model, a ``PretrainedConfig``.

    Args:
        folder: The model's folder.
        **options: Settings that replace those of config.json.

    Raises:
        InputError: The folder cannot be loaded.
    """
    from transformers import AutoConfig

    with _loading_errors(folder):
        return AutoConfig.from_pretrained(folder, trust_remote_code=False, **options)


def load_tokenizer(folder: str | Path) -> "PreTrainedTokenizerBase":
    """Load the tokenizer of a model, a ``PreTrainedTokenizerBase``.

    Raises:
        InputError: The folder cannot be loaded.
    """
    from transformers import AutoTokenizer

    with _loading_errors(folder, Exception):  # transformers raises errors of many types here
        return AutoTokenizer.from_pretrained(folder, trust_remote_code=False)


def load_classifier(folder: str | Path, new_head: bool = False, **options: Any) -> "PreTrainedModel":
    """Load a ``PreTrainedModel`` for sequence classification.

    Args:
        folder: The model's folder.
        new_head: Whether to initialise a missing classification head and pooler at random.
        options: Arguments of ``from_pretrained``.

    Raises:
        InputError: The folder cannot be loaded, or lacks weights.
    """
    from transformers import AutoModelForSequenceClassification

    model, missing = _load(AutoModelForSequenceClassification, folder, options)
    base_prefix = f"{model.base_model_prefix}."
    head = {name for name in missing if not name.startswith(base_prefix) or name.startswith(f"{base_prefix}pooler.")}
    if unexpected := missing - head if new_head else missing:
        raise InputError(_describe_missing_weights(folder, unexpected))
    if head:
        LOGGER.info("%s lacks %s: initialised at random from the seed", folder, ", ".join(sorted(head)))
    return model


def load_decoder(folder: str | Path, **options: Any) -> "PreTrainedModel":
    """Load a ``PreTrainedModel`` for causal language modelling.

    Args:
        folder: The model's folder.
        options: Arguments of ``from_pretrained``.

    Raises:
        InputError: The folder cannot be loaded, or lacks weights.
    """
    from transformers import AutoModelForCausalLM

    model, missing = _load(AutoModelForCausalLM, folder, options)
    if missing:
        raise InputError(_describe_missing_weights(folder, missing))
    return model


def _load(architecture, folder: str | Path, options: dict):
    """Load a model; also return the names of weights that the folder lacks. No progress bar is shown."""
    import torch
    from transformers.utils import logging as hugging_face_logging

    hugging_face_logging.disable_progress_bar()
    with _loading_errors(folder), _suppress_load_report():
        model, info = architecture.from_pretrained(
            folder,
            trust_remote_code=False,
            use_safetensors=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # reported below
            **({"dtype": torch.float32} | options),
        )
    for name, stored, shape in sorted(info["mismatched_keys"]):
        raise InputError(
            f"{folder}: {name} has shape {list(stored)} in the file, but config.json and the task's labels give "
            f"{list(shape)}: take config.json and weights from the same model"
        )
    if unused := {name for name in info["unexpected_keys"] if name.startswith(f"{model.base_model_prefix}.")}:
        LOGGER.warning(
            "%s has %s that its config.json does not describe: ignored", folder, summarise_weights(sorted(unused))
        )
    return model, set(info["missing_keys"])


def _describe_missing_weights(folder: str | Path, names: Iterable[str]) -> str:
    return f"{folder}: {summarise_weights(sorted(names))} missing from the weights, which would be random"


@contextlib.contextmanager
def _suppress_load_report() -> Iterator[None]:
    """Suppress transformers' table of missing and unused weights, which this module reports itself."""
    logger = logging.getLogger("transformers.modeling_utils")

    def keep_message(record: logging.LogRecord) -> bool:
        return "LOAD REPORT" not in record.getMessage()

    logger.addFilter(keep_message)
    try:
        yield
    finally:
        logger.removeFilter(keep_message)


@contextlib.contextmanager
def _loading_errors(folder: str | Path, *errors: type[Exception]) -> Iterator[None]:
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, ValueError, ImportError, SafetensorError, *errors) as error:
        raise InputError(
            f"{folder} cannot be loaded: {error}. Models are loaded from config.json, the tokenizer's files "
            "and model.safetensors only; other weight files are not read, and code in the folder is not run"
        ) from None
