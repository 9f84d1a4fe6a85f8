"""Run times by script, from the records of all jobs."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Script(NamedTuple):
    """Run times of one script's jobs.

    Attributes:
        name: Name of the script.
        jobs: Number of jobs.
        total: Sum of their run times, seconds, also of jobs that ran at the same time.
        longest: Longest run time, seconds.
    """

    name: str
    jobs: int
    total: float
    longest: float


def summarise_scripts(records: Iterable[Mapping]) -> list[Script]:
    """Summarise run times by script, longest total first.

    Args:
        records: One record for each job.
    """
    seconds: dict[str, list[float]] = {}
    for record in records:
        seconds.setdefault(record["script"], []).append(record["seconds"])
    summaries = [Script(name, len(times), sum(times), max(times)) for name, times in seconds.items()]
    return sorted(summaries, key=lambda script: (-script.total, script.name))
