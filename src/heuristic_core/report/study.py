"""Values of a study's report: claims, figures, tables, settings and run times."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from heuristic_core.report.claims import Claim, count_verdicts, count_verdicts_by_seed, group_claims
from heuristic_core.report.exhibits import Exhibit
from heuristic_core.report.settings import group_settings
from heuristic_core.report.views import VIEW_CONFIG, load_library
from heuristic_core.stats.estimates import NOT_RUN, TOO_FEW
from heuristic_core.stats.verdicts import VERDICT_MEANINGS


class ReportData(NamedTuple):
    """Data of a study's report.

    Attributes:
        root: Folder of the study.
        settings: Checked configuration; None for imported results.
        claims: Rows of table "claims".
        captions: Captions by target.
        targets: Figures and tables to show, in order.
        records: One record for each job.
        versions: Name -> version of the software that made the results.
        absent: Sentences on unavailable figures and tables: the reason, and the setting that would enable them.
    """

    root: Path
    settings: dict | None
    claims: Sequence[dict]
    captions: Mapping[str, str]
    targets: Sequence[str]
    records: Sequence[Mapping]
    versions: Mapping[str, str]
    absent: Sequence[str] = ()


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


def study_values(data: ReportData, exhibits: Sequence[Exhibit]) -> dict:
    """Return the variables of template study.html.j2.

    Args:
        data: Data of the report.
        exhibits: Figures and tables, in order.
    """
    all_claims = group_claims(data.claims)
    judged = [claim for claim in all_claims if not _undecidable(claim)]
    primary = [claim for claim in judged if claim.family is not None]
    return {
        "study": data.root.name,
        "claims": primary,
        "checks": [claim for claim in judged if claim.family is None],
        "undecidable": [claim for claim in all_claims if _undecidable(claim)],
        "meanings": VERDICT_MEANINGS,
        "tally": count_verdicts(primary),
        "tally_by_seed": count_verdicts_by_seed(primary),
        "figures": [e for e in exhibits if e.image],
        "views": {e.name: e.view for e in exhibits if e.view},
        "view_look": VIEW_CONFIG,
        "view_library": load_library() if any(e.view for e in exhibits) else None,
        "sheets": [e for e in exhibits if not e.image],
        "absent": data.absent,
        "settings": group_settings(data.settings or {}),
        "scripts": summarise_scripts(data.records),
        "versions": data.versions,
    }


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


def _undecidable(claim: Claim) -> bool:
    """Return whether the study cannot decide a claim: all rows lack what it needs, or have too little of it."""
    return all(row["verdict"] in (NOT_RUN, TOO_FEW) for row in claim.rows)
