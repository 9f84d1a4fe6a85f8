"""Files of addresses that a study gives with their SHA-256, downloaded to where their splits are read.

Why not by pooch: docs/decisions/own-code.md.
"""

import logging
import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from heuristic_core.common.atomic import replacing
from heuristic_core.common.errors import InputError
from heuristic_core.common.hashing import file_digest
from heuristic_core.config.tasks import FilesTask, GeneratedTask

LOGGER = logging.getLogger(__name__)
TIMEOUT_SECONDS = 60  # of silence after which a server is given up


@dataclass(frozen=True)
class Download:
    """A file that a study needs.

    key: the configuration's block that names it, such as ``task.evaluation.hans``. folder, file: where it is kept.
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
        """Key and address as messages name them: without user, password and query, which may be secrets."""
        parts = urlsplit(self.url)
        plain = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
        return f"{self.key}.url = {plain!r}"


def downloads(task: GeneratedTask | FilesTask) -> list[Download]:
    """All that a task takes from addresses, each file once."""
    splits = task.splits if isinstance(task, FilesTask) else {}
    items = [Download(key, s.url, s.sha256, task.folder_of(s), s.file) for key, s in splits.items() if s.url]
    return list({os.path.normpath(item.path): item for item in items}.values())


def download(wanted: Download) -> dict:
    """Download a file unless it is there with the right bytes.

    Returns its row: kind, url, path, bytes, sha256. Raises InputError that names key and value where the address does
    not give the file, or gives other bytes, of which nothing is kept.
    """
    path = wanted.path
    if not path.is_file() or file_digest(path) != wanted.sha256:
        if path.is_file():
            LOGGER.warning("%s has not the SHA-256 of %s: it is downloaded again", path, wanted.key)
        _get(wanted)
    size = path.stat().st_size
    return {"kind": "url", "url": wanted.url, "path": wanted.file, "bytes": size, "sha256": wanted.sha256}


def _get(wanted: Download) -> None:
    address = wanted.address
    LOGGER.info("downloading %s", address)
    try:
        with replacing(wanted.path) as partial:
            _write(wanted.url, partial)
            if (sha256 := file_digest(partial)) != wanted.sha256:
                raise InputError(
                    f"{address} gave a file whose SHA-256 is {sha256}, where {wanted.key}.sha256 = {wanted.sha256!r}; "
                    "it was not kept. Correct the address, or the hash if you trust what it gives"
                )
    except ConnectionError as error:
        raise InputError(f"{address}: {error}; put the file there as {wanted.path}, or run `fetch` again") from None
    except OSError as error:
        raise InputError(f"{address} cannot be kept as {wanted.path}: {error}") from None


def _write(url: str, path: Path) -> None:
    """Write what an address gives. Raises ConnectionError that says what happened instead."""
    # The hub's client: the same proxies, certificates and HF_HUB_OFFLINE as for the rest of a study's files.
    from huggingface_hub.errors import HTTPError
    from huggingface_hub.utils import get_session

    plain = {"Accept-Encoding": "identity"}  # a .gz stays one
    try:
        with (
            get_session().stream("GET", url, headers=plain, timeout=TIMEOUT_SECONDS) as response,
            open(path, "wb") as file,
        ):
            if not response.is_success:
                raise ConnectionError(f"the server answered {response.status_code} {response.reason_phrase}")
            for block in response.iter_bytes():
                file.write(block)
    except HTTPError as error:
        raise ConnectionError(f"it cannot be reached, or broke off ({type(error).__name__}: {error})") from None
