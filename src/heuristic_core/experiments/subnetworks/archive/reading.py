"""Read an archive that `export` wrote. Archives are not trusted: names and hashes are checked, no code runs."""

import hashlib
import json
import zipfile
import zlib
from collections import Counter
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import unquote

from pydantic import TypeAdapter, ValidationError

from heuristic_core.common.errors import InputError
from heuristic_core.config.blocks import Name
from heuristic_core.experiments.subnetworks.config.analysis import Figures
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.tables.schemas import TABLES

METADATA_FILE = "ro-crate-metadata.json"
SETTINGS_FILE, CLAIMS_FILE, LOCK_FILE = "study.json", "claims.yaml", "envs/requirements.txt"
# What reading a damaged or foreign zip file raises.
READ_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    KeyError,
    ValueError,
    NotImplementedError,
    RuntimeError,
    OSError,
)
HINT = "give the path of an archive that `make export` wrote, such as miniature.crate.zip"


class Crate(NamedTuple):
    """An archive of a study.

    Attributes:
        path: The archive's path.
        files: The metadata of each file, by name.
        study: The study's name.
        context: The study's context.
        figures: The study's settings of figures.
    """

    path: Path
    files: dict[str, dict]
    study: str
    context: Context
    figures: Figures

    @property
    def tables(self) -> list[str]:
        """Names of the tables in the archive, without the table of claims, which are judged again."""
        return [name for name in (*TABLES, "provenance") if f"tables/{name}.parquet" in self.files]


def open_crate(path: str | Path) -> Crate:
    """Open the archive at `path`.

    Raises:
        InputError: If the file is missing, damaged, or not an archive of a study.
    """
    path = Path(path)
    files = _read_metadata(path)
    required = (SETTINGS_FILE, CLAIMS_FILE, LOCK_FILE, "tables/splits.parquet", "tables/runs.parquet")
    if missing := [name for name in required if name not in files]:
        raise InputError(f"{path}: not the RO-Crate of a study, because its metadata lack {missing[0]}; {HINT}")
    text = read_member(path, files, SETTINGS_FILE)
    try:
        values = json.loads(text)
        study = TypeAdapter(Name).validate_python(values["settings"]["study"])
        context = Context.model_validate_json(json.dumps(values["context"]))
        figures = Figures.model_validate_json(json.dumps(values["settings"]["figures"]))
    except (KeyError, TypeError, ValueError) as error:
        reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else f"{type(error).__name__}: {error}"
        raise InputError(f"{path}: {SETTINGS_FILE} is not what a study writes ({reason}); {HINT}") from None
    return Crate(path, files, study, context, figures)


def read_member(path: Path, files: dict[str, dict], name: str) -> bytes:
    """Read a file of an archive.

    Args:
        path: Path of the archive.
        files: The metadata of each file, by name.
        name: Name of the file.

    Raises:
        InputError: If the file's size or SHA-256 differs from its metadata, or the archive cannot be read.
    """
    damaged = InputError(f"{path}: {name} is damaged: its SHA-256 differs from the metadata's; take another copy of it")
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.getinfo(name).file_size != int(files[name]["contentSize"]):
                raise damaged
            content = archive.read(name)
    except READ_ERRORS:
        raise damaged from None
    if hashlib.sha256(content).hexdigest() != files[name].get("sha256"):
        raise damaged
    return content


def _read_metadata(path: Path) -> dict[str, dict]:
    """Return the metadata of each file by name.

    Raises:
        InputError: If the metadata do not list exactly the files in the archive, or a path is unsafe.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file; {HINT}")
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            graph = json.loads(archive.read(METADATA_FILE))["@graph"] if METADATA_FILE in names else []
            metadata = {unquote(entry["@id"]): entry for entry in graph if "File" in entry["@type"]}
    except zipfile.BadZipFile as error:
        raise InputError(f"{path}: not a whole zip file ({error}); {HINT}") from None
    except (*READ_ERRORS, TypeError) as error:
        raise InputError(f"{path}: {METADATA_FILE} cannot be read ({type(error).__name__}: {error}); {HINT}") from None
    if unsafe := [name for name in names if not _is_safe_path(name)]:
        raise InputError(f"{path}: {unsafe[0]!r} would be outside the archive's folder: do not unpack it; {HINT}")
    if METADATA_FILE not in names:
        raise InputError(f"{path}: not an RO-Crate, because the zip file lacks {METADATA_FILE}; {HINT}")
    counts = Counter(names)
    for name in sorted({*metadata, *names}):
        if counts[name] != 1:
            raise InputError(f"{path}: {name} occurs {counts[name]} times instead of once; take another copy of it")
        if name not in metadata and name != METADATA_FILE:
            raise InputError(f"{path}: {name} is not in the metadata; take another copy of it")
    return metadata


def _is_safe_path(name: str) -> bool:
    """Return whether a name stays inside the folder that the archive is unpacked into."""
    parts = PurePosixPath(name).parts
    return not name.startswith("/") and ".." not in parts and "\\" not in name and ":" not in name
