"""The jobs of a dry run grouped by what makes them run, as text: causes first, then what follows from them."""

import textwrap
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from heuristic_core.plan.jobs import Listed, family

NOTHING = "Nothing would run: every result is up to date."
MAX_CAUSES = 5  # causes of one rule's jobs that are shown


def explain(jobs: Sequence[Listed], causes_of: Callable[[Listed, set[str]], list[str]]) -> str:
    """Why these jobs would run. causes_of: of one job, given the results of all; none where it follows from others."""
    if not jobs:
        return NOTHING
    causes: dict[str, Counter] = defaultdict(Counter)
    following: Counter = Counter()
    made = {path for job in jobs for path in job.outputs}
    for job in jobs:
        job_causes = causes_of(job, made)
        causes[family(job.rule)].update(job_causes)
        following[family(job.rule)] += not job_causes
    order = _upstream_first(jobs)
    total = Counter(family(job.rule) for job in jobs)
    rules_by_causes: dict[str, list[str]] = defaultdict(list)  # rules that the same causes let run
    for rule in order:
        if causes[rule]:
            rules_by_causes[_lines(causes[rule], total[rule])].append(_format_rule(rule, total[rule]))
    parts = [_format_jobs(len(jobs)) + " would run. In brackets: how many of one rule."]
    parts += [f"{_wrap(', '.join(rules))}:\n{lines}" for lines, rules in rules_by_causes.items()]
    if rest := [_format_rule(rule, following[rule]) for rule in order if following[rule]]:
        parts.append(_wrap(f"Because of these: {', '.join(rest)}."))
    return "\n\n".join(parts)


def _lines(causes: Counter, total: int) -> str:
    lines = [cause if count == total else f"{cause} ({_format_jobs(count)})" for cause, count in causes.items()]
    if len(lines) > MAX_CAUSES:
        lines[MAX_CAUSES:] = [f"and {len(lines) - MAX_CAUSES} causes more"]
    return "\n".join(f"    {line}" for line in lines)


def _format_rule(rule: str, count: int) -> str:
    return f"{rule} ({count})" if count > 1 else rule


def _wrap(text: str) -> str:
    return textwrap.fill(text, 100, break_long_words=False)


def _format_jobs(count: int) -> str:
    return "1 job" if count == 1 else f"{count} jobs"


def _upstream_first(jobs: Sequence[Listed]) -> list[str]:
    """The rules in the order in which the last of their jobs could run."""
    makers = {path: job for job in jobs for path in job.outputs}
    depths: dict[int, int] = {}

    def depth(job: Listed) -> int:
        if id(job) not in depths:
            before = [depth(makers[path]) for path in job.inputs if path in makers]
            depths[id(job)] = 1 + max(before, default=0)
        return depths[id(job)]

    deepest: dict[str, int] = {}
    for job in jobs:
        rule = family(job.rule)
        deepest[rule] = max(deepest.get(rule, 0), depth(job))
    return sorted(deepest, key=lambda rule: (deepest[rule], rule))
