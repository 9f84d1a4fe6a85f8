"""Find targets that the maximum length cuts off, by the tokenizer's file and a task's files."""

from collections.abc import Iterator
from pathlib import Path

from heuristic_core.common.errors import InputError, format_count
from heuristic_core.config.models import NewModel, PretrainedModel
from heuristic_core.config.splits import EvaluationSplit
from heuristic_core.config.tasks import FilesTask
from heuristic_core.data.columns import DataError
from heuristic_core.data.evaluation_subsets import get_evaluation_labels
from heuristic_core.data.files import get_training_labels
from heuristic_core.data.labels import LabelStyle
from heuristic_core.data.rows import Row, read_rows
from heuristic_core.data.targets import is_cut_off
from heuristic_core.models.folder import resolve_folder
from heuristic_core.models.special_tokens import TOKENIZER_FILE

ALL_ROWS = 10**9  # with a limit, files not downloaded yet are skipped


def find_cut_targets(model: NewModel | PretrainedModel, task: FilesTask) -> list[str]:
    """Return a message for each split in which `task.max_length` cuts off a target.

    Args:
        model: The model's configuration. Without a readable local file of its tokenizer, there are no messages; job
            `encode` checks all rows.
        task: A task with targets, whose files can be read.
    """
    try:
        path = None if isinstance(model, NewModel) else Path(resolve_folder(model), TOKENIZER_FILE)
    except InputError:  # other checks name it
        return []
    if path is None or not path.is_file():
        return []
    from tokenizers import Tokenizer  # here: most studies have no targets

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception:  # all that it raises; the job that reads the tokenizer reports a damaged file
        return []
    tokenizer.enable_truncation(task.max_length)
    problems = []
    try:
        rows_by_split = dict(_read_targets(task))
    except DataError as error:
        return [str(error)]
    for key, rows in rows_by_split.items():
        encodings = tokenizer.encode_batch([row.sentences[0] for row in rows])
        cut = [row for row, encoding in zip(rows, encodings, strict=True) if is_cut_off(row.target, encoding)]
        if cut:
            start, end = cut[0].target
            sentence = cut[0].sentences[0]
            problems.append(
                f"{key} ({task.splits[key].source}): task.max_length = {task.max_length} cuts off the target of "
                f"{format_count(len(cut), 'sentence')}, such as {sentence[start:end]!r} in {sentence!r}; raise it"
            )
    return problems


def _read_targets(task: FilesTask) -> Iterator[tuple[str, list[Row]]]:
    """Yield the key of each split and its rows with a target, of files that are there."""
    style = LabelStyle()
    for key, split in task.splits.items():
        if isinstance(split, EvaluationSplit):
            labels, _ = get_evaluation_labels(task, key.removeprefix("task.evaluation."), split)
        else:
            labels = get_training_labels(task, split)
        yield key, [row for row in read_rows(task, split, labels, ALL_ROWS, style)[0] if row.target]
