"""Models and tokenizers of a folder through transformers, as data alone: no code beside them runs, nor any pickle."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

from heuristic_core.common.errors import InputError


def load_config(folder: str | Path, **options):
    """The configuration of a model. Like the others here, raises InputError where the folder cannot be loaded so."""
    from transformers import AutoConfig

    with _as_data(folder):
        return AutoConfig.from_pretrained(folder, trust_remote_code=False, **options)


def load_tokenizer(folder: str | Path):
    from transformers import AutoTokenizer

    with _as_data(folder):
        return AutoTokenizer.from_pretrained(folder, trust_remote_code=False)


def load_classifier(folder: str | Path, **options):
    """A ``PreTrainedModel`` for sequence classification. options: of its ``from_pretrained``."""
    from transformers import AutoModelForSequenceClassification

    with _as_data(folder):
        return AutoModelForSequenceClassification.from_pretrained(
            folder, trust_remote_code=False, use_safetensors=True, **options
        )


def load_decoder(folder: str | Path, **options):
    """A ``PreTrainedModel`` for causal language modelling. options: of its ``from_pretrained``."""
    from transformers import AutoModelForCausalLM

    with _as_data(folder):
        return AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=False, use_safetensors=True, **options)


@contextlib.contextmanager
def _as_data(folder: str | Path) -> Iterator[None]:
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, ValueError, SafetensorError) as error:
        raise InputError(
            f"{folder} cannot be loaded: {error}. Models are read from config.json, the tokenizer's files and "
            "model.safetensors alone; other weights are not read, and code that is beside them is not run"
        ) from None
