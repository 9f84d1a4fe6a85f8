"""Files of the Hugging Face hub that a study needs, in the hub's cache. Nothing here uses the network.

Every repository is given with a commit, so that the same configuration gives the same bytes. The download is in
:mod:`heuristic_core.data.fetch`.
"""

import glob
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from heuristic_core.common.errors import InputError
from heuristic_core.config.generated import GeneratedTask
from heuristic_core.config.models import NewModel, PretrainedModel
from heuristic_core.config.tasks import FilesTask

Kind = Literal["model", "dataset"]

# Files of a model that transformers loads: configuration, tokenizer, and weights in one file or in shards.
CONFIG_FILE = "config.json"
TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "vocab.txt",
    "merges.txt",
    "*.model",
)
WEIGHTS_FILE = "model.safetensors"
SHARD_FILES = ("model.safetensors.index.json", "model-*-of-*.safetensors")


@dataclass(frozen=True)
class Source:
    """Files of one commit that a study needs.

    Attributes:
        key: Block of the configuration that names it, such as ``task.train.0``.
        kind: "model" or "dataset".
        repository: Name on the hub, such as ``openai-community/gpt2``.
        revision: Commit.
        pattern: Pattern of a data set's files; None for a model, which needs the files of :func:`select_model_files`.
    """

    key: str
    kind: Kind
    repository: str
    revision: str
    pattern: str | None = None


def list_sources(model: NewModel | PretrainedModel, task: GeneratedTask | FilesTask) -> list[Source]:
    """List the files that a study needs from the hub.

    Args:
        model: The model's configuration.
        task: The task's configuration.
    """
    items = []
    if isinstance(model, PretrainedModel) and model.hub:
        items.append(Source("model", "model", model.hub, model.revision))
    if isinstance(task, FilesTask):
        items += [Source(key, "dataset", s.hub, s.revision, s.file) for key, s in task.splits.items() if s.hub]
    return items


def find_cached_files(repository: str, revision: str, patterns: Sequence[str], kind: Kind) -> list[Path]:
    """Find files of a repository in the cache.

    Args:
        repository: Name on the hub.
        revision: Commit.
        patterns: Patterns of paths in the repository; ``*`` matches any part of a name.
        kind: "model" or "dataset".

    Returns:
        Distinct paths, in the order of the patterns, then sorted.

    Raises:
        InputError: If no file matches a pattern, or the cache lacks a file that does.
    """
    folder, names = _find_snapshot(repository, revision, kind)
    paths = []
    for pattern in patterns:
        matches = match_names(names, pattern)
        if not matches or not all((folder / name).is_file() for name in matches):
            raise InputError(_describe_missing(repository, revision, kind, pattern))
        paths += [folder / name for name in matches]
    return list(dict.fromkeys(paths))


def find_cached_model(repository: str, revision: str) -> Path:
    """Return the folder of a model and its tokenizer in the cache.

    Args:
        repository: Name of the model on the hub.
        revision: Commit.

    Raises:
        InputError: If a file is missing.
    """
    folder, names = _find_snapshot(repository, revision, "model")
    for name in (CONFIG_FILE, WEIGHTS_FILE) if CONFIG_FILE not in names else select_model_files(names):
        if not (folder / name).is_file():
            raise InputError(_describe_missing(repository, revision, "model", name))
    return folder


def select_model_files(names: Iterable[str]) -> list[str]:
    """Select the files that a model needs; without weights if the repository has none as safetensors."""
    names = list(names)
    weights = (
        [WEIGHTS_FILE]
        if WEIGHTS_FILE in names
        else [name for shard in SHARD_FILES for name in match_names(names, shard)]
    )
    return [CONFIG_FILE, *(name for pattern in TOKENIZER_FILES for name in match_names(names, pattern)), *weights]


def match_names(names: Iterable[str], pattern: str) -> list[str]:
    """Return the sorted names that match a pattern.

    Args:
        names: Paths of files in a repository.
        pattern: ``*`` does not match ``/``; other characters match themselves.
    """
    parts = glob.escape(pattern).replace("[*]", "*").split("/")
    return sorted(
        name for name in names if len(name.split("/")) == len(parts) and all(map(fnmatchcase, name.split("/"), parts))
    )


def _find_snapshot(repository: str, revision: str, kind: Kind) -> tuple[Path, list[str]]:
    """Return a commit's folder in the cache and its files on the hub; without a cached list, files in the folder."""
    from huggingface_hub import get_cached_repo_tree, snapshot_download
    from huggingface_hub.errors import CachedRepoTreeNotFoundError, LocalEntryNotFoundError

    commit = {"repo_type": kind, "revision": revision}
    try:
        folder = Path(snapshot_download(repository, **commit, allow_patterns=[], local_files_only=True))
    except LocalEntryNotFoundError:
        raise InputError(_describe_missing(repository, revision, kind)) from None
    try:
        return folder, [file.path for file in get_cached_repo_tree(repository, **commit)]
    except CachedRepoTreeNotFoundError:
        files = (path for path in folder.rglob("*") if path.is_file())
        return folder, [path.relative_to(folder).as_posix() for path in files]


def _describe_missing(repository: str, revision: str, kind: Kind, pattern: str | None = None) -> str:
    """Return a message about a repository, or files in it, that the cache lacks."""
    from huggingface_hub.constants import HF_HUB_CACHE

    files = f"{pattern} of {kind} {repository}" if pattern else f"{kind} {repository}"
    return (
        f"{files}, commit {revision}, is not (or only partly) in the Hugging Face cache, {HF_HUB_CACHE}; "
        "download it with `make fetch CONFIG=FILE` or `snakemake --cores 1 fetch --configfile FILE`, "
        "where FILE is the study's configuration, or set HF_HOME or HF_HUB_CACHE to the cache that has it"
    )
