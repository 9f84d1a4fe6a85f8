"""The tokenizer of a study's model."""

from pathlib import Path

from heuristic_core.common.errors import InputError
from heuristic_core.config.models import NewModel, PretrainedModel
from heuristic_core.config.tasks import FilesTask, GeneratedTask
from heuristic_core.models.folder import check_files, folder_of
from heuristic_core.models.hugging_face import load_tokenizer
from heuristic_core.models.tokenizer_files import check_rows
from heuristic_core.models.weight_files import read_object
from heuristic_core.sources.hub import CONFIG
from heuristic_core.tasks.language import VOCABULARY


def make_tokenizer(model: NewModel | PretrainedModel, task: GeneratedTask | FilesTask):
    """The pretrained model's tokenizer; for a new model, one whose vocabulary is the generated language's words."""
    if isinstance(model, PretrainedModel):
        return _of_folder(Path(folder_of(model)), task.max_length)
    if not isinstance(task, GeneratedTask):
        raise ValueError(
            f"model {model.name} is new and has no vocabulary for task {task.name}; use a pretrained model"
        )
    from transformers import BertTokenizer

    words = {word: index for index, word in enumerate(VOCABULARY)}
    return BertTokenizer(vocab=words, do_lower_case=False, model_max_length=task.max_length)


def _of_folder(folder: Path, max_length: int):
    """Also checked of a model of the hub, which was not there when the study began."""
    check_files(folder, max_length)
    tokenizer = load_tokenizer(folder)
    words = tokenizer.get_vocab()
    if set(words) <= set(tokenizer.all_special_tokens):
        raise InputError(
            f"{folder}: {type(tokenizer).__name__} found no word in this folder's files: copy the tokenizer's files "
            "from the model that this one began as"
        )
    check_rows(folder, words, read_object(folder / CONFIG), _roles(tokenizer))
    return tokenizer


def _roles(tokenizer) -> dict[str, str]:
    """Special tokens by their roles, and others by their own names."""
    roles = {name: str(token) for name, token in tokenizer.special_tokens_map.items() if not isinstance(token, list)}
    return {str(token): str(token) for token in tokenizer.all_special_tokens} | roles
