"""Check that the sources of a study exist and match its configuration."""

import os

from heuristic_core.config.reading import ConfigError
from heuristic_core.config.tasks import FilesTask
from heuristic_core.experiments.subnetworks.config.study import Study
from heuristic_core.models.classifier_heads import find_target_problem
from heuristic_core.models.folder import find_problem
from heuristic_core.models.special_tokens import find_length_problem
from heuristic_core.plan.jobs import PLAN_VARIABLE

MAX_SPECIAL_TOKENS = 16  # in a pair, of any tokenizer


def check_sources(study: Study, origin: str) -> None:
    """Check the model's folder and the task's files. A plan assumes missing files (`pairs.yaml`) and reads the others.

    Args:
        study: The study.
        origin: The configuration file, as messages name it.

    Raises:
        ConfigError: If it is invalid; the message has one line per error.
    """
    has_files = isinstance(study.task, FilesTask)
    problems = [find_problem(study.model, study.task.labels if has_files else None, study.task.max_length)]
    if study.task.max_length < MAX_SPECIAL_TOKENS:  # otherwise the tokenizer's file is not read
        problems.append(find_length_problem(study.model, study.task.max_length, study.task.sentence_count))
    if study.task.has_target:
        problems.append(find_target_problem(study.model))
    if has_files:
        # They import numpy, which generated tasks do not need here.
        from heuristic_core.data.preview import find_task_errors
        from heuristic_core.data.split_files import find_missing_paths
        from heuristic_core.models.cut_targets import find_cut_targets

        if not (os.environ.get(PLAN_VARIABLE) and find_missing_paths(study.task)):
            problems += find_task_errors(study.task, study.requirements)
            if study.task.has_target and not any(problems):
                problems += find_cut_targets(study.model, study.task)
    if lines := [f"  {line}" for line in problems if line]:
        raise ConfigError(f"{origin}: study {study.study} cannot be run:\n" + "\n".join(lines))
