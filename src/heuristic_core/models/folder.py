"""Where the files of a pretrained model are."""

import importlib.util
import os
from pathlib import Path

from heuristic_core.common.errors import InputError
from heuristic_core.config.models import NewModel, PretrainedModel
from heuristic_core.sources.hub import cached_model


def folder_of(model: PretrainedModel) -> str:
    """The folder of `model`. Raises InputError where its package, its folder or its files of the hub are not there."""
    if model.hub is not None:
        return str(cached_model(model.hub, model.revision))
    folder = Path(model.folder)
    if model.package is not None:
        folder = _package_folder(model.package) / folder
    if not folder.is_dir():
        of = f"package {model.package}" if model.package else "the working directory"
        raise InputError(f"model.folder = {model.folder!r}: there is no such folder in {of}")
    return str(folder)


def _package_folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise InputError(
            f"model.package = {package!r} is not installed; install the extra that has it (docs/models.md), or give "
            "model.folder without a package, or model.hub"
        )
    return Path(spec.submodule_search_locations[0])


def local_files(model: NewModel | PretrainedModel) -> list[str]:
    """The files of a model's local folder, those whose change changes the model; none of a new one or of the hub's.

    Below the working directory their paths are relative, so that a checkout may move.
    """
    if model.source == "new" or model.hub is not None:
        return []
    try:
        folder = Path(folder_of(model))
    except InputError:
        return []  # the job that needs them says so
    if folder.is_absolute() and folder.is_relative_to(Path.cwd()):
        folder = Path(os.path.relpath(folder))
    return sorted(str(path) for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
