"""Download of files whose address and SHA-256 a study gives, into the task's folder.

docs/decisions/own-code.md explains why pooch is not used.
"""

import logging
import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from heuristic_core.common.atomic import replace_atomically
from heuristic_core.common.errors import InputError
from heuristic_core.common.hashing import file_digest
from heuristic_core.config.generated import GeneratedTask
from heuristic_core.config.tasks import FilesTask

LOGGER = logging.getLogger(__name__)
TIMEOUT_SECONDS = 60  # without any data from the server


@dataclass(frozen=True)
class Download:
    """A file to download.

    Attributes:
        key: Block of the configuration that names it, such as ``task.evaluation.hans``.
        url: Address.
        sha256: SHA-256 that the file must have.
        folder: Folder of the task.
        file: Path of the local file in it.
    """

    key: str
    url: str
    sha256: str
    folder: str
    file: str

    @property
    def path(self) -> Path:
        """Path of the local file."""
        return Path(self.folder) / self.file

    @property
    def address(self) -> str:
        """Key and address for messages, without user, password and query, which may be secrets."""
        parts = urlsplit(self.url)
        public_url = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
        return f"{self.key}.url = {public_url!r}"


def list_downloads(task: GeneratedTask | FilesTask) -> list[Download]:
    """List the files of a task that have an address, each once."""
    splits = task.splits if isinstance(task, FilesTask) else {}
    items = [Download(key, s.url, s.sha256, task.resolve_folder(s), s.file) for key, s in splits.items() if s.url]
    return list({os.path.normpath(item.path): item for item in items}.values())


def download(item: Download) -> dict:
    """Download a file unless it exists with the right SHA-256.

    Returns:
        A row with kind, url, path, bytes and sha256.

    Raises:
        InputError: If the address cannot be reached, or its file has another SHA-256 and is deleted.
    """
    path = item.path
    if not path.is_file() or file_digest(path) != item.sha256:
        if path.is_file():
            LOGGER.warning("SHA-256 of %s differs from %s.sha256: downloading it again", path, item.key)
        _download_checked(item)
    size = path.stat().st_size
    return {"kind": "url", "url": item.url, "path": item.file, "bytes": size, "sha256": item.sha256}


def _download_checked(item: Download) -> None:
    """Download a file and check its SHA-256.

    Raises:
        InputError: If this fails.
    """
    address = item.address
    LOGGER.info("downloading %s", address)
    try:
        with replace_atomically(item.path) as partial:
            _write_response(item.url, partial)
            if (sha256 := file_digest(partial)) != item.sha256:
                raise InputError(
                    f"{address} returned a file whose SHA-256 is {sha256}, but {item.key}.sha256 = {item.sha256!r}; "
                    "it was not kept. Correct the address, or the hash if you trust the file"
                )
    except ConnectionError as error:
        raise InputError(f"{address}: {error}; save the file as {item.path}, or run `fetch` again") from None
    except OSError as error:
        raise InputError(f"{address} cannot be saved as {item.path}: {error}") from None


def _write_response(url: str, path: Path) -> None:
    """Write the response of an address to a file.

    Raises:
        ConnectionError: If there is none.
    """
    # The hub's client has the same proxies, certificates and HF_HUB_OFFLINE as other downloads.
    from huggingface_hub.errors import HTTPError
    from huggingface_hub.utils import get_session

    headers = {"Accept-Encoding": "identity"}  # do not decompress .gz files
    try:
        with (
            get_session().stream("GET", url, headers=headers, timeout=TIMEOUT_SECONDS) as response,
            open(path, "wb") as file,
        ):
            if not response.is_success:
                raise ConnectionError(f"the server answered {response.status_code} {response.reason_phrase}")
            for block in response.iter_bytes():
                file.write(block)
    except HTTPError as error:
        raise ConnectionError(f"connection failed ({type(error).__name__}: {error})") from None
