"""A plan's tables as text for the terminal. What follows a ~ was not measured, or rests on what is not counted."""

from collections import Counter

Rows = list[list[str]]


def job_rows(all_jobs: Counter, missing_jobs: Counter) -> Rows:
    """Rows under "jobs", "all", "exist", "to do", by rule. all_jobs: all jobs; missing_jobs: those to do."""
    all_jobs, missing_jobs = _merge_drawings(all_jobs), _merge_drawings(missing_jobs)
    rows = [(rule, n, missing_jobs[rule]) for rule, n in all_jobs.items()]
    rows.append(("total", all_jobs.total(), missing_jobs.total()))
    return [[name, f"{n:,}", f"{n - left:,}", f"{left:,}"] for name, n, left in rows]


def _merge_drawings(jobs: Counter) -> Counter:
    """The same with one entry for all figures and tables that are for reading."""
    merged = Counter()
    for rule, count in jobs.items():
        merged["figures and tables" if rule.startswith(("figure", "table")) else rule] += count
    return merged


def format_number(value: float) -> str:
    """A number with three digits, or more before the point."""
    return f"{value:,.3g}" if value < 100 else f"{value:,.0f}"


def format_estimate(value: float) -> str:
    """The same of an estimate."""
    return f"~{format_number(value)}" if value else "0"


def format_gigabytes(size: float) -> str:
    """An estimate in bytes."""
    return format_estimate(size / 1e9)


def format_table(head: list[str], rows: Rows) -> str:
    """Columns side by side: the first and the last, where it is text, to the left, numbers to the right."""
    cells = [head, *rows]
    widths = [max(len(row[k]) for row in cells) for k in range(len(head))]
    text = {0} | ({len(head) - 1} if head[-1] == "throughput from" else set())

    def line(row: list[str]) -> str:
        return "  ".join(
            c.ljust(w) if k in text else c.rjust(w) for k, (c, w) in enumerate(zip(row, widths, strict=True))
        )

    return "\n".join([line(head).rstrip(), "  ".join("-" * w for w in widths), *(line(row).rstrip() for row in rows)])
