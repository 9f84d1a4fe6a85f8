"""Find the files of a task's splits."""

import glob
from pathlib import Path

from heuristic_core.common.errors import InputError
from heuristic_core.common.hashing import file_digest
from heuristic_core.config.generated import GeneratedTask
from heuristic_core.config.splits import Split
from heuristic_core.config.tasks import FilesTask
from heuristic_core.data.columns import DataError


def find_split_paths(task: FilesTask, split: Split) -> list[Path]:
    """Return the local paths of a split's files.

    Args:
        task: The task, for its folder.
        split: Configuration of the split.

    Returns:
        Paths sorted by name, at least one.

    Raises:
        DataError: If no file exists, or if the SHA-256 of a downloaded file differs from the configuration's.
        InputError: If a file of the hub is not in the cache.
    """
    if split.hub:
        from heuristic_core.data.hub import find_cached_files

        return find_cached_files(split.hub, split.revision, [split.file], kind="dataset")
    if split.url:
        return [_find_download(task, split)]
    paths = _glob_split(task, split)
    if not paths:
        key = "task.folder" if split.folder is None else "folder"
        raise DataError(
            f"{Path(task.resolve_path(split))}: no such file; {key} = {task.resolve_folder(split)!r} must "
            f"hold {split.file}"
        )
    return paths


def find_local_paths(task: GeneratedTask | FilesTask) -> list[str]:
    """Return the existing files of a task that are not pinned by a hash: changing one changes the task's pairs."""
    paths = [path for split in _user_splits(task).values() for path in _glob_split(task, split)]
    files = [file for path in paths for file in (path.rglob("[!.]*") if path.is_dir() else [path]) if file.is_file()]
    return sorted({file.as_posix() for file in files})


def find_present_paths(task: FilesTask, split: Split) -> list[Path]:
    """Return the local paths of a split's files, without those not downloaded yet. Digests are not checked.

    Args:
        task: The task, for its folder.
        split: Configuration of the split.

    Returns:
        Paths sorted by name; empty if the split comes from an address or the hub and is not downloaded yet.

    Raises:
        DataError: If the user provides the split's files and none exists.
    """
    if not (split.hub or split.url):
        return find_split_paths(task, split)
    try:
        return _glob_split(task, split) if split.url else find_split_paths(task, split)
    except InputError:
        return []


def find_missing_paths(task: GeneratedTask | FilesTask) -> dict[str, str]:
    """Return missing files that `make fetch` does not download: key of the configuration -> path."""
    missing = {key: split for key, split in _user_splits(task).items() if not _glob_split(task, split)}
    return {f"{key}.file": Path(task.resolve_path(split)).as_posix() for key, split in missing.items()}


def _user_splits(task: GeneratedTask | FilesTask) -> dict[str, Split]:
    """Return the splits whose files the user provides: key of the configuration -> split."""
    splits = task.splits if isinstance(task, FilesTask) else {}
    return {key: split for key, split in splits.items() if not (split.hub or split.url)}


def _find_download(task: FilesTask, split: Split) -> Path:
    path = Path(task.resolve_path(split))
    instruction = "`make fetch CONFIG=FILE`, where FILE is the study's configuration, downloads it"
    if not path.is_file():
        raise DataError(f"{path}: no such file; {instruction}")
    if (digest := file_digest(path)) != split.sha256:
        raise DataError(
            f"{path}: its SHA-256 is {digest}, but the configuration has sha256 = {split.sha256!r}; {instruction} again"
        )
    return path


def _glob_split(task: FilesTask, split: Split) -> list[Path]:
    pattern, folder = glob.escape(split.file).replace("[*]", "*"), task.resolve_folder(split)
    return [Path(folder) / name for name in sorted(glob.glob(pattern, root_dir=folder))]
