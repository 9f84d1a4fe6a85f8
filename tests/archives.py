"""Archives for tests: exporting by the script alone, and archives that somebody changed."""

import hashlib
import importlib.util
import json
import zipfile
from pathlib import Path

from conftest import CLAIMS, ROOT

METADATA = "ro-crate-metadata.json"


def script(name):
    """The module of a script."""
    spec = importlib.util.spec_from_file_location(f"script_{name}", ROOT / "workflow" / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def export(root: Path, settings: dict, archive: Path, **other_files) -> dict[str, bytes]:
    """Write the archive of the study in the folder `root`; its members by name. other_files: more of them."""
    files = {
        "workflow": ROOT / "Snakefile",
        "claims": CLAIMS,
        "lock": ROOT / "envs" / "requirements.txt",
        "citation": ROOT / "CITATION.cff",
    } | other_files
    options = [word for name, path in files.items() for word in (f"--{name}", str(path))]
    options += ["--settings", json.dumps(settings), "--root", str(root), "--archive", str(archive)]
    script("export").main([*options, "--log", str(archive.with_suffix(".log"))])
    return members(archive)


def members(archive: Path) -> dict[str, bytes]:
    """What an archive holds, by name."""
    with zipfile.ZipFile(archive) as file:
        return {name: file.read(name) for name in file.namelist()}


def list_entities(result: dict[str, bytes]) -> dict[str, dict]:
    """The entities of an archive's metadata, by identifier."""
    return {entity["@id"]: entity for entity in json.loads(result[METADATA])["@graph"]}


def write(archive: Path, result: dict[str, bytes]) -> Path:
    """An archive of these members, as they are."""
    with zipfile.ZipFile(archive, "w") as file:
        for name, content in result.items():
            file.writestr(name, content)
    return archive


def forge(archive: Path, result: dict[str, bytes], **changed: bytes) -> Path:
    """An archive whose members have been changed, and its metadata to fit."""
    whole = json.loads(result[METADATA])
    for entity in whole["@graph"]:
        if entity["@id"] in changed:
            content = changed[entity["@id"]]
            entity |= {"contentSize": str(len(content)), "sha256": hashlib.sha256(content).hexdigest()}
    return write(archive, result | changed | {METADATA: json.dumps(whole).encode()})
