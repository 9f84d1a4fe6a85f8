"""Whether a study can begin: what it starts from is there, and is what the configuration says."""

from heuristic_core.config.reading import ConfigError
from heuristic_core.config.tasks import FilesTask
from heuristic_core.experiments.heuristic_core.config.study import Study
from heuristic_core.models.folder import fault
from heuristic_core.models.special_tokens import room_fault

SHORT = 16  # tokens: no tokenizer puts as many special ones into a pair


def check_sources(study: Study, origin: str) -> None:
    """Raise ConfigError with one line for each fault of the model's folder and of the task's files.

    origin: the configuration, as messages name it.
    """
    of_files = isinstance(study.task, FilesTask)
    found = [fault(study.model, study.task.labels if of_files else None, study.task.max_length)]
    if study.task.max_length < SHORT:  # otherwise the tokenizer's file is not read
        found.append(room_fault(study.model, study.task.max_length))
    if of_files:
        from heuristic_core.tasks.preview import faults  # needs numpy, which studies of generated pairs do not wait for

        found += faults(study.task, study.demands)
    if lines := [f"  {line}" for line in found if line]:
        raise ConfigError(f"{origin}: study {study.study} cannot be run:\n" + "\n".join(lines))
