"""What the report of any study shows: its claims first, then figures, tables, and how all of it came about."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from heuristic_core.analysis.estimates import NOT_RUN, TOO_FEW
from heuristic_core.analysis.verdicts import MEANINGS
from heuristic_core.report.claims import Claim, claims_of, tally, tally_by_seed
from heuristic_core.report.exhibits import Exhibit
from heuristic_core.report.runs import scripts
from heuristic_core.report.settings import settings_by_block
from heuristic_core.report.views import CONFIG, library


def study_values(
    root: Path,
    settings: dict | None,
    claims: Sequence[dict],
    exhibits: Sequence[Exhibit],
    records: Sequence[Mapping],
    made_with: Mapping[str, str],
    absent: Sequence[str] = (),
) -> dict:
    """The values of template study.html.j2, by its names.

    root: the study's results. settings: the checked configuration, None for imported results. claims: rows of the
    table of claims. exhibits: figures and tables, in order. records: of its jobs, one of each.
    made_with: name -> version, of what the results are made with.
    absent: of each figure and table that the study cannot have, why, and which setting would give it.
    """
    judged = claims_of(claims)
    run = [claim for claim in judged if not _undecidable(claim)]
    primary = [claim for claim in run if claim.family is not None]
    return {
        "study": root.name,
        "claims": primary,
        "checks": [claim for claim in run if claim.family is None],
        "undecidable": [claim for claim in judged if _undecidable(claim)],
        "meanings": MEANINGS,
        "tally": tally(primary),
        "tally_by_seed": tally_by_seed(primary),
        "figures": [e for e in exhibits if e.image],
        "views": {e.name: e.view for e in exhibits if e.view},
        "view_look": CONFIG,
        "view_library": library() if any(e.view for e in exhibits) else None,
        "sheets": [e for e in exhibits if not e.image],
        "absent": absent,
        "settings": settings_by_block(settings or {}),
        "scripts": scripts(records),
        "versions": made_with,
    }


def _undecidable(claim: Claim) -> bool:
    """Return whether the study cannot decide a claim: all rows lack what it needs, or have too little of it."""
    return all(row["verdict"] in (NOT_RUN, TOO_FEW) for row in claim.rows)
