"""The plan as text for the terminal. ~ marks numbers that are neither measured nor counted."""

from collections import Counter

from heuristic_core.experiments.subnetworks.config import Study
from heuristic_core.experiments.subnetworks.plan.memory import estimate_memory
from heuristic_core.experiments.subnetworks.plan.pairs import StudyPairs, count_pairs
from heuristic_core.experiments.subnetworks.plan.schedule import warn_of_schedule
from heuristic_core.experiments.subnetworks.plan.space import estimate_disk
from heuristic_core.experiments.subnetworks.plan.work import estimate_work
from heuristic_core.plan.devices import Device, Hours, Work, estimate_hours
from heuristic_core.plan.gpus import describe_gpus
from heuristic_core.plan.shapes import Shape, read_shape
from heuristic_core.plan.text import Rows, format_gigabytes, format_hours, format_table, job_rows


def plan(study: Study, device_name: str, target: Device, all_jobs: Counter, missing_jobs: Counter) -> str:
    """Return the plan of one study.

    Args:
        study: The study.
        device_name: Name of the device, for the heading.
        target: The device that times are for.
        all_jobs: Number of all jobs by rule.
        missing_jobs: Number of jobs by rule whose results are missing or out of date.
    """
    shape, data = read_shape(study.model), count_pairs(study)
    work = estimate_work(study, shape, data)
    size = f"{shape.parameters / 1e6:,.1f} million parameters"
    schedule_warning = warn_of_schedule(study, shape)
    parts = [
        f"{study.study}: {study.model.name} ({size}) on {study.task.name}, times for {device_name} ({target.about})",
        format_table(["jobs", "all", "exist", "to do"], job_rows(all_jobs, missing_jobs)),
        format_table(
            ["work", "times", "examples", "tokens", "FLOP", f"{target.unit} time", "to do", "throughput from"],
            _work(study, shape, target, work, data.counted, all_jobs, missing_jobs),
        ),
        format_table(["disk", "GB"], _disk(estimate_disk(study, shape, data, work))),
        format_table(
            ["memory of a job at its peak", "GB", "GB of the GPU"],
            [
                [m.name, format_gigabytes(m.host), format_gigabytes(m.device)]
                for m in estimate_memory(study, shape, data)
            ],
        ),
        *([describe_gpus(lambda gpu: estimate_work_hours(study, shape, gpu, work))] if study.device == "cuda" else []),
        _first_figure(study, shape, target, work),
        _notes(data, target),
        *([schedule_warning] if schedule_warning else []),
    ]
    return "\n\n".join(parts)


def _work(
    study: Study,
    shape: Shape,
    target: Device,
    work: list[Work],
    counted: bool,
    all_jobs: Counter,
    missing_jobs: Counter,
) -> Rows:
    rows, total, left, all_measured = [], 0.0, 0.0, True
    for part, took in zip(work, estimate_work_hours(study, shape, target, work), strict=True):
        jobs = sum(all_jobs[rule] for rule in part.rules)
        to_do = took.hours * sum(missing_jobs[rule] for rule in part.rules) / jobs if jobs else 0.0
        total, left = total + took.hours, left + to_do
        measured = counted and took.kind == "measured"
        all_measured &= measured
        numbers = [f"{part.repeats:,}", f"{part.pairs:,}", f"{part.tokens:.2g}", f"{part.flops:.2g}"]
        times = [format_hours(value, measured) for value in (took.hours, to_do)]
        rows.append([part.name, *numbers, *times, f"{took.kind}: {took.basis}"])
    times = [format_hours(value, all_measured) for value in (total, left)]
    return [*rows, ["total", "", "", "", f"{sum(part.flops for part in work):.2g}", *times, ""]]


def _first_figure(study: Study, shape: Shape, target: Device, work: list[Work]) -> str:
    """Return a sentence on the first figure, which needs one fine-tuning run and its evaluations."""
    tuning = [part for part in work if "finetune" in part.rules]
    hours = sum(took.hours for took in estimate_work_hours(study, shape, target, tuning)) / len(study.finetune.seeds)
    return (
        f"First figure: figure 10, accuracies over fine-tuning, after one fine-tuning run: {format_hours(hours)} of "
        f"one {target.unit}."
    )


def estimate_work_hours(study: Study, shape: Shape, target: Device, work: list[Work]) -> list[Hours]:
    """Estimate the hours of work on a device, each piece in its precision.

    Args:
        study: The study.
        shape: Sizes of its model.
        target: The device.
        work: Work of the study.

    Returns:
        Hours of each piece.
    """
    precisions = {"finetune": study.finetune.precision, "prune": study.prune.precision, "evaluate": study.precision}
    return [estimate_hours(part, shape, target, precisions[part.engine]) for part in work]


def _disk(parts: dict[str, float]) -> Rows:
    *kept, (last, besides) = parts.items()
    rows = [[name, format_gigabytes(size)] for name, size in kept]
    return [
        *rows,
        ["total", format_gigabytes(sum(size for _, size in kept))],
        [f"besides, {last}", format_gigabytes(besides)],
    ]


def _notes(data: StudyPairs, target: Device) -> str:
    known = "counted" if data.counted else "lengths estimated"
    if data.assumed_files:
        known += f", counts assumed (plan/pairs.yaml) for {', '.join(data.assumed_files)}"
    sizes = [f"{part.pairs:,} of {part.mean:.1f} tokens" for part in (data.train, data.evaluation)]
    lines = [
        f"Examples, {known}: {sizes[0]} to train on, {sizes[1]} to evaluate.",
        "~ marks estimates: of speeds not measured with this code, and of unknown lengths or counts. Published speeds",
        "come from other code. Time to do: the part of the time that the jobs to do take. Ablations: for a core of a",
        "sixteenth of all heads, as in the paper, and the heads that few pruning seeds share by chance; a larger core",
        "has more pairs of heads to ablate. Disk and memory are computed from sizes.",
    ]
    if all(known.kind != "measured" for known in target.throughputs):
        lines.append("No speed was measured on this device: benchmarks/prune_step.py --device cuda measures it.")
        lines.append("Scaled: by the ratio of peaks; it takes less where the peak did not limit the measured GPU.")
    return "\n".join(lines)
