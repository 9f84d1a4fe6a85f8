"""Estimate what a study of extractive structures needs before it runs.

Operations are counted; their rate is that of the embedded model, or of a device for a model that was pre-trained
elsewhere.
"""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from heuristic_core.common.errors import format_count
from heuristic_core.experiments.extractive_structures.config import (
    MAX_EXHAUSTIVE_COMPONENTS,
    MAX_STORED_ACTIVATIONS,
    ExtractiveStudy,
    Model,
)
from heuristic_core.experiments.extractive_structures.figures.targets import TARGETS
from heuristic_core.experiments.extractive_structures.world import load_world
from heuristic_core.plan.devices import DEFAULT_DEVICES, Device, Hours, Work, get_device
from heuristic_core.plan.devices import estimate_hours as estimate_job_hours
from heuristic_core.plan.gpus import describe_gpus
from heuristic_core.plan.shapes import Shape, read_shape
from heuristic_core.plan.text import format_gigabytes, format_hours, format_table, job_rows

BACKWARD = 3  # cost of a forward and a backward pass, in forward passes
TOKENS = 10  # of a sentence, roughly
HUB_TOKENS = 14  # the same with tokenizers of the hub, which split words
MEASURED_PRETRAINING = 600 * 64, 64.0  # sentences of pre-training at the default sizes, and seconds of a core
BYTES_PER_WEIGHT = 4
FLOAT32_RULES = {"score", "prune"}  # compute in float32 regardless of the precision of teaching
# Copies of the weights: on a device during training (the weights, their gradient, two moments), and in the host's
# memory (the models before and after the stages of `order`).
TRAINING_COPIES, HOST_COPIES = 4, 7


class RuleWork(NamedTuple):
    """The work of all jobs of a rule.

    Attributes:
        rule: Name of the rule.
        sentences: Number of sentences that pass through a model, with or without gradients.
        operations: Floating-point operations.
    """

    rule: str
    sentences: int
    operations: float


def count_parameters(model: Model) -> int:
    """Return the number of weights of the layers, which are nearly all weights."""
    return model.layers * 12 * model.width**2


def measured_rate() -> float:
    """Return the operations that one core does in a second."""
    sentences, seconds = MEASURED_PRETRAINING
    return BACKWARD * sentences * count_forward_operations(Model()) / seconds


def count_forward_operations(model: Model) -> float:
    """Return the floating-point operations of one sentence: products with the weights of layers."""
    return 2 * count_parameters(model) * TOKENS


def _count_hub_parameters(shape: Shape) -> int:
    """Return the number of weights of a decoder: attention (without shared keys), MLPs and embeddings."""
    layer_weights = 4 * shape.hidden**2 + 3 * shape.hidden * shape.feed_forward
    return shape.layers * layer_weights + 2 * shape.vocabulary * shape.hidden


def count_weight_bytes(study: ExtractiveStudy) -> float:
    """Return the bytes of one model's weights."""
    shape = read_shape(study.pretrained) if study.pretrained else None
    return BYTES_PER_WEIGHT * (_count_hub_parameters(shape) if shape else count_parameters(study.model))


def count_work(study: ExtractiveStudy) -> list[RuleWork]:
    """Return the work of a study by rule, over all seeds."""
    shape = read_shape(study.pretrained) if study.pretrained else None
    sentence_operations = (
        2 * _count_hub_parameters(shape) * HUB_TOKENS if shape else count_forward_operations(study.model)
    )
    tokens = HUB_TOKENS if shape else TOKENS
    layers, heads = (shape.layers, shape.heads) if shape else (study.model.layers, study.model.heads)
    data, epochs, scores, seeds = study.data, study.finetuning.epochs, study.scores, len(study.seeds)
    corpora = len(study.corpora)
    hops, questions, outputs = 2, 2 * data.cities, layers * (heads + 1)
    others = data.names - data.cities  # names that are not test names
    # Three orders of facts and implications, and two stages of grafts; every order ends with test facts.
    made_up, made_up_asked = 8 * others + 3 * data.cities, 8 * 2 * data.names
    pairs = data.cities * scores.counterfactuals
    pruning, few = study.pruning, outputs <= MAX_EXHAUSTIVE_COMPONENTS
    gate_sentences = len(pruning.seeds) * pruning.gates.total_steps(pruning.sparsity) * pruning.gates.batch_size
    kept = round((1 - pruning.sparsity) * outputs)
    # Greedy pruning tries every remaining component in each step.
    eliminated = data.cities * sum(range(kept + 1, outputs + 1)) if few else 0
    related = BACKWARD * 2 * len(load_world().relations) * (data.cities + scores.path_steps * pairs)
    # Two models for every pair, and two other kinds of score; on average half of the layers run again.
    replaced = (2 * pairs + 2 * data.cities) * outputs * tokens // 2 if few else 0
    removed = 2 * data.cities * outputs

    def work(rule: str, trained: int, evaluated: int = 0) -> RuleWork:
        """Return a rule's work. trained, evaluated: sentences of one seed with and without gradients."""
        operations = seeds * sentence_operations * (BACKWARD * trained + evaluated)
        return RuleWork(rule, seeds * (trained + evaluated), operations)

    rule_work = []
    if not study.pretrained:
        rule_work.append(work("pretrain", corpora * study.pretraining.steps * study.pretraining.batch_size))
    rule_work += [
        work("teach", corpora * hops * epochs * data.cities, corpora * hops * epochs * questions),
        work("freeze", hops * 2 * epochs * data.cities, hops * 8 * questions),
        work("order", epochs * (made_up + data.cities), epochs * made_up_asked),  # test facts again: localisation
        work("prune", hops * 2 * gate_sentences, hops * 2 * eliminated + related),
        work("score", hops * 2 * (data.cities + scores.path_steps * pairs), hops * (replaced + removed)),
    ]
    if study.sweep:
        rates, last = len(study.sweep.learning_rates), study.sweep.epochs[-1]
        rule_work.append(work("sweep", hops * rates * last * data.cities, hops * rates * last * questions))
        all_epochs = rates * sum(study.sweep.epochs)  # every number of epochs is a separate run
        rule_work.append(work("made_up_sweep", all_epochs * made_up, all_epochs * made_up_asked))
    return rule_work


def estimate_hours(study: ExtractiveStudy, device: str | None = None) -> dict[str, float]:
    """Return the hours of one core or GPU by rule.

    Args:
        study: The study.
        device: A device of plan/devices.yaml; default: the study's.
    """
    if not study.pretrained:
        return {work.rule: work.operations / measured_rate() / 3600 for work in count_work(study)}
    target = get_device(device or DEFAULT_DEVICES[study.device])
    return {rule: took.hours for rule, took in _estimate_device_hours(study, target).items()}


def _estimate_device_hours(study: ExtractiveStudy, target: Device) -> dict[str, Hours]:
    """Return the hours of a model that was pre-trained elsewhere, by rule. Batches are as small as in fine-tuning."""
    shape = read_shape(study.pretrained)
    return {
        work.rule: estimate_job_hours(
            Work(work.rule, (work.rule,), "finetune", 1, work.sentences, HUB_TOKENS, work.operations),
            shape,
            target,
            "float32" if work.rule in FLOAT32_RULES else study.precision,
        )
        for work in count_work(study)
    }


def find_first_figure(study: ExtractiveStudy, rule_hours: Mapping[str, float]) -> tuple[str, float]:
    """Find the figure that can be drawn first. All figures show all seeds.

    Args:
        study: The study.
        rule_hours: Hours of all jobs of a rule.

    Returns:
        Its name, and the hours of what it is drawn from.
    """
    pretraining = rule_hours.get("pretrain", 0.0)
    hours = {
        "figure_curves": pretraining + rule_hours["teach"],
        "figure_ordering": pretraining / len(study.corpora) + rule_hours["order"],  # of the whole corpus alone
    }
    return min(hours.items(), key=lambda item: item[1])


def format_plan(study: ExtractiveStudy, all_jobs: Counter, missing_jobs: Counter, device: str | None = None) -> str:
    """Return the plan as text.

    Args:
        study: The study.
        all_jobs: All jobs of the study, by rule.
        missing_jobs: Jobs without an up-to-date result, by rule.
        device: See :func:`estimate_hours`.
    """
    rows, total, left, rule_hours = [], 0.0, 0.0, estimate_hours(study, device)
    for work in count_work(study):
        all_hours = rule_hours[work.rule]
        to_do = all_hours * missing_jobs[work.rule] / all_jobs[work.rule] if all_jobs[work.rule] else 0.0
        total, left = total + all_hours, left + to_do
        rows.append(
            [
                work.rule,
                f"{work.sentences:,}",
                f"{work.operations:.2g}",
                format_hours(all_hours),
                format_hours(to_do),
            ]
        )
    unit, place, basis = _describe_device(study, device)
    model_bytes = count_weight_bytes(study)
    models = len(study.seeds) * 2 + 1 if study.pretrained else len(study.seeds) * len(study.corpora) * 3
    sizes = [["weights", format_gigabytes(model_bytes * models)]]
    if study.finetuning.save_every:
        sizes.append(["saved states, of one job", format_gigabytes(3 * model_bytes * 6)])
    parts = [
        f"{study.study}: {format_count(len(study.seeds), 'seed')} of extractive structures, times for {place}",
        format_table(["jobs", "all", "exist", "to do"], job_rows(all_jobs, missing_jobs)),
        format_table(
            ["work", "sentences", "FLOP", f"{unit} time", "to do"],
            [*rows, ["total", "", "", format_hours(total), format_hours(left)]],
        ),
        format_table(["disk", "GB"], sizes),
    ]
    if study.pretrained:
        memory = [
            ["while a model learns", TRAINING_COPIES * model_bytes],
            ["while scores are computed", 2 * model_bytes + BYTES_PER_WEIGHT * MAX_STORED_ACTIVATIONS],
        ]
        memory.append(["weights kept in host memory meanwhile", HOST_COPIES * model_bytes])
        parts.append(format_table(["memory", "GB"], [[what, format_gigabytes(size)] for what, size in memory]))
    if study.pretrained and study.device == "cuda":
        parts.append(describe_gpus(lambda gpu: _estimate_device_hours(study, gpu).values()))
    name, first_hours = find_first_figure(study, rule_hours)
    parts.append(f"First figure: {name} ({TARGETS[name].title}), after {format_hours(first_hours)} of one {unit}.")
    return "\n\n".join([*parts, basis])


def _describe_device(study: ExtractiveStudy, device: str | None) -> tuple[str, str, str]:
    """Return the unit of hours, the device as text, and the basis of the estimate."""
    if not study.pretrained:
        basis = "operations are counted, and their rate is that of pre-training at the default sizes."
        return "core", "one core of a processor", f"~ marks an estimate: {basis}"
    name = device or DEFAULT_DEVICES[study.device]
    target = get_device(name)
    too_small = TRAINING_COPIES * count_weight_bytes(study) > (target.memory or float("inf")) * 1e9
    warning = f" A model that learns does not fit into the {target.memory:g} GB of {name}." if too_small else ""
    return (
        target.unit,
        target.about,
        f"~ marks an estimate: operations are counted, and their rate is that of {name}; batches are small.{warning}",
    )
