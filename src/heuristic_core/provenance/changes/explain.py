"""Text of `make changes`: jobs grouped by their causes, then jobs that only follow from other jobs."""

import textwrap
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from heuristic_core.common.errors import format_count
from heuristic_core.plan.jobs import PlannedJob, base_rule

NO_JOBS_TEXT = "Nothing would run: every result is up to date."
MAX_CAUSES = 5  # causes shown for one rule


def explain_jobs(jobs: Sequence[PlannedJob], find_causes: Callable[[PlannedJob, set[str]], list[str]]) -> str:
    """Explain why jobs would run.

    Args:
        jobs: All jobs of a dry run.
        find_causes: Function of a job and the results of all jobs that returns one line per cause of the job; empty if
            it only follows from other jobs.

    Returns:
        Text of several paragraphs, upstream rules first.
    """
    if not jobs:
        return NO_JOBS_TEXT
    causes: dict[str, Counter] = defaultdict(Counter)
    following: Counter = Counter()
    results = {path for job in jobs for path in job.outputs}
    for job in jobs:
        job_causes = find_causes(job, results)
        causes[base_rule(job.rule)].update(job_causes)
        following[base_rule(job.rule)] += not job_causes
    order = _sort_rules(jobs)
    total = Counter(base_rule(job.rule) for job in jobs)
    rules_by_causes: dict[str, list[str]] = defaultdict(list)
    for rule in order:
        if causes[rule]:
            rules_by_causes[_format_causes(causes[rule], total[rule])].append(_format_rule(rule, total[rule]))
    paragraphs = [format_count(len(jobs), "job") + " would run. In parentheses: number of jobs of a rule."]
    paragraphs += [f"{_wrap(', '.join(rules))}:\n{lines}" for lines, rules in rules_by_causes.items()]
    if downstream := [_format_rule(rule, following[rule]) for rule in order if following[rule]]:
        paragraphs.append(_wrap(f"Downstream of these: {', '.join(downstream)}."))
    return "\n\n".join(paragraphs)


def _format_causes(causes: Counter, total: int) -> str:
    """Return indented lines on the causes of a rule's `total` jobs."""
    lines = [cause if count == total else f"{cause} ({format_count(count, 'job')})" for cause, count in causes.items()]
    if len(lines) > MAX_CAUSES:
        lines[MAX_CAUSES:] = [f"and {len(lines) - MAX_CAUSES} more causes"]
    return "\n".join(f"    {line}" for line in lines)


def _format_rule(rule: str, count: int) -> str:
    """Return the rule with its number of jobs, if more than one."""
    return f"{rule} ({count})" if count > 1 else rule


def _wrap(text: str) -> str:
    """Wrap text at 100 characters."""
    return textwrap.fill(text, 100, break_long_words=False)


def _sort_rules(jobs: Sequence[PlannedJob]) -> list[str]:
    """Return rules in topological order: by the largest depth of their jobs, then by name."""
    makers = {path: job for job in jobs for path in job.outputs}
    depths: dict[int, int] = {}

    def depth(job: PlannedJob) -> int:
        if id(job) not in depths:
            input_depths = [depth(makers[path]) for path in job.inputs if path in makers]
            depths[id(job)] = 1 + max(input_depths, default=0)
        return depths[id(job)]

    rule_depths: dict[str, int] = {}
    for job in jobs:
        rule = base_rule(job.rule)
        rule_depths[rule] = max(rule_depths.get(rule, 0), depth(job))
    return sorted(rule_depths, key=lambda rule: (rule_depths[rule], rule))
