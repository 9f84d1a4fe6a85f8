"""What a study takes from the Hugging Face hub, as it is in the hub's cache. Nothing here touches the network.

A repository is always named with a commit: the same names give the same bytes. :mod:`heuristic_core.sources.fetch`
downloads.
"""

import glob
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from heuristic_core.common.errors import InputError
from heuristic_core.config.models import NewModel, PretrainedModel
from heuristic_core.config.tasks import FilesTask, GeneratedTask

Kind = Literal["model", "dataset"]

# What transformers loads of a model: its configuration, its tokenizer, and one of the two forms of its weights.
CONFIG = "config.json"
TOKENIZER = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "vocab.txt",
    "merges.txt",
    "*.model",
)
WEIGHTS = "model.safetensors"
SHARDS = ("model.safetensors.index.json", "model-*-of-*.safetensors")


@dataclass(frozen=True)
class Source:
    """Files of one commit that a study needs.

    key: the configuration's block that names it, such as ``task.train.0``. pattern: of a data set's files; None for a
    model, which needs those of :func:`model_files`.
    """

    key: str
    kind: Kind
    repository: str
    revision: str
    pattern: str | None = None


def sources(model: NewModel | PretrainedModel, task: GeneratedTask | FilesTask) -> list[Source]:
    """All that a study takes from the hub."""
    items = []
    if isinstance(model, PretrainedModel) and model.hub:
        items.append(Source("model", "model", model.hub, model.revision))
    if isinstance(task, FilesTask):
        items += [Source(key, "dataset", s.hub, s.revision, s.file) for key, s in task.splits.items() if s.hub]
    return items


def cached_files(repository: str, revision: str, patterns: Sequence[str], kind: Kind) -> list[Path]:
    """The files in the cache that match `patterns`, pattern by pattern; ``*`` matches any part of a name.

    Raises InputError where a pattern has no file there, or not all that the commit has on the hub.
    """
    folder, names = _snapshot(repository, revision, kind)
    paths = []
    for pattern in patterns:
        wanted = matching(names, pattern)
        if not wanted or not all((folder / name).is_file() for name in wanted):
            raise _missing(repository, revision, kind, pattern)
        paths += [folder / name for name in wanted]
    return list(dict.fromkeys(paths))


def cached_model(repository: str, revision: str) -> Path:
    """The folder in the cache that holds a model and its tokenizer. Raises InputError where a file is missing."""
    folder, names = _snapshot(repository, revision, "model")
    for wanted in (CONFIG, WEIGHTS) if CONFIG not in names else model_files(names):
        if not (folder / wanted).is_file():
            raise _missing(repository, revision, "model", wanted)
    return folder


def model_files(names: Iterable[str]) -> list[str]:
    """Which of a repository's files a model needs. No weights are among them where it has none as safetensors."""
    names = list(names)
    weights = [WEIGHTS] if WEIGHTS in names else [name for shard in SHARDS for name in matching(names, shard)]
    return [CONFIG, *(name for pattern in TOKENIZER for name in matching(names, pattern)), *weights]


def matching(names: Iterable[str], pattern: str) -> list[str]:
    """Names that `pattern` matches, folder by folder: no ``*`` crosses a ``/``, and nothing else is special."""
    parts = glob.escape(pattern).replace("[*]", "*").split("/")
    return sorted(
        name for name in names if len(name.split("/")) == len(parts) and all(map(fnmatchcase, name.split("/"), parts))
    )


def _snapshot(repository: str, revision: str, kind: Kind) -> tuple[Path, list[str]]:
    """A commit's folder in the cache, and its files: all that the hub lists or, where no list is, what is there."""
    from huggingface_hub import get_cached_repo_tree, snapshot_download
    from huggingface_hub.errors import CachedRepoTreeNotFoundError, LocalEntryNotFoundError

    commit = {"repo_type": kind, "revision": revision}
    try:
        folder = Path(snapshot_download(repository, **commit, allow_patterns=[], local_files_only=True))
    except LocalEntryNotFoundError:
        raise _missing(repository, revision, kind) from None
    try:
        return folder, [file.path for file in get_cached_repo_tree(repository, **commit)]
    except CachedRepoTreeNotFoundError:
        files = (path for path in folder.rglob("*") if path.is_file())
        return folder, [path.relative_to(folder).as_posix() for path in files]


def _missing(repository: str, revision: str, kind: Kind, pattern: str | None = None) -> InputError:
    from huggingface_hub.constants import HF_HUB_CACHE

    what = f"{pattern} of {kind} {repository}" if pattern else f"{kind} {repository}"
    return InputError(
        f"{what}, commit {revision}, is not (or not wholly) in the Hugging Face cache, {HF_HUB_CACHE}; "
        "download it with `make fetch CONFIG=FILE` or `snakemake --cores 1 fetch --configfile FILE`, "
        "where FILE is the study's configuration, or let HF_HOME or HF_HUB_CACHE name the cache that has it"
    )
