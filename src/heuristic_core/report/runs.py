"""What ran and for how long, from the records that Snakemake keeps of every output."""

import base64
import binascii
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class Rule(NamedTuple):
    """The jobs of one rule. total, longest: seconds; jobs that run at the same time add up."""

    name: str
    jobs: int
    total: float
    longest: float


def rules(metadata: Path, root: str) -> list[Rule] | None:
    """The rules behind the files that are under `root`, longest first; None where nothing is recorded of them.

    metadata: Snakemake's folder of records, one JSON file per output. A job with several outputs has as many records,
    which share its log and differ by the microseconds between them: it counts once.
    """
    seconds: dict[tuple, float] = {}
    for path, record in _records(metadata):
        if not path.startswith(f"{root}/") or not Path(path).exists() or not record.get("endtime"):
            continue
        # Rules that a loop makes, one for every block of seeds, are one rule to a reader.
        job = re.sub(r"(_\d+)+$", "", record["rule"]), *(record.get("log") or [path])
        seconds[job] = max(seconds.get(job, 0.0), record["endtime"] - record["starttime"])
    by_rule: dict[str, list[float]] = {}
    for (name, *_), length in seconds.items():
        by_rule.setdefault(name, []).append(length)
    found = [Rule(name, len(lengths), sum(lengths), max(lengths)) for name, lengths in by_rule.items()]
    return sorted(found, key=lambda rule: (-rule.total, rule.name)) or None


def _records(metadata: Path) -> Iterator[tuple[str, dict]]:
    """(path of the output, its record). A file's name is that path in base64, in parts where it is long."""
    for file in sorted(metadata.rglob("*")):
        if not file.is_file():
            continue
        name = "".join(part.removeprefix("@") for part in file.relative_to(metadata).parts)
        try:
            yield base64.b64decode(name, altchars=b"-_").decode(), json.loads(file.read_text())
        except (binascii.Error, ValueError):
            continue  # not a record, or one that is being written
