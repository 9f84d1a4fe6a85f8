"""Which provenance records go into an archive."""

from collections.abc import Iterable
from pathlib import Path

from heuristic_core.provenance.record import read_record

RECORDS = "provenance"


def records(root: Path, names: Iterable[str]) -> list[str]:
    """The provenance records of the files `names` below `root`, of what these were made from, and so on.

    A file in a folder that a job wrote whole has the record of the folder.
    """
    paths: set[str] = set()
    waiting = list(names)
    while waiting:
        name = Path(waiting.pop())
        for path in (f"{RECORDS}/{part}.json" for part in (name, *name.parents)):
            if path not in paths and (root / path).is_file():
                paths.add(path)
                waiting += read_record(root / path)["inputs"]
    return sorted(paths)
