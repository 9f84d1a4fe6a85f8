"""Findings for a page: claims and figures under the question that they answer, with a headline made from verdicts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import jinja2

from heuristic_core.config.findings import Finding
from heuristic_core.report.claims import Claim, count_verdicts
from heuristic_core.report.exhibits import Exhibit
from heuristic_core.report.render import format_p
from heuristic_core.stats.estimates import DOES_NOT_APPLY, FAILED_RUNS
from heuristic_core.stats.verdicts import CONTRADICTED, NOT_CLEAR, SUPPORTED
from heuristic_core.tables.parquet import read_rows

DECIDED = (SUPPORTED, CONTRADICTED)
PHRASES = {FAILED_RUNS: "with failed runs", DOES_NOT_APPLY: "not applicable"}


class Replication(NamedTuple):
    """On how many further training seeds a claim holds.

    Attributes:
        seeds: Number of seeds that judge the claim.
        supported: Number of these that support it.
        contradicted: Number of these that contradict it.
    """

    seeds: int
    supported: int
    contradicted: int


class Answer(NamedTuple):
    """A claim under the finding that it answers.

    Attributes:
        claim: The claim.
        text: The claim in plain words.
        reservation: Why it is supported with reservations; None otherwise.
    """

    claim: Claim
    text: str
    reservation: str | None = None


class FindingView(NamedTuple):
    """A finding on a page.

    Attributes:
        name: Its name.
        title: Its heading.
        text: What is asked.
        headline: The outcome, made from the verdicts on its claims.
        verdict: The verdict that colours the headline.
        answers: Its claims that the study can decide.
        undecidable: Number of further claims that answer it, which the study cannot decide.
        opposed: Checks whose verdict speaks against the finding.
        checks: Number of checks that could.
        undecided: Number of these that are neither supported nor contradicted.
        exhibits: Figures and tables that show it.
        warning: What went wrong with the runs that it rests on; None if nothing did.
    """

    name: str
    title: str
    text: str
    headline: str
    verdict: str
    answers: Sequence[Answer]
    undecidable: int
    opposed: Sequence[Answer]
    checks: int
    undecided: int
    exhibits: Sequence[Exhibit]
    warning: str | None


def load_replications(path: str | Path) -> dict[tuple[str, str], Replication]:
    """Read on how many seeds each claim holds, by claim and threshold, from a table "table_replicates"."""
    return {
        (row["claim"], row["threshold"]): Replication(row["seeds"], row["supported"], row["contradicted"])
        for row in read_rows(path)
        if row["seeds"]
    }


def build_findings(
    findings: Iterable[Finding],
    claims: Sequence[Claim],
    exhibits: Sequence[Exhibit],
    variables: Mapping,
    find_drawing: Callable[[str], str] = lambda name: name,
    warnings: Mapping[str, str] = MappingProxyType({}),
    replications: Mapping[tuple[str, str], Replication] = MappingProxyType({}),
) -> list[FindingView]:
    """Return the findings of which the study can decide at least one claim.

    Args:
        findings: Findings in order.
        claims: All claims of the study.
        exhibits: All figures and tables of the study.
        variables: Variables of the texts.
        find_drawing: Function that returns the name by which findings know a target.
        warnings: Warning on the runs of each kind that a finding may rest on.
        replications: On how many further training seeds each claim holds, by claim and threshold.
    """
    by_name = {claim.name: claim for claim in claims if claim.is_decidable}
    views = []
    for finding in findings:
        answers = [
            Answer(by_name[name], text, describe_reservation(by_name[name], replications))
            for name, text in finding.claims.items()
            if name in by_name
        ]
        if not answers:
            continue
        counts = count_verdicts([answer.claim for answer in answers])
        weak = sum(answer.reservation is not None for answer in answers)
        undecidable = sum(claim.name in finding.claims for claim in claims if not claim.is_decidable)
        headline, verdict = summarise_verdicts(counts, weak, undecidable)
        checks = {name: by_name[name] for name in finding.against if name in by_name}
        views.append(
            FindingView(
                name=finding.finding,
                title=finding.title,
                text=jinja2.Template(finding.text).render(variables),
                headline=headline,
                verdict=verdict,
                answers=answers,
                undecidable=undecidable,
                opposed=[
                    Answer(c, c.sentence) for name, c in checks.items() if c.overall["verdict"] == finding.against[name]
                ],
                checks=len(checks),
                undecided=sum(c.overall["verdict"] not in DECIDED for c in checks.values()),
                exhibits=[e for name in finding.targets for e in exhibits if find_drawing(e.name) == name],
                warning=warnings.get(finding.runs),
            )
        )
    return views


def describe_reservation(claim: Claim, replications: Mapping[tuple[str, str], Replication]) -> str | None:
    """Describe why a supported claim is weak: not significant with adjusted p, or true of at most half of other seeds.

    Args:
        claim: The claim.
        replications: On how many further training seeds each claim holds, by claim and threshold.

    Returns:
        A phrase; None if the claim is not supported, or without reservations.
    """
    if claim.overall["verdict"] != SUPPORTED:
        return None
    reasons = [f"adjusted p = {format_p(claim.overall['p_holm'])}"] * claim.fails_adjusted
    replication = replications.get((claim.name, claim.overall["threshold"]))
    if replication is not None and 2 * replication.supported <= replication.seeds:
        reasons.append(f"only {replication.supported} of {replication.seeds} other seeds support it")
    return " and ".join(reasons) or None


def summarise_verdicts(counts: Mapping[str, int], weak: int, undecidable: int) -> tuple[str, str]:
    """Return a headline and the verdict that colours it.

    Args:
        counts: Number of claims with each verdict.
        weak: Number of supported claims with reservations.
        undecidable: Number of further claims, which the study cannot decide.
    """
    judged = sum(counts.values())
    assert judged, "a finding has at least one claim"
    reservation = "with reservations" if judged == 1 else f"{weak} with reservations"
    others = [f"{n} {PHRASES.get(verdict, verdict)}" for verdict, n in counts.items() if n and verdict != SUPPORTED]
    others = [reservation] * bool(weak) + others
    if counts[SUPPORTED] == judged and undecidable:
        outcome, verdict = f"Supported as far as decided: {judged} of {judged + undecidable} claims", NOT_CLEAR
    elif counts[SUPPORTED] == judged:
        number = {1: "its claim", 2: "both claims"}.get(judged, f"all {judged} claims")
        outcome, verdict = f"Supported: {number}", NOT_CLEAR if weak else SUPPORTED
    elif counts[SUPPORTED]:
        outcome, verdict = f"Partly supported: {counts[SUPPORTED]} of {judged} claims", NOT_CLEAR
    elif counts[CONTRADICTED]:
        outcome, verdict = f"Not supported: none of {judged} claims", CONTRADICTED
    else:
        outcome, verdict = f"Undecided: none of {judged} claims supported", NOT_CLEAR
    if judged == 1 and not counts[SUPPORTED]:
        outcome = outcome.partition(":")[0]
        return f"{outcome}: {', '.join(others).replace(' ', ' claim ', 1)}", verdict
    return "; ".join([outcome, ", ".join(others)] if others else [outcome]), verdict
