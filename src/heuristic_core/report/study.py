"""Values of a study's report: claims, figures, tables, settings and run times."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from heuristic_core.report.claims import Claim, count_verdicts, count_verdicts_by_seed, group_claims
from heuristic_core.report.exhibits import Exhibit
from heuristic_core.report.runs import summarise_scripts
from heuristic_core.report.settings import group_settings
from heuristic_core.report.views import VIEW_CONFIG, load_library
from heuristic_core.stats.estimates import NOT_RUN, TOO_FEW
from heuristic_core.stats.verdicts import VERDICT_MEANINGS


def study_values(
    root: Path,
    settings: dict | None,
    claims: Sequence[dict],
    exhibits: Sequence[Exhibit],
    records: Sequence[Mapping],
    made_with: Mapping[str, str],
    absent: Sequence[str] = (),
) -> dict:
    """Return the variables of template study.html.j2.

    Args:
        root: Folder of the study.
        settings: Checked configuration; None for imported results.
        claims: Rows of table "claims".
        exhibits: Figures and tables, in order.
        records: One record for each job.
        made_with: Name -> version of the software that made the results.
        absent: Sentences on figures and tables that the study lacks: why, and which setting would give them.
    """
    all_claims = group_claims(claims)
    judged = [claim for claim in all_claims if not _undecidable(claim)]
    primary = [claim for claim in judged if claim.family is not None]
    return {
        "study": root.name,
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
        "absent": absent,
        "settings": group_settings(settings or {}),
        "scripts": summarise_scripts(records),
        "versions": made_with,
    }


def _undecidable(claim: Claim) -> bool:
    """Return whether the study cannot decide a claim: all rows lack what it needs, or have too little of it."""
    return all(row["verdict"] in (NOT_RUN, TOO_FEW) for row in claim.rows)
