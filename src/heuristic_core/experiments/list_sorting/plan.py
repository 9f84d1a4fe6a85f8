"""What a list-sorting study will need, before anything of it runs: from counted operations and one measured rate."""

from collections import Counter
from typing import NamedTuple

from heuristic_core.experiments.list_sorting.config import Data, Model
from heuristic_core.experiments.list_sorting.study import SortingStudy
from heuristic_core.plan.text import about, columns, gigabytes, job_rows

BACKWARD = 3  # forward passes that one with its backward pass costs
# A training step of one model of the default sizes on 512 lists took 39 ms of one core (docs/lab-notes.md).
MEASURED = 512, 0.039
PROCESS = 0.4e9  # bytes of a process that has loaded torch
WEIGHT = 4  # bytes
KEPT = 6  # tensors of a layer's width that a pass keeps for its backward pass, for each token
SHOWN = 12e6  # bytes of figures, tables and the report


class Work(NamedTuple):
    """What all jobs of a rule compute in one condition. lists: that pass through a model, with gradients or without.

    operations: floating-point, of all these passes.
    """

    rule: str
    lists: int
    operations: float


def forward(data: Data, model: Model) -> float:
    """Floating-point operations of one list: projections of all tokens, attention and logits of the sorted numbers."""
    tokens, sorted_, inner = 2 * data.length + 1, data.length, model.heads * model.head_width
    seen = sorted_ * (3 * data.length + 1) / 2  # keys of all queries: from length + 1 to 2 length
    projections = model.width * inner * (2 * tokens + 2 * sorted_)  # keys, values; queries, what heads write
    return 2 * (projections + 2 * seen * inner + sorted_ * model.width * (data.numbers + 1))


def rate() -> float:
    """Operations that one core does in a second."""
    lists, seconds = MEASURED
    return BACKWARD * lists * forward(Data(), Model()) / seconds


def parameters(data: Data, model: Model) -> int:
    """Weights of one model, but for gains and biases."""
    embedded = 2 * (data.numbers + 1) + 2 * data.length + 1  # tokens in and out, positions
    return model.width * (embedded + 4 * model.heads * model.head_width)


def work_of(study: SortingStudy, condition: str) -> list[Work]:
    """All that one condition computes with models, over its seeds."""
    about_it = study.of(condition)
    training, heads = about_it.training, about_it.model.heads
    models, kept = len(training.seeds), len(training.kept)
    one = forward(about_it.data, about_it.model)

    def work(rule: str, learnt: int, seen: int = 0) -> Work:
        """learnt, seen: lists of one model, with gradients and without."""
        return Work(rule, models * (learnt + seen), models * one * (BACKWARD * learnt + seen))

    measured = study.measure.mean_lists + study.measure.lists * (1 + 3 * (2**heads - 1))  # three kinds of ablation
    found = [work("train", training.steps * training.batch_size), work("measure", 0, kept * measured)]
    if steps := study.sampled(condition):
        llc = study.llc
        chains = llc.chains * (llc.burn_in + llc.draws) + 2 * llc.half_step_chains * (llc.burn_in + llc.draws)
        walked = len(llc.estimators) * chains * llc.batch_size + llc.gradient_examples
        found.append(work("llc", len(steps) * walked))
    if condition in study.pruned:
        prune = study.prune
        gated = (prune.gates.rise + prune.gates.hold) * prune.gates.batch_size * len(prune.seeds)
        found.append(work("prune", prune.checkpoints * gated, kept * 4**heads * prune.lists))
    return found


def report(study: SortingStudy, wanted: Counter, missing: Counter) -> str:
    """The plan as text. wanted: all jobs of the study, by rule; missing: those without a result that is up to date."""
    work = {name: work_of(study, name) for name in study.conditions}
    models = {name: study.of(name) for name in study.conditions}
    largest = max(
        parameters(one.data, one.model) * len(one.training.seeds) * 4 * WEIGHT  # with gradients and two moments
        + one.training.batch_size * (2 * one.data.length + 1) * one.model.width * KEPT * WEIGHT
        for one in models.values()
    )
    checkpoints = sum(
        len(one.training.kept) * len(one.training.seeds) * parameters(one.data, one.model) * WEIGHT
        for one in models.values()
    )
    return "\n\n".join(
        [
            f"{study.study}: {len(models)} conditions of list sorting, times for one core of a processor",
            columns(["jobs", "all", "exist", "to do"], job_rows(wanted, missing)),
            columns(["work", "condition", "lists", "FLOP", "core hours", "to do"], _hours(work, wanted, missing)),
            columns(["disk", "GB"], [["checkpoints", gigabytes(checkpoints)], ["figures, tables", gigabytes(SHOWN)]]),
            columns(["memory of a job at its peak", "GB"], [["train", gigabytes(PROCESS + largest)]]),
            "~ marks an estimate: operations are counted, and their rate is that of training at the default sizes.",
        ]
    )


def _hours(work: dict[str, list[Work]], wanted: Counter, missing: Counter) -> list[list[str]]:
    rows, total, left = [], 0.0, 0.0
    for condition, parts in work.items():
        for part in parts:
            rule = f"train_{condition}" if part.rule == "train" else part.rule
            hours = part.operations / rate() / 3600
            to_do = hours * missing[rule] / wanted[rule] if wanted[rule] else 0.0
            total, left = total + hours, left + to_do
            rows.append([part.rule, condition, f"{part.lists:,}", f"{part.operations:.2g}", about(hours), about(to_do)])
    return [*rows, ["total", "", "", "", about(total), about(left)]]
