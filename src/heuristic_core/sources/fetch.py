"""Download and check the files that a study needs.

Files of the Hugging Face hub go into its cache and are checked against the hub's hashes; files of other addresses go
into the task's folder.
"""

import contextlib
import glob
import hashlib
import logging
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from heuristic_core.common.errors import InputError
from heuristic_core.common.hashing import file_digest
from heuristic_core.common.progress import Progress
from heuristic_core.sources.connection import checked_connection
from heuristic_core.sources.download import Download, download
from heuristic_core.sources.hub import CONFIG, SHARDS, WEIGHTS, Source, matching, model_files

LOGGER = logging.getLogger(__name__)
ATTEMPTS = 2  # a file whose bytes are wrong is downloaded once more
LOCK_TIMEOUT = 0.1  # seconds after which a lock counts as held


def fetch(sources: Iterable[Source], downloads: Iterable[Download] = ()) -> list[dict]:
    """Download what is not there yet, and check all of it, also what was there before.

    Returns one row per file: kind, repository, revision, path, bytes, sha256; of an address its row of
    :func:`heuristic_core.sources.download.download`. Raises InputError that names key and value where the hub or an
    address cannot be reached, does not have or does not give the files, or gives other bytes.
    """
    rows = {}
    with _lock_cache(), checked_connection():
        for source in sources:
            for row in _fetch(source):
                rows[row["kind"], row["repository"], row["revision"], row["path"]] = row
        return [*rows.values(), *map(download, downloads)]


@contextlib.contextmanager
def _lock_cache() -> Iterator[None]:
    """Hold off other fetches that use the same cache: they would delete and download what this one checks."""
    from filelock import Timeout
    from huggingface_hub.constants import HF_HUB_CACHE
    from huggingface_hub.utils import WeakFileLock

    path = Path(HF_HUB_CACHE, ".locks", "heuristic-core.lock")
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(WeakFileLock(path, timeout=LOCK_TIMEOUT))
        except Timeout:
            LOGGER.info("another fetch is running: waiting until it is done")
            stack.enter_context(WeakFileLock(path))
        except OSError:  # a cache that nobody may write to is one that nobody changes
            LOGGER.info("%s cannot be written, so this fetch does not hold off others", path)
        yield


def _fetch(source: Source) -> list[dict]:
    from huggingface_hub import snapshot_download

    with _explain_errors(source):
        _sweep(source)
        names = _wanted(source, _listing(source))
        LOGGER.info("%s: %d files of %s %s", source.key, len(names), source.kind, source.repository)
        # Files that the cache has are not asked for; others are resumed where the connection breaks.
        folder = snapshot_download(
            source.repository, **_commit(source), allow_patterns=[glob.escape(name) for name in names]
        )
        progress, rows = Progress(f"{source.key}: checked", len(names), unit="files"), []
        for name in names:
            rows.append(_checked(source, Path(folder), name))
            progress.at(len(rows))
    return rows


def _sweep(source: Source) -> None:
    """Remove what killed downloads left: parts of files that nobody is downloading, since nobody holds their lock.

    `hf cache prune` would also remove parts that somebody is downloading, and commits that no branch names: ours.
    """
    from filelock import Timeout
    from huggingface_hub.constants import HF_HUB_CACHE
    from huggingface_hub.file_download import repo_folder_name
    from huggingface_hub.utils import WeakFileLock

    repository = repo_folder_name(repo_id=source.repository, repo_type=source.kind)
    for part in Path(HF_HUB_CACHE, repository, "blobs").glob("*.incomplete"):
        lock = Path(HF_HUB_CACHE, ".locks", repository, f"{part.name.split('.')[0]}.lock")
        with contextlib.suppress(Timeout), WeakFileLock(lock, timeout=LOCK_TIMEOUT):
            part.unlink(missing_ok=True)


def _listing(source: Source) -> list[str]:
    """All files of the commit, from the cache or, before anything is downloaded, from the hub."""
    from huggingface_hub import HfApi, RepoFile, get_cached_repo_tree
    from huggingface_hub.errors import CachedRepoTreeNotFoundError

    try:
        tree = get_cached_repo_tree(source.repository, **_commit(source))
    except CachedRepoTreeNotFoundError:
        tree = HfApi().list_repo_tree(source.repository, **_commit(source), recursive=True)
    return [file.path for file in tree if isinstance(file, RepoFile)]


def _wanted(source: Source, names: list[str]) -> list[str]:
    """The files that the study needs. Raises InputError where the repository does not have them."""
    if source.pattern is not None:
        if selected := matching(names, source.pattern):
            return selected
        raise InputError(
            f"{source.key}.file = {source.pattern!r}: {source.repository} has no such file at commit "
            f"{source.revision}; it has {_list_names(names)}"
        )
    selected = model_files(names)
    if CONFIG not in names:
        raise InputError(
            f"{source.key}.hub = {source.repository!r} has no {CONFIG} at commit {source.revision}, so it is no model "
            f"that transformers loads; it has {_list_names(names)}"
        )
    if WEIGHTS not in selected and SHARDS[0] not in selected:
        raise InputError(
            f"{source.key}.hub = {source.repository!r} has no weights as {WEIGHTS} at commit {source.revision} (it has "
            f"{_list_names(names)}), and other formats are not loaded; name a later commit that has them, or load the "
            f"model elsewhere, write it with save_pretrained, and give {source.key}.folder"
        )
    return selected


def _list_names(names: list[str]) -> str:
    return ", ".join(sorted(names)[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")


def _checked(source: Source, folder: Path, name: str) -> dict:
    """A row for file `name`, whose bytes are what the hub says; downloads it again where they are not."""
    from huggingface_hub import hf_hub_download

    path = folder / name
    for attempt in range(1, ATTEMPTS + 1):
        expected, sha256 = _expected(source, path, name), file_digest(path)
        if expected == (sha256 if len(expected) == len(sha256) else _git_digest(path)):
            columns = (source.kind, source.repository, source.revision, name, path.stat().st_size, sha256)
            return dict(zip(("kind", "repository", "revision", "path", "bytes", "sha256"), columns, strict=True))
        path.resolve().unlink()
        path.unlink(missing_ok=True)
        if attempt < ATTEMPTS:
            LOGGER.warning("%s of %s is damaged: it is downloaded again", name, source.repository)
            hf_hub_download(source.repository, name, **_commit(source))
    raise InputError(
        f"{source.key}.hub = {source.repository!r}: {name} was downloaded twice and is not what the hub lists: its "
        f"hash should be {expected}, its SHA-256 is {sha256}. It was deleted; try another connection, and see whether "
        "HF_ENDPOINT names a server that you trust"
    )


def _expected(source: Source, path: Path, name: str) -> str:
    """The hub's hash of a file: SHA-256 of a large one, git's SHA-1 of a small one.

    The cache names what it downloaded so and links to it; where it cannot make links, the hub is asked.
    """
    if path.is_symlink():
        return Path(os.readlink(path)).name
    from huggingface_hub import HfApi

    (file,) = HfApi().get_paths_info(source.repository, [name], **_commit(source))
    return file.lfs.sha256 if file.lfs else file.blob_id


def _git_digest(path: Path) -> str:
    """What git calls a file of these bytes."""
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size)
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _commit(source: Source) -> dict[str, str]:
    return {"repo_type": source.kind, "revision": source.revision}


@contextlib.contextmanager
def _explain_errors(source: Source) -> Iterator[None]:
    """Turn what the hub's client raises into an InputError that names key and value."""
    from huggingface_hub import errors
    from huggingface_hub.constants import ENDPOINT

    hub = f"{source.key}.hub = {source.repository!r}"
    try:
        yield
    except errors.GatedRepoError:
        raise InputError(
            f"{hub}: {ENDPOINT} gives it only to those who were granted access; accept its terms on its page there, "
            "and name yourself with `hf auth login` or in HF_TOKEN"
        ) from None
    except errors.RepositoryNotFoundError:
        raise InputError(
            f"{hub}: {ENDPOINT} has no {source.kind} of this name, or it is private; correct the name, as in "
            "'openai-community/gpt2', or name yourself with `hf auth login` or in HF_TOKEN"
        ) from None
    except errors.RevisionNotFoundError:
        raise InputError(
            f"{source.key}.revision = {source.revision!r}: {source.repository} has no such commit; its page at "
            f"{ENDPOINT} lists them under `History`"
        ) from None
    except errors.HfHubHTTPError as error:
        denied = error.response.status_code in (401, 403)
        hint = "; is HF_TOKEN, or what `hf auth login` stored, still valid for it?" if denied else "; try again later"
        raise InputError(f"{hub}: {ENDPOINT} answered {error}{hint}") from None
    except (errors.HTTPError, errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled) as error:
        raise InputError(
            f"{hub}: {ENDPOINT} cannot be reached ({type(error).__name__}: {error}); run `fetch` where there is a "
            "network and HF_HUB_OFFLINE is not set. Everything after it needs none: the cache, which HF_HOME or "
            "HF_HUB_CACHE names, may be copied to another machine"
        ) from None
    except OSError as error:
        raise InputError(f"{hub}: download failed: {error}; what was complete is kept, run `fetch` again") from None
