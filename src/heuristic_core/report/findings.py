"""Findings of a report: figures and claims in the paper's order, with a summary made from verdicts."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from heuristic_core.config.findings import Finding
from heuristic_core.report.claims import Claim, count_verdicts
from heuristic_core.report.exhibits import Exhibit
from heuristic_core.stats.verdicts import CONTRADICTED, NOT_CLEAR, SUPPORTED

DECIDED, MIXED = (SUPPORTED, CONTRADICTED, NOT_CLEAR), "mixed"


class FindingSection(NamedTuple):
    """A section of the page.

    Attributes:
        finding: Its statement.
        exhibits: Its figures and tables.
        claims: Claims that test the statement.
        against: Checks that speak against it: contradicted or not clear.
        verdict: Of all its claims together, see :func:`summarise`.
        summary: Their number by verdict, such as "2 of 3 claims supported, 1 not clear".
    """

    finding: Finding
    exhibits: list[Exhibit]
    claims: list[Claim]
    against: list[Claim]
    verdict: str
    summary: str


def build_findings(
    findings: Sequence[Finding], claims: Sequence[Claim], exhibits: Sequence[Exhibit]
) -> list[FindingSection]:
    """Return the sections of a page: findings that have a figure or a claim.

    Args:
        findings: Findings in order.
        claims: All claims and checks of the study.
        exhibits: Its figures and tables.
    """
    claim_by_name, exhibit_by_name = ({item.name: item for item in items} for items in (claims, exhibits))
    sections = []
    for finding in findings:
        tested = [claim_by_name[name] for name in finding.claims if name in claim_by_name]
        shown = [exhibit_by_name[name] for name in finding.targets if name in exhibit_by_name]
        against = [claim_by_name[name] for name in finding.checks if name in claim_by_name]
        against = [check for check in against if check.overall["verdict"] in (CONTRADICTED, NOT_CLEAR)]
        if tested or shown:
            sections.append(FindingSection(finding, shown, tested, against, *summarise(tested)))
    return sections


def summarise(claims: Sequence[Claim]) -> tuple[str, str]:
    """Return the verdict on several claims together, and their number by verdict.

    The verdict is "supported" if all decided claims are, "mixed" if some are, "contradicted" if none is and one is
    contradicted, else "not clear". Claims that were not run or have too few seeds are not decided.
    """
    counts = {verdict: count for verdict, count in count_verdicts(claims).items() if count}
    decided = sum(counts.get(verdict, 0) for verdict in DECIDED)
    if decided and counts.get(SUPPORTED) == decided:
        verdict = SUPPORTED
    elif counts.get(SUPPORTED):
        verdict = MIXED
    elif counts.get(CONTRADICTED):
        verdict = CONTRADICTED
    else:
        verdict = NOT_CLEAR
    first, *others = counts.items() if counts else [("judged", 0)]
    noun = "claim" if len(claims) == 1 else "claims"
    return verdict, ", ".join(
        [f"{first[1]} of {len(claims)} {noun} {first[0]}", *(f"{n} {name}" for name, n in others)]
    )


def format_other_seeds(rows: Sequence[Mapping]) -> dict[str, str]:
    """Return on how many other training seeds each claim holds, such as "3 of 10", by claim.

    Args:
        rows: Rows of `table_replicates`.
    """
    return {row["claim"]: f"{row['supported']} of {row['seeds']}" for row in rows if row["seeds"]}
