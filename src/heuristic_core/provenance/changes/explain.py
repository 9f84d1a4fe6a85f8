"""The jobs of a dry run grouped by what makes them run, as text: causes first, then what follows from them."""

import textwrap
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence

from heuristic_core.provenance.changes.dryrun import Planned
from heuristic_core.provenance.changes.settings import differences, is_digest

NOTHING = "Nothing would run: every result is up to date."
MOST = 5  # causes of one rule's jobs that are shown
# What changed of a job's code, from the words of its command and one of its results.
Code = Callable[[Sequence[str], str], list[str]]


def explain(jobs: Sequence[Planned], code: Code) -> str:
    """Why these jobs would run. A job that follows from others has not been asked for causes of its own."""
    if not jobs:
        return NOTHING
    causes: dict[str, Counter] = defaultdict(Counter)
    following: Counter = Counter()
    for job in jobs:
        found = list(dict.fromkeys(_causes(job, code)))
        causes[job.rule].update(found)
        following[job.rule] += not found
    order = _upstream_first(jobs)
    total = Counter(job.rule for job in jobs)
    alike: dict[str, list[str]] = defaultdict(list)  # rules that the same causes let run
    for rule in order:
        if causes[rule]:
            alike[_lines(causes[rule], total[rule])].append(_named(rule, total[rule]))
    parts = [_number(len(jobs)) + " would run. In brackets: how many of one rule."]
    parts += [f"{_filled(', '.join(rules))}:\n{lines}" for lines, rules in alike.items()]
    if rest := [_named(rule, following[rule]) for rule in order if following[rule]]:
        parts.append(_filled(f"Because of these: {', '.join(rest)}."))
    return "\n\n".join(parts)


def _causes(job: Planned, code: Code) -> Iterator[str]:
    """Why a job would run but for other jobs' results."""
    reason = job.reason
    if reason.forced:
        yield "asked for again"
    if "missing" in reason.files:
        yield "no result yet"
    if "cut off" in reason.files:
        yield "was cut off"
    for path in reason.files.get("updated", []):
        yield f"input changed: {path}"
    if reason.inputs:
        yield "other input files than before"
    if reason.command:
        yield "command changed: its rule under workflow/rules"
    if reason.before or reason.now:
        yield from (f"setting changed: {line}" for line in differences(reason.before, reason.now, job.words))
        if any(map(is_digest, reason.now)):
            yield from (f"code changed: {line}" for line in code(job.words, job.outputs[0]))


def _lines(causes: Counter, total: int) -> str:
    lines = [cause if count == total else f"{cause} ({_number(count)})" for cause, count in causes.items()]
    if len(lines) > MOST:
        lines[MOST:] = [f"and {len(lines) - MOST} causes more"]
    return "\n".join(f"    {line}" for line in lines)


def _named(rule: str, count: int) -> str:
    return f"{rule} ({count})" if count > 1 else rule


def _filled(text: str) -> str:
    return textwrap.fill(text, 100, break_long_words=False)


def _number(count: int) -> str:
    return "1 job" if count == 1 else f"{count} jobs"


def _upstream_first(jobs: Sequence[Planned]) -> list[str]:
    """The rules in the order in which the last of their jobs could run."""
    makers = {path: job for job in jobs for path in job.outputs}
    depths: dict[int, int] = {}

    def depth(job: Planned) -> int:
        if id(job) not in depths:
            before = [depth(makers[path]) for path in job.inputs if path in makers]
            depths[id(job)] = 1 + max(before, default=0)
        return depths[id(job)]

    deepest: dict[str, int] = {}
    for job in jobs:
        deepest[job.rule] = max(deepest.get(job.rule, 0), depth(job))
    return sorted(deepest, key=lambda rule: (deepest[rule], rule))
