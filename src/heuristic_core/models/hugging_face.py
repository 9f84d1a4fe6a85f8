"""Models and tokenizers of a folder through transformers, as data alone: no code beside them runs, nor any pickle.

Weights are float32 whatever is stored, unless another dtype is asked for.
"""

import contextlib
import logging
from collections.abc import Iterable, Iterator
from pathlib import Path

from heuristic_core.common.errors import InputError
from heuristic_core.models.weight_files import some_of

LOGGER = logging.getLogger(__name__)


def load_config(folder: str | Path, **options):
    """The configuration of a model. Like the others here, raises InputError where the folder cannot be loaded so."""
    from transformers import AutoConfig

    with _as_data(folder):
        return AutoConfig.from_pretrained(folder, trust_remote_code=False, **options)


def load_tokenizer(folder: str | Path):
    from transformers import AutoTokenizer

    with _as_data(folder, Exception):  # the library's own errors have no type
        return AutoTokenizer.from_pretrained(folder, trust_remote_code=False)


def load_classifier(folder: str | Path, new_head: bool = False, **options):
    """A ``PreTrainedModel`` for sequence classification.

    new_head: a classification head and a pooler that the folder lacks are drawn. options: of its ``from_pretrained``.
    """
    from transformers import AutoModelForSequenceClassification

    model, missing = _loaded(AutoModelForSequenceClassification, folder, options)
    base = f"{model.base_model_prefix}."
    head = {name for name in missing if not name.startswith(base) or name.startswith(f"{base}pooler.")}
    if absent := missing - head if new_head else missing:
        raise _random(folder, absent)
    if head:
        LOGGER.info("%s has no %s: these begin at random, by the seed", folder, ", ".join(sorted(head)))
    return model


def load_decoder(folder: str | Path, **options):
    """A ``PreTrainedModel`` for causal language modelling. options: of its ``from_pretrained``."""
    from transformers import AutoModelForCausalLM

    model, missing = _loaded(AutoModelForCausalLM, folder, options)
    if missing:
        raise _random(folder, missing)
    return model


def _loaded(architecture, folder: str | Path, options: dict):
    """A model, and the names of its weights that are not in the folder."""
    import torch

    with _as_data(folder), _without_report():
        model, info = architecture.from_pretrained(
            folder,
            trust_remote_code=False,
            use_safetensors=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # to be named below
            **({"dtype": torch.float32} | options),
        )
    for name, stored, shape in sorted(info["mismatched_keys"]):
        raise InputError(
            f"{folder}: {name} has shape {list(stored)} in the file and {list(shape)} by config.json and the task's "
            "labels: take config.json and weights from the same model"
        )
    if unused := {name for name in info["unexpected_keys"] if name.startswith(f"{model.base_model_prefix}.")}:
        LOGGER.warning("%s has %s that its config.json has no place for: left out", folder, some_of(sorted(unused)))
    return model, set(info["missing_keys"])


def _random(folder: str | Path, names: Iterable[str]) -> InputError:
    return InputError(f"{folder}: {some_of(sorted(names))} of the model are not in its weights, and would be random")


@contextlib.contextmanager
def _without_report() -> Iterator[None]:
    """Transformers does not print its table of weights that it did not find or use: what is in it is told here."""
    logger = logging.getLogger("transformers.modeling_utils")

    def other(record: logging.LogRecord) -> bool:
        return "LOAD REPORT" not in record.getMessage()

    logger.addFilter(other)
    try:
        yield
    finally:
        logger.removeFilter(other)


@contextlib.contextmanager
def _as_data(folder: str | Path, *errors: type[Exception]) -> Iterator[None]:
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, ValueError, ImportError, SafetensorError, *errors) as error:
        raise InputError(
            f"{folder} cannot be loaded: {error}. Models are read from config.json, the tokenizer's files and "
            "model.safetensors alone; other weights are not read, and code that is beside them is not run"
        ) from None
