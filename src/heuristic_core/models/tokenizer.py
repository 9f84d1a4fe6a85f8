"""The tokenizer of a study's model."""

from heuristic_core.config.models import NewModel, PretrainedModel
from heuristic_core.config.tasks import FilesTask, GeneratedTask
from heuristic_core.models.folder import folder_of
from heuristic_core.models.hugging_face import load_tokenizer
from heuristic_core.tasks.language import VOCABULARY


def make_tokenizer(model: NewModel | PretrainedModel, task: GeneratedTask | FilesTask):
    """The pretrained model's tokenizer; for a new model, one whose vocabulary is the generated language's words."""
    if isinstance(model, PretrainedModel):
        return load_tokenizer(folder_of(model))
    if not isinstance(task, GeneratedTask):
        raise ValueError(
            f"model {model.name} is new and has no vocabulary for task {task.name}; use a pretrained model"
        )
    from transformers import BertTokenizer

    words = {word: index for index, word in enumerate(VOCABULARY)}
    return BertTokenizer(vocab=words, do_lower_case=False, model_max_length=task.max_length)
