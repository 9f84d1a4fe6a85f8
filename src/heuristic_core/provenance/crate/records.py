"""Provenance records in an archive."""

from collections.abc import Iterable
from pathlib import Path

from heuristic_core.provenance.record import read_record

RECORD_DIR = "provenance"


def collect_records(root: Path, names: Iterable[str]) -> list[str]:
    """Return the records of files, of the files that these were made from, and so on.

    Args:
        root: Folder of the study.
        names: Paths of files in it. The record of a file may be the record of a folder that contains it.

    Returns:
        Sorted paths of records in `root`.
    """
    paths: set[str] = set()
    queue = list(names)
    while queue:
        name = Path(queue.pop())
        for path in (f"{RECORD_DIR}/{part}.json" for part in (name, *name.parents)):
            if path not in paths and (root / path).is_file():
                paths.add(path)
                queue += read_record(root / path)["inputs"]
    return sorted(paths)
