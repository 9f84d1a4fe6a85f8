"""A folder for the unfinished work of a long job, kept only as long as it is about the same work."""

import shutil
from pathlib import Path


def scratch(folder: str | Path, fingerprint: str) -> Path:
    """The folder, emptied unless what it holds was left by a job of the same `fingerprint`."""
    folder = Path(folder)
    mark = folder / "fingerprint"
    if not (mark.is_file() and mark.read_text() == fingerprint):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        mark.write_text(fingerprint)
    return folder


def set_aside(folder: Path, name: str) -> Path:
    """Give the unfinished work of a job that must not be repeated as it was another name, in place of an older one."""
    kept = folder.with_name(name)
    shutil.rmtree(kept, ignore_errors=True)
    return folder.rename(kept)
