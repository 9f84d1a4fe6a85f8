"""Tables of a plan as text for the terminal. ~ marks numbers that are neither measured nor counted."""

from collections import Counter
from collections.abc import Mapping

from heuristic_core.common.durations import format_duration

Rows = list[list[str]]


def job_rows(all_jobs: Counter, missing_jobs: Counter) -> Rows:
    """Return a row for each rule, and a row of totals.

    Args:
        all_jobs: Number of jobs by rule.
        missing_jobs: Number of jobs by rule whose results do not exist.

    Returns:
        Rule, and number of jobs: all, with results, without results.
    """
    all_jobs, missing_jobs = _merge_drawings(all_jobs), _merge_drawings(missing_jobs)
    rows = [(rule, n, missing_jobs[rule]) for rule, n in all_jobs.items()]
    rows.append(("total", all_jobs.total(), missing_jobs.total()))
    return [[name, f"{n:,}", f"{n - left:,}", f"{left:,}"] for name, n, left in rows]


def _merge_drawings(jobs: Counter) -> Counter:
    """Merge the rules of figures and tables for reading into one entry."""
    merged = Counter()
    for rule, count in jobs.items():
        merged["figures and tables" if rule.startswith(("figure", "table")) else rule] += count
    return merged


def group_by_reason(reasons: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the targets that a study leaves out by reason.

    Args:
        reasons: Target -> reason, which may begin with the target's name.

    Returns:
        Reason without the name -> names.
    """
    groups = {}
    for name, reason in reasons.items():
        groups.setdefault(reason.removeprefix(f"{name} "), []).append(name)
    return groups


def format_left_out(reasons: Mapping[str, str]) -> str:
    """Return the figures and tables that a study leaves out, a line for each reason.

    Args:
        reasons: See :func:`group_by_reason`.

    Returns:
        Lines of text.
    """
    lines = [f"  {', '.join(names)}: {reason}" for reason, names in group_by_reason(reasons).items()]
    return "\n".join(["Figures and tables left out:", *lines]) if lines else "No figure or table is left out."


def format_number(value: float) -> str:
    """Format a number with three significant digits, or all digits before the point."""
    return f"{value:,.3g}" if value < 100 else f"{value:,.0f}"


def format_estimate(value: float) -> str:
    """Format an estimate, marked by ~."""
    return f"~{format_number(value)}" if value else "0"


def format_hours(hours: float, measured: bool = False) -> str:
    """Format hours as a duration, marked by ~ unless they are measured."""
    if not hours:
        return "0"
    return f"{'' if measured else '~'}{format_duration(max(0.1, 3600 * hours))}"


def format_gigabytes(size: float) -> str:
    """Format an estimate in bytes as gigabytes."""
    return format_estimate(size / 1e9)


def format_table(head: list[str], rows: Rows) -> str:
    """Format a table. Numbers are right-aligned; the first column and a last column of text are left-aligned.

    Args:
        head: Headings of the columns.
        rows: Cells as text, as many as headings.
    """
    cells = [head, *rows]
    widths = [max(len(row[k]) for row in cells) for k in range(len(head))]
    text = {0} | ({len(head) - 1} if head[-1] == "throughput from" else set())

    def line(row: list[str]) -> str:
        return "  ".join(
            c.ljust(w) if k in text else c.rjust(w) for k, (c, w) in enumerate(zip(row, widths, strict=True))
        )

    return "\n".join([line(head).rstrip(), "  ".join("-" * w for w in widths), *(line(row).rstrip() for row in rows)])
