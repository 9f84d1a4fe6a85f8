"""Modules of Hugging Face classifiers that get all hidden states [B, T, d] and read the classified one, by family.

A target within the sentence is classified through them. Families without such a module are left out.
"""

from pathlib import Path

from heuristic_core.common.errors import InputError
from heuristic_core.config.models import NewModel, PretrainedModel
from heuristic_core.data.hub import CONFIG_FILE
from heuristic_core.models.folder import resolve_folder
from heuristic_core.models.weight_files import read_object

DECODERS = ("gpt2", "gpt_neox", "olmo", "llama", "mistral", "qwen2", "gemma2", "qwen3")
CLASSIFIER_MODULES = {"bert": "bert.pooler", "roberta": "classifier", "electra": "classifier", "deberta-v2": "pooler"}
CLASSIFIER_MODULES |= dict.fromkeys(DECODERS, "score")


def find_target_problem(model: NewModel | PretrainedModel) -> str | None:
    """Return why a model cannot classify a token within the sentence; None if it can, or if its files are missing."""
    if model.source == "new":
        return None
    try:
        model_type = read_object(Path(resolve_folder(model)) / CONFIG_FILE).get("model_type")
    except InputError:
        return None  # `find_problem` reports it
    return None if model_type in CLASSIFIER_MODULES else describe_unsupported(model_type)


def describe_unsupported(model_type: str | None) -> str:
    """Return why models of a family cannot classify a token within the sentence."""
    names = ", ".join(CLASSIFIER_MODULES)
    return f"task: target: model_type = {model_type!r} classifies whole sentences only; choose a model of {names}"
