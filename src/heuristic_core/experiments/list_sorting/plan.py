"""Estimate the resources of a list-sorting study before it runs, from counted operations and one measured rate."""

from collections import Counter

from heuristic_core.common.errors import format_count
from heuristic_core.experiments.list_sorting.study import SortingStudy
from heuristic_core.experiments.list_sorting.work import Work, checkpoint_bytes, count_work, operations_per_second
from heuristic_core.plan.text import format_gigabytes, format_hours, format_table, job_rows

OUTPUT_BYTES = 12e6  # figures, tables and the report


def format_plan(study: SortingStudy, all_jobs: Counter, missing_jobs: Counter) -> str:
    """Return the plan as text.

    Args:
        study: The study.
        all_jobs: All jobs of the study, by rule.
        missing_jobs: Jobs without an up-to-date result, by rule.
    """
    work = {name: count_work(study, name) for name in study.conditions}
    checkpoints = sum(checkpoint_bytes(study.condition_settings(name)) for name in study.conditions)
    peaks = {}
    for part in (part for parts in work.values() for part in parts):
        peaks[part.rule] = max(part.memory, peaks.get(part.rule, 0))
    return "\n\n".join(
        [
            f"{study.study}: {format_count(len(work), 'condition')} of list sorting, times for one core of a processor",
            format_table(["jobs", "all", "exist", "to do"], job_rows(all_jobs, missing_jobs)),
            format_table(
                ["work", "condition", "lists", "FLOP", "core time", "to do"], _hours(work, all_jobs, missing_jobs)
            ),
            format_table(
                ["disk", "GB"],
                [["checkpoints", format_gigabytes(checkpoints)], ["figures, tables", format_gigabytes(OUTPUT_BYTES)]],
            ),
            format_table(
                ["memory of a job at its peak", "GB"], [[rule, format_gigabytes(peak)] for rule, peak in peaks.items()]
            ),
            "~ marks an estimate: operations are counted, and their rate is that of training at the default sizes. "
            "Small batches, as of gates, are slower.",
        ]
    )


def _hours(work: dict[str, list[Work]], all_jobs: Counter, missing_jobs: Counter) -> list[list[str]]:
    """Return the work of each rule and condition, with its time on a core."""
    rows, total, left = [], 0.0, 0.0
    for condition, parts in work.items():
        for part in parts:
            rule = f"train_{condition}" if part.rule == "train" else part.rule
            hours = part.operations / operations_per_second() / 3600
            to_do = hours * missing_jobs[rule] / all_jobs[rule] if all_jobs[rule] else 0.0
            total, left = total + hours, left + to_do
            rows.append(
                [
                    part.rule,
                    condition,
                    f"{part.lists:,}",
                    f"{part.operations:.2g}",
                    format_hours(hours),
                    format_hours(to_do),
                ]
            )
    return [*rows, ["total", "", "", "", format_hours(total), format_hours(left)]]
