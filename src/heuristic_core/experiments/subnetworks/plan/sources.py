"""Check that the sources of a study exist and match its configuration."""

from heuristic_core.config.reading import ConfigError
from heuristic_core.config.tasks import FilesTask
from heuristic_core.experiments.subnetworks.config.study import Study
from heuristic_core.models.folder import find_problem
from heuristic_core.models.special_tokens import find_length_problem

MAX_SPECIAL_TOKENS = 16  # in a pair, of any tokenizer


def check_sources(study: Study, origin: str) -> None:
    """Check the model's folder and the task's files.

    Args:
        study: The study.
        origin: The configuration file, as messages name it.

    Raises:
        ConfigError: If it is invalid; the message has one line per error.
    """
    has_files = isinstance(study.task, FilesTask)
    problems = [find_problem(study.model, study.task.labels if has_files else None, study.task.max_length)]
    if study.task.max_length < MAX_SPECIAL_TOKENS:  # otherwise the tokenizer's file is not read
        problems.append(find_length_problem(study.model, study.task.max_length))
    if has_files:
        from heuristic_core.data.preview import (
            find_task_errors,
        )  # imports numpy, which generated tasks do not need here

        problems += find_task_errors(study.task, study.requirements)
    if lines := [f"  {line}" for line in problems if line]:
        raise ConfigError(f"{origin}: study {study.study} cannot be run:\n" + "\n".join(lines))
