"""Count what the jobs of one condition compute before they run: lists, operations, memory.

Each forward pass of a list counts. `tests/test_list_sorting_plan.py` counts the passes of jobs that run. The work of
:mod:`heuristic_core.plan.devices` has no place here: a `Shape` has feed-forward layers and queries at every token.
"""

from typing import NamedTuple

from heuristic_core.experiments.list_sorting.ablation import ABLATION_KINDS, head_sets
from heuristic_core.experiments.list_sorting.config import Data, ListSorting, Model
from heuristic_core.experiments.list_sorting.halves import BATCH
from heuristic_core.experiments.list_sorting.mode_ablation import HEAD_MODES
from heuristic_core.experiments.list_sorting.pruning import MAX_HALVES
from heuristic_core.experiments.list_sorting.study import SortingStudy, select_evenly, select_trained_steps

BACKWARD = 3  # cost of a forward with a backward pass, in forward passes
BACKWARD_OF_GATES = 2  # the same if weights have no gradient
# A training step of one model of the default sizes on 512 lists took 39 ms of one core.
MEASURED_RATE = 512, 0.039
PROCESS_BYTES = 0.4e9  # memory of a process that has loaded torch
REAL, WIDE, INT, OBJECT = 4, 8, 8, 32  # bytes of a number: float32, float64, int64, Python's float in a list
LLC_COPIES = 12  # copies of all weights in memory while an LLC is sampled
TRAINING_COPIES = 4  # weights, gradients and two moments of the optimizer


class Passes(NamedTuple):
    """Lists that pass through one model.

    Attributes:
        forward: Forward passes without gradients.
        training: Passes with gradients of weights.
        readout: Passes that compute logits from stored contexts, without gradients.
        gate_training: Passes with gradients of gates, over stored contexts.
    """

    forward: int = 0
    training: int = 0
    readout: int = 0
    gate_training: int = 0


class Work(NamedTuple):
    """All jobs of a rule in one condition.

    Attributes:
        rule: Name of the rule.
        passes: Passes of one model.
        lists: Lists of all models.
        operations: Floating-point operations of all models.
        memory: Peak memory of one job, bytes, approximately.
    """

    rule: str
    passes: Passes
    lists: int
    operations: float
    memory: float


def count_work(study: SortingStudy, condition: str) -> list[Work]:
    """Count the work of one condition, over its seeds and checkpoints.

    Args:
        study: The study.
        condition: Name of the condition.
    """
    settings = study.condition_settings(condition)
    parts = [
        ("train", training_passes(settings), training_memory(settings)),
        ("measure", measuring_passes(study, settings), measuring_memory(study, settings)),
    ]
    if steps := study.sampled_steps(condition):
        parts.append(("llc", sampling_passes(study, len(steps)), sampling_memory(study, settings)))
    if condition in study.pruned_conditions:
        parts.append(("prune", pruning_passes(study, settings), pruning_memory(study, settings)))
    models = len(settings.training.seeds)
    return [
        Work(
            rule,
            passes,
            models * sum(passes),
            models * count_operations(passes, settings.data, settings.model),
            PROCESS_BYTES + memory,
        )
        for rule, passes, memory in parts
    ]


# ---- passes of one model


def training_passes(condition: ListSorting) -> Passes:
    """Count the passes of training."""
    return Passes(training=condition.training.steps * condition.training.batch_size)


def measuring_passes(study: SortingStudy, condition: ListSorting) -> Passes:
    """Count the passes of measuring.

    At every kept checkpoint: the model three times, every ablation, donors of resampled contexts, means, folding. At
    checkpoints whose matrices are kept also: attention, means, the model and donors of ablated modes, and logits from
    replaced values.

    Args:
        study: The study.
        condition: Settings of the condition.
    """
    measure, kept = study.measure, condition.training.kept
    variants = len(head_sets(condition.model.heads)) * (len(ABLATION_KINDS) + 1)
    per_checkpoint = measure.lists * (3 + variants) + measure.mean_lists + measure.folded_lists
    modes = len(HEAD_MODES) * len(head_sets(condition.model.heads)) * len(ABLATION_KINDS) * measure.lists
    matrix_checkpoints = len(select_evenly(kept, measure.matrices))
    per_matrix_checkpoint = measure.lists + measure.mean_lists + modes + modes // len(ABLATION_KINDS)
    return Passes(
        len(kept) * per_checkpoint + matrix_checkpoints * per_matrix_checkpoint,
        readout=matrix_checkpoints * modes,
    )


def sampling_passes(study: SortingStudy, checkpoints: int) -> Passes:
    """Count the passes of all estimators' chains if none diverges. Every draw also has a pass at w0.

    Args:
        study: The study.
        checkpoints: Number of checkpoints that are sampled at.
    """
    llc = study.llc
    draws = (llc.chains + llc.half_step_chains) * llc.draws
    steps = draws + (llc.chains + 2 * llc.half_step_chains) * llc.burn_in
    per_step = len(llc.estimators) * llc.batch_size
    return Passes(checkpoints * per_step * draws, checkpoints * (per_step * steps + llc.gradient_examples))


def pruning_passes(study: SortingStudy, condition: ListSorting) -> Passes:
    """Count the passes of pruning.

    At every kept checkpoint: means, contexts and all subsets; at some of them also gates, and the subsets that these
    keep.

    Args:
        study: The study.
        condition: Settings of the condition.
    """
    prune, kept = study.prune, len(condition.training.kept)
    gate_checkpoints = len(select_trained_steps(condition.training, prune.checkpoints))
    halves, seeds = 2 * condition.model.heads, len(prune.seeds)
    subsets = 2**halves if halves <= MAX_HALVES else 0
    return Passes(
        forward=kept * (prune.training_lists + prune.lists) + gate_checkpoints * prune.training_lists,
        readout=(kept * subsets + gate_checkpoints * seeds) * prune.lists,
        gate_training=gate_checkpoints * seeds * (prune.gates.rise + prune.gates.hold) * prune.gates.batch_size,
    )


# ---- operations


def count_operations(passes: Passes, data: Data, model: Model) -> float:
    """Return the floating-point operations of one model.

    Args:
        passes: Lists that pass through the model.
        data: Numbers and length of the lists.
        model: Sizes of the model.
    """
    full_pass, readout = forward_operations(data, model), read_out_operations(data, model)
    full_operations = full_pass * (passes.forward + BACKWARD * passes.training)
    return full_operations + readout * (passes.readout + BACKWARD_OF_GATES * passes.gate_training)


def forward_operations(data: Data, model: Model) -> float:
    """Return the operations of one list: all keys, values and queries, attention and :func:`read_out_operations`.

    Args:
        data: Range and length of the lists.
        model: Heads and widths of the model.
    """
    tokens, queries, inner = 2 * data.length + 1, data.length, model.heads * model.head_width
    visible = queries * (3 * data.length + 1) / 2  # keys of all queries: from length + 1 to 2 length
    return 2 * (model.width * inner * (2 * tokens + queries) + 2 * visible * inner) + read_out_operations(data, model)


def read_out_operations(data: Data, model: Model) -> float:
    """Return the operations of one list's output: what heads write, and the logits of the sorted numbers.

    Args:
        data: Range and length of the lists.
        model: Heads and widths of the model.
    """
    return 2 * data.length * model.width * (model.heads * model.head_width + data.numbers + 1)


def operations_per_second() -> float:
    """Return the operations per second of one core."""
    lists, seconds = MEASURED_RATE
    return BACKWARD * lists * forward_operations(Data(), Model()) / seconds


# ---- bytes


def count_parameters(data: Data, model: Model) -> int:
    """Return the number of weights of one model, without gains and biases.

    Args:
        data: Range and length of the lists.
        model: Heads and widths of the model.
    """
    embedded = 2 * (data.numbers + 1) + (2 * data.length + 1 if model.positions else 0)  # tokens in and out, positions
    return model.width * (embedded + 4 * model.heads * model.head_width)


def checkpoint_bytes(condition: ListSorting) -> int:
    """Return the bytes of all kept checkpoints of all seeds."""
    training = condition.training
    return len(training.kept) * len(training.seeds) * count_parameters(condition.data, condition.model) * REAL


def training_memory(condition: ListSorting) -> float:
    """Return the bytes of training: models pass one after another, and share one optimizer."""
    weights = len(condition.training.seeds) * count_parameters(condition.data, condition.model)
    return _lists(condition.data) + REAL * (
        TRAINING_COPIES * weights + 2 * _pass(condition, condition.training.batch_size)
    )


def measuring_memory(study: SortingStudy, condition: ListSorting) -> float:
    """Return the bytes of measuring.

    All models pass at once; folded rows of some lists are float64. Rows of matrices are kept until the end.

    Args:
        study: The study.
        condition: Settings of the condition.
    """
    measure, models, tokens = study.measure, len(condition.training.seeds), condition.data.numbers + 1
    heads, matrix_checkpoints = (
        models * condition.model.heads,
        len(select_evenly(condition.training.kept, measure.matrices)),
    )
    rows = 5 * condition.data.length  # of OV for all keys; of logits by OV, by the model, and their difference
    folded = measure.folded_lists * heads * rows * tokens + models * _pass(condition, measure.folded_lists)
    pass_bytes = max(REAL * models * _pass(condition, measure.lists), WIDE * folded)
    return _lists(condition.data) + pass_bytes + OBJECT * 2 * heads * tokens**2 * matrix_checkpoints


def sampling_memory(study: SortingStudy, condition: ListSorting) -> float:
    """Return the bytes of sampling: all models pass at once, with gradients.

    Args:
        study: The study.
        condition: Settings of the condition.
    """
    weights = LLC_COPIES * count_parameters(condition.data, condition.model) + 2 * _pass(
        condition, study.llc.batch_size
    )
    return _lists(condition.data) + REAL * len(condition.training.seeds) * weights


def pruning_memory(study: SortingStudy, condition: ListSorting) -> float:
    """Return the bytes of pruning: one model, and its contexts at the corners of its heads' gates.

    Args:
        study: The study.
        condition: Settings of the condition.
    """
    prune, model = study.prune, condition.model
    stored = condition.data.length * (4 * model.heads * model.head_width + model.width + condition.data.numbers + 1)
    batch = min(BATCH, max(prune.lists, prune.training_lists))
    return _lists(condition.data) + REAL * (_pass(condition, batch) + 2 * stored * (prune.lists + prune.training_lists))


def _lists(data: Data) -> float:
    """Return the bytes while all lists are drawn: the numbers left to draw, and some copies of the lists."""
    return INT * (data.train_lists + data.held_out_lists) * (data.numbers + 5 * data.length)


def _pass(condition: ListSorting, lists: int) -> float:
    """Return the numbers that one model's pass holds: of all tokens at all positions, and of the lists."""
    data, model = condition.data, condition.model
    inner, tokens = model.heads * model.head_width, data.numbers + 1
    keys, attention = 2 * data.length * 2 * inner, 2 * model.heads * data.length * 2 * data.length
    outputs = data.length * (inner + model.width + 2 * inner + 2 * model.width + 2 * tokens)
    return 2 * data.length * tokens * (2 * model.width + 3 * inner) + lists * (keys + attention + outputs)
