"""The tokenizer of a study's model."""

from pathlib import Path
from typing import TYPE_CHECKING

from heuristic_core.common.errors import InputError
from heuristic_core.config.generated import GeneratedTask
from heuristic_core.config.models import NewModel, PretrainedModel
from heuristic_core.config.tasks import FilesTask
from heuristic_core.data.hub import CONFIG_FILE
from heuristic_core.data.languages.registry import LANGUAGES
from heuristic_core.models.folder import check_files, resolve_folder
from heuristic_core.models.hugging_face import load_tokenizer
from heuristic_core.models.tokenizer_files import check_rows
from heuristic_core.models.weight_files import read_object

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def make_tokenizer(model: NewModel | PretrainedModel, task: GeneratedTask | FilesTask) -> "PreTrainedTokenizerBase":
    """Load a pretrained model's tokenizer; for a new model, build one from the words of the generated language.

    Args:
        model: The model's configuration.
        task: The task's configuration; its `max_length` limits the tokens of a pair.

    Raises:
        InputError: The files of a pretrained model are missing or do not fit together.
        ValueError: A new model is combined with a task that is not generated.
    """
    if isinstance(model, PretrainedModel):
        return _load_checked(Path(resolve_folder(model)), task.max_length)
    if not isinstance(task, GeneratedTask):
        raise ValueError(
            f"model {model.name} is new and lacks a vocabulary for task {task.name}; use a pretrained model"
        )
    from transformers import BertTokenizer

    vocabulary = {word: index for index, word in enumerate(LANGUAGES[task.language].vocabulary)}
    return BertTokenizer(vocab=vocabulary, do_lower_case=False, model_max_length=task.max_length)


def _load_checked(folder: Path, max_length: int):
    """Load and check a tokenizer; files from the hub could not be checked before the study started."""
    check_files(folder, max_length)
    tokenizer = load_tokenizer(folder)
    vocabulary = tokenizer.get_vocab()
    if set(vocabulary) <= set(tokenizer.all_special_tokens):
        raise InputError(
            f"{folder}: {type(tokenizer).__name__} found no words in the files of this folder: copy the "
            "tokenizer's files from the base model"
        )
    check_rows(folder, vocabulary, read_object(folder / CONFIG_FILE), _roles(tokenizer))
    return tokenizer


def _roles(tokenizer) -> dict[str, str]:
    """Return special tokens by role, and further ones by their own names."""
    roles = {name: str(token) for name, token in tokenizer.special_tokens_map.items() if not isinstance(token, list)}
    return {str(token): str(token) for token in tokenizer.all_special_tokens} | roles
