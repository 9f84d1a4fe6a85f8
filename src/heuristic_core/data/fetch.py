"""Download and check the files that a study needs.

Files of the Hugging Face hub are stored in its cache and compared with the hub's hashes. Files of other addresses are
stored in the task's folder.
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
from heuristic_core.data.connection import explain_connection_errors
from heuristic_core.data.download import Download, download
from heuristic_core.data.hub import CONFIG_FILE, SHARD_FILES, WEIGHTS_FILE, Source, match_names, select_model_files

LOGGER = logging.getLogger(__name__)
ATTEMPTS = 2  # downloads of a file before its hash is reported as wrong
LOCK_TIMEOUT = 0.1  # seconds after which a lock counts as held by another process


def fetch(sources: Iterable[Source], downloads: Iterable[Download] = ()) -> list[dict]:
    """Download missing files, and check all files.

    Args:
        sources: Files of the hub.
        downloads: Files of other addresses.

    Returns:
        One row per file: kind, repository, revision, path, bytes and sha256 for the hub, and the row of
        :func:`heuristic_core.data.download.download` for an address.

    Raises:
        InputError: If a server cannot be reached, or lacks or refuses a file, or if its content has another hash.
    """
    rows = {}
    with _lock_cache(), explain_connection_errors():
        for source in sources:
            for row in _fetch_source(source):
                rows[row["kind"], row["repository"], row["revision"], row["path"]] = row
        return [*rows.values(), *map(download, downloads)]


@contextlib.contextmanager
def _lock_cache() -> Iterator[None]:
    """Wait for other fetches with the same cache: they might delete a file that this one checks."""
    from filelock import Timeout
    from huggingface_hub.constants import HF_HUB_CACHE
    from huggingface_hub.utils import WeakFileLock

    path = Path(HF_HUB_CACHE, ".locks", "heuristic-core.lock")
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(WeakFileLock(path, timeout=LOCK_TIMEOUT))
        except Timeout:
            LOGGER.info("waiting for another fetch")
            stack.enter_context(WeakFileLock(path))
        except OSError:  # the cache is read-only, so other fetches do not change it
            LOGGER.info("%s cannot be written: fetching without a lock", path)
        yield


def _fetch_source(source: Source) -> list[dict]:
    """Download and check the files of one repository; return their rows."""
    from huggingface_hub import snapshot_download

    with _explain_errors(source):
        _remove_partial_downloads(source)
        names = _select_files(source, _list_repository(source))
        LOGGER.info("%s: %d files of %s %s", source.key, len(names), source.kind, source.repository)
        # Does not request files in the cache, and resumes others if the connection breaks.
        folder = snapshot_download(
            source.repository, **_commit(source), allow_patterns=[glob.escape(name) for name in names]
        )
        progress, rows = Progress(f"{source.key}: checked", len(names), unit="files"), []
        for name in names:
            rows.append(_check_file(source, Path(folder), name))
            progress.update(len(rows))
    return rows


def _remove_partial_downloads(source: Source) -> None:
    """Remove partial files of killed downloads: those whose lock is free.

    `hf cache prune` would also remove files of running downloads, and commits that no branch names, such as a study's.
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


def _list_repository(source: Source) -> list[str]:
    """Return the names of all files of the commit, from the cache or else from the hub."""
    from huggingface_hub import HfApi, RepoFile, get_cached_repo_tree
    from huggingface_hub.errors import CachedRepoTreeNotFoundError

    try:
        tree = get_cached_repo_tree(source.repository, **_commit(source))
    except CachedRepoTreeNotFoundError:
        tree = HfApi().list_repo_tree(source.repository, **_commit(source), recursive=True)
    return [file.path for file in tree if isinstance(file, RepoFile)]


def _select_files(source: Source, names: list[str]) -> list[str]:
    """Select the files that the study needs.

    Raises:
        InputError: If the repository lacks them.
    """
    if source.pattern is not None:
        if selected := match_names(names, source.pattern):
            return selected
        raise InputError(
            f"{source.key}.file = {source.pattern!r}: {source.repository} has no such file at commit "
            f"{source.revision}; it has {_list_names(names)}"
        )
    selected = select_model_files(names)
    if CONFIG_FILE not in names:
        raise InputError(
            f"{source.key}.hub = {source.repository!r} has no {CONFIG_FILE} at commit {source.revision}, so "
            f"transformers cannot load it; it has {_list_names(names)}"
        )
    if WEIGHTS_FILE not in selected and SHARD_FILES[0] not in selected:
        raise InputError(
            f"{source.key}.hub = {source.repository!r} has no weights as {WEIGHTS_FILE} at commit {source.revision} "
            f"(it has {_list_names(names)}), and other formats are not loaded; choose a later commit that has them, "
            f"or load the model elsewhere, save it with save_pretrained, and set {source.key}.folder"
        )
    return selected


def _list_names(names: list[str]) -> str:
    """Return up to ten names as text."""
    return ", ".join(sorted(names)[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")


def _check_file(source: Source, folder: Path, name: str) -> dict:
    """Compare a file with the hub's hash, and return its row. A damaged file is downloaded again.

    Raises:
        InputError: If it is still damaged after `ATTEMPTS` downloads.
    """
    from huggingface_hub import hf_hub_download

    path = folder / name
    for attempt in range(1, ATTEMPTS + 1):
        expected, sha256 = _expected_hash(source, path, name), file_digest(path)
        if expected == (sha256 if len(expected) == len(sha256) else _git_digest(path)):
            columns = (source.kind, source.repository, source.revision, name, path.stat().st_size, sha256)
            return dict(zip(("kind", "repository", "revision", "path", "bytes", "sha256"), columns, strict=True))
        path.resolve().unlink()
        path.unlink(missing_ok=True)
        if attempt < ATTEMPTS:
            LOGGER.warning("%s of %s is damaged: downloading it again", name, source.repository)
            hf_hub_download(source.repository, name, **_commit(source))
    raise InputError(
        f"{source.key}.hub = {source.repository!r}: {name} was downloaded twice and is not what the hub lists: its "
        f"hash should be {expected}, its SHA-256 is {sha256}. It was deleted; try another connection, and check that "
        "HF_ENDPOINT names a server that you trust"
    )


def _expected_hash(source: Source, path: Path, name: str) -> str:
    """Return the hub's hash of a file: SHA-256 for a large file, git's SHA-1 for a small one.

    In the cache, `path` is a link to a file named by the hash. Where links are impossible, the hub is asked.
    """
    if path.is_symlink():
        return Path(os.readlink(path)).name
    from huggingface_hub import HfApi

    (file,) = HfApi().get_paths_info(source.repository, [name], **_commit(source))
    return file.lfs.sha256 if file.lfs else file.blob_id


def _git_digest(path: Path) -> str:
    """Return git's SHA-1 of a file."""
    digest = hashlib.sha1(b"blob %d\0" % path.stat().st_size)
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def _commit(source: Source) -> dict[str, str]:
    """Return arguments of the hub's client that identify the commit."""
    return {"repo_type": source.kind, "revision": source.revision}


@contextlib.contextmanager
def _explain_errors(source: Source) -> Iterator[None]:
    """Replace errors of the hub's client by an InputError that names key and value."""
    from huggingface_hub import errors
    from huggingface_hub.constants import ENDPOINT

    hub = f"{source.key}.hub = {source.repository!r}"
    try:
        yield
    except errors.GatedRepoError:
        raise InputError(
            f"{hub}: access at {ENDPOINT} is restricted; accept the terms on its page there, and log in with "
            "`hf auth login` or set HF_TOKEN"
        ) from None
    except errors.RepositoryNotFoundError:
        raise InputError(
            f"{hub}: {ENDPOINT} has no {source.kind} of this name, or it is private; correct the name, as in "
            "'openai-community/gpt2', or log in with `hf auth login` or set HF_TOKEN"
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
            f"{hub}: {ENDPOINT} cannot be reached ({type(error).__name__}: {error}); run `fetch` on a machine with a "
            "network, without HF_HUB_OFFLINE. Other jobs need no network: the cache (HF_HOME or HF_HUB_CACHE) can be "
            "copied to another machine"
        ) from None
    except OSError as error:
        raise InputError(f"{hub}: download failed: {error}; complete files are kept, run `fetch` again") from None
