"""What ran and for how long, from the records of all jobs."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Script(NamedTuple):
    """The jobs of one script. total, longest: seconds; jobs that run at the same time add up."""

    name: str
    jobs: int
    total: float
    longest: float


def scripts(records: Iterable[Mapping]) -> list[Script]:
    """The scripts that made a study's results, longest first. records: of its jobs, one of each."""
    seconds: dict[str, list[float]] = {}
    for record in records:
        seconds.setdefault(record["script"], []).append(record["seconds"])
    totals = [Script(name, len(lengths), sum(lengths), max(lengths)) for name, lengths in seconds.items()]
    return sorted(totals, key=lambda script: (-script.total, script.name))
