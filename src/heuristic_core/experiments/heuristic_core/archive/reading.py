"""Reading an archive that `export` wrote. Its giver is not trusted: names and hashes are checked, nothing runs."""

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
from heuristic_core.experiments.heuristic_core.archive.members import EVERY_TABLE
from heuristic_core.experiments.heuristic_core.config.analysis import Figures
from heuristic_core.experiments.heuristic_core.config.context import Context

NAME = "ro-crate-metadata.json"
SETTINGS, CLAIMS, LOCK = "study.json", "claims.yaml", "envs/requirements.txt"
# What reading a damaged or foreign zip file raises.
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError, NotImplementedError, RuntimeError, OSError)
GIVE = "give the path of an archive that `make export` wrote, such as miniature.crate.zip"


class Crate(NamedTuple):
    """An archive's path, what its metadata say of each file, and the study that it is of."""

    path: Path
    files: dict[str, dict]
    study: str
    context: Context
    figures: Figures

    @property
    def tables(self) -> list[str]:
        """Names of the tables from which everything is drawn; claims are judged again."""
        return [name for name in EVERY_TABLE if f"tables/{name}.parquet" in self.files and name != "claims"]


def open_crate(path: str | Path) -> Crate:
    """The archive at `path`. Raises InputError where it is none, is damaged, or is of something else."""
    path = Path(path)
    files = _files(path)
    needed = (SETTINGS, CLAIMS, LOCK, "tables/splits.parquet", "tables/runs.parquet")
    if absent := [name for name in needed if name not in files]:
        raise InputError(f"{path}: an RO-Crate, but not of a study: its metadata list no {absent[0]}; {GIVE}")
    text = read(path, files, SETTINGS)
    try:
        values = json.loads(text)
        study = TypeAdapter(Name).validate_python(values["settings"]["study"])
        context = Context.model_validate_json(json.dumps(values["context"]))
        figures = Figures.model_validate_json(json.dumps(values["settings"]["figures"]))
    except (KeyError, TypeError, ValueError) as error:
        reason = error.errors()[0]["msg"] if isinstance(error, ValidationError) else f"{type(error).__name__}: {error}"
        raise InputError(f"{path}: {SETTINGS} is not what a study writes ({reason}); {GIVE}") from None
    return Crate(path, files, study, context, figures)


def read(path: Path, files: dict[str, dict], name: str) -> bytes:
    """The file `name` of the archive at `path`. Raises InputError unless it is what the metadata `files` say."""
    damaged = InputError(f"{path}: {name} is damaged: its SHA-256 differs from the metadata's; take another copy of it")
    try:
        with zipfile.ZipFile(path) as archive:
            if archive.getinfo(name).file_size != int(files[name]["contentSize"]):
                raise damaged
            found = archive.read(name)
    except DAMAGE:
        raise damaged from None
    if hashlib.sha256(found).hexdigest() != files[name].get("sha256"):
        raise damaged
    return found


def _files(path: Path) -> dict[str, dict]:
    """The files that the archive's metadata list, by name: exactly those that it holds."""
    if not path.is_file():
        raise InputError(f"{path}: no such file; {GIVE}")
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            graph = json.loads(archive.read(NAME))["@graph"] if NAME in names else []
            listed = {unquote(one["@id"]): one for one in graph if "File" in one["@type"]}
    except zipfile.BadZipFile as error:
        raise InputError(f"{path}: not a whole zip file ({error}); {GIVE}") from None
    except (*DAMAGE, TypeError) as error:
        raise InputError(f"{path}: {NAME} cannot be read ({type(error).__name__}: {error}); {GIVE}") from None
    if outside := [name for name in names if not _inside(name)]:
        raise InputError(f"{path}: {outside[0]!r} would be outside the archive's folder: do not unpack it; {GIVE}")
    if NAME not in names:
        raise InputError(f"{path}: a zip file without {NAME}, so no RO-Crate; {GIVE}")
    counts = Counter(names)
    for name in sorted({*listed, *names}):
        if counts[name] != 1:
            raise InputError(f"{path}: {name} is there {counts[name]} times, not once; take another copy of it")
        if name not in listed and name != NAME:
            raise InputError(f"{path}: {name} is not in the metadata; take another copy of it")
    return listed


def _inside(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return not name.startswith("/") and ".." not in parts and "\\" not in name and ":" not in name
