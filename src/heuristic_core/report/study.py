"""Values of a study's report: findings, claims, figures, tables, settings and run times."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from heuristic_core.report.claims import Claim, count_verdicts, count_verdicts_by_seed
from heuristic_core.report.exhibits import Exhibit
from heuristic_core.report.findings import PHRASES, FindingView, Replication
from heuristic_core.report.settings import group_settings
from heuristic_core.report.views import VIEW_CONFIG, load_library
from heuristic_core.stats.verdicts import SUPPORTED, VERDICT_MEANINGS


class Tile(NamedTuple):
    """A key number of a study on the first screen.

    Attributes:
        label: What the number is.
        value: The number as text.
        note: What it means, and its interval.
        is_warning: Whether the number says that something went wrong.
    """

    label: str
    value: str
    note: str
    is_warning: bool = False


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
        replications: On how many further training seeds each claim holds, by claim and threshold.
    """

    root: Path
    settings: dict | None
    claims: Sequence[dict]
    captions: Mapping[str, str]
    targets: Sequence[str]
    records: Sequence[Mapping]
    versions: Mapping[str, str]
    absent: Sequence[str] = ()
    replications: Mapping[tuple[str, str], Replication] = {}


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


def study_values(
    data: ReportData,
    claims: Sequence[Claim],
    exhibits: Sequence[Exhibit],
    findings: Sequence[FindingView] = (),
    tiles: Sequence[Tile] = (),
) -> dict:
    """Return the variables of template study.html.j2.

    Args:
        data: Data of the report.
        claims: All claims of the study.
        exhibits: Figures and tables, in order.
        findings: Findings, in order.
        tiles: Key numbers of the study; the number of supported claims, of those that it can decide, is added.
    """
    primary = [claim for claim in claims if claim.family is not None and claim.is_decidable]
    in_findings = {exhibit.name for finding in findings for exhibit in finding.exhibits}
    keys = {claim.name: (claim.name, claim.overall["threshold"]) for claim in claims}
    return {
        "study": data.root.name,
        "tiles": [*tiles, *([_count_supported(primary)] if primary else [])],
        "findings": findings,
        "claims": primary,
        "checks": [claim for claim in claims if claim.family is None and claim.is_decidable],
        "undecidable": [claim for claim in claims if not claim.is_decidable],
        "replications": {name: data.replications[key] for name, key in keys.items() if key in data.replications},
        "meanings": VERDICT_MEANINGS,
        "tally_by_seed": count_verdicts_by_seed([claim for claim in claims if claim.family is not None]),
        "exhibits": [e for e in exhibits if e.name not in in_findings],
        "views": {e.name: e.view for e in exhibits if e.view},
        "view_look": VIEW_CONFIG,
        "view_library": load_library() if any(e.view for e in exhibits) else None,
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


def _count_supported(claims: Sequence[Claim]) -> Tile:
    """Return the tile on the verdicts of claims."""
    counts = count_verdicts(claims)
    others = ", ".join(
        f"{n} {PHRASES.get(verdict, verdict)}" for verdict, n in counts.items() if n and verdict != SUPPORTED
    )
    if weak := sum(claim.fails_adjusted for claim in claims):
        others = f"{counts[SUPPORTED] - weak} with adjusted p (Holm); {others}".removesuffix("; ")
    return Tile("claims supported", f"{counts[SUPPORTED]} of {len(claims)}", others)
