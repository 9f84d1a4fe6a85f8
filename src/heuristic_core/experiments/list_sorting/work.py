"""What the jobs of one condition compute with models, counted before they run: lists, operations, memory.

Lists are counted each time one passes through a model. `tests/test_list_sorting_plan.py` counts them in jobs that run.
"""

from typing import NamedTuple

from heuristic_core.experiments.list_sorting.ablation import KINDS, sets_of
from heuristic_core.experiments.list_sorting.config import Data, ListSorting, Model
from heuristic_core.experiments.list_sorting.halves import BATCH
from heuristic_core.experiments.list_sorting.mode_ablation import MODES
from heuristic_core.experiments.list_sorting.pruning import MOST
from heuristic_core.experiments.list_sorting.study import SortingStudy, evenly, trained

BACKWARD = 3  # forward passes that one with its backward pass costs
BACKWARD_OF_GATES = 2  # the same where weights have no gradient
# A training step of one model of the default sizes on 512 lists took 39 ms of one core.
MEASURED = 512, 0.039
PROCESS = 0.4e9  # bytes of a process that has loaded torch
REAL, WIDE, INT, OBJECT = 4, 8, 8, 32  # bytes of a number: float32, float64, int64, Python's float in a list
COPIES = 12  # matrices of all weights beside each other while an LLC is sampled
LAYERS = 4  # weights, gradients and two moments of the optimizer


class Passes(NamedTuple):
    """Lists of one model. whole: of all its passes; read: of those that read logits from stored contexts. Both without
    gradients; learnt and gated: with gradients in weights, and in gates over stored contexts."""

    whole: int = 0
    learnt: int = 0
    read: int = 0
    gated: int = 0


class Work(NamedTuple):
    """All jobs of a rule in one condition. passes: of one model. lists, operations (floating-point): of all models.
    memory: bytes of one job at its peak, about."""

    rule: str
    passes: Passes
    lists: int
    operations: float
    memory: float


def work_of(study: SortingStudy, condition: str) -> list[Work]:
    """All that one condition computes with models, over its seeds and checkpoints."""
    about = study.of(condition)
    parts = [
        ("train", training_passes(about), training_memory(about)),
        ("measure", measuring_passes(study, about), measuring_memory(study, about)),
    ]
    if steps := study.sampled(condition):
        parts.append(("llc", sampling_passes(study, len(steps)), sampling_memory(study, about)))
    if condition in study.pruned:
        parts.append(("prune", pruning_passes(study, about), pruning_memory(study, about)))
    models = len(about.training.seeds)
    return [
        Work(rule, passes, models * sum(passes), models * operations(passes, about.data, about.model), PROCESS + memory)
        for rule, passes, memory in parts
    ]


# ---- passes of one model


def training_passes(about: ListSorting) -> Passes:
    return Passes(learnt=about.training.steps * about.training.batch_size)


def measuring_passes(study: SortingStudy, about: ListSorting) -> Passes:
    """At every kept checkpoint: the model twice, every ablation, donors of resampled contexts, means, folding; where
    matrices are kept, attention, means, and modes: the model, what is read from its replaced values, donors."""
    settings, kept = study.measure, about.training.kept
    ablated = len(sets_of(about.model.heads)) * (len(KINDS) + 1)
    each = settings.lists * (2 + ablated) + settings.mean_lists + settings.folded_lists
    modes = len(MODES) * len(sets_of(about.model.heads)) * len(KINDS) * settings.lists
    shown = len(evenly(kept, settings.matrices))
    more = settings.lists + settings.mean_lists + modes + modes // len(KINDS)
    return Passes(len(kept) * each + shown * more, read=shown * modes)


def sampling_passes(study: SortingStudy, checkpoints: int) -> Passes:
    """Of all estimators' chains, if none diverges; every draw has a pass at w0, too."""
    llc = study.llc
    draws = (llc.chains + llc.half_step_chains) * llc.draws
    steps = draws + (llc.chains + 2 * llc.half_step_chains) * llc.burn_in
    each = len(llc.estimators) * llc.batch_size
    return Passes(checkpoints * each * draws, checkpoints * (each * steps + llc.gradient_examples))


def pruning_passes(study: SortingStudy, about: ListSorting) -> Passes:
    """At every kept checkpoint means, contexts and all subsets; at some of them also gates, and what these keep."""
    prune, kept = study.prune, len(about.training.kept)
    learned = len(trained(about.training, prune.checkpoints))
    halves, seeds = 2 * about.model.heads, len(prune.seeds)
    subsets = 2**halves if halves <= MOST else 0
    return Passes(
        whole=kept * (prune.training_lists + prune.lists) + learned * prune.training_lists,
        read=(kept * subsets + learned * seeds) * prune.lists,
        gated=learned * seeds * (prune.gates.rise + prune.gates.hold) * prune.gates.batch_size,
    )


# ---- operations


def operations(passes: Passes, data: Data, model: Model) -> float:
    """Floating-point operations of one model."""
    whole, reading = forward(data, model), read_out(data, model)
    of_whole = whole * (passes.whole + BACKWARD * passes.learnt)
    return of_whole + reading * (passes.read + BACKWARD_OF_GATES * passes.gated)


def forward(data: Data, model: Model) -> float:
    """Of one list: keys and values of all tokens, queries and attention of the sorted numbers, and :func:`read_out`."""
    tokens, sorted_, inner = 2 * data.length + 1, data.length, model.heads * model.head_width
    seen = sorted_ * (3 * data.length + 1) / 2  # keys of all queries: from length + 1 to 2 length
    return 2 * (model.width * inner * (2 * tokens + sorted_) + 2 * seen * inner) + read_out(data, model)


def read_out(data: Data, model: Model) -> float:
    """Of one list: what heads write, and the logits of the sorted numbers."""
    return 2 * data.length * model.width * (model.heads * model.head_width + data.numbers + 1)


def rate() -> float:
    """Operations that one core does in a second."""
    lists, seconds = MEASURED
    return BACKWARD * lists * forward(Data(), Model()) / seconds


# ---- bytes


def parameters(data: Data, model: Model) -> int:
    """Weights of one model, but for gains and biases."""
    embedded = 2 * (data.numbers + 1) + 2 * data.length + 1  # tokens in and out, positions
    return model.width * (embedded + 4 * model.heads * model.head_width)


def checkpoints_of(about: ListSorting) -> int:
    """Of all kept checkpoints of all seeds."""
    training = about.training
    return len(training.kept) * len(training.seeds) * parameters(about.data, about.model) * REAL


def training_memory(about: ListSorting) -> float:
    """Models pass one after another, and share one optimizer."""
    weights = len(about.training.seeds) * parameters(about.data, about.model)
    return _lists(about.data) + REAL * (LAYERS * weights + 2 * _pass(about, about.training.batch_size))


def measuring_memory(study: SortingStudy, about: ListSorting) -> float:
    """All models pass at once; folded rows of some lists are float64. Rows of matrices stay until the end."""
    settings, models, tokens = study.measure, len(about.training.seeds), about.data.numbers + 1
    heads, shown = models * about.model.heads, len(evenly(about.training.kept, settings.matrices))
    rows = 5 * about.data.length  # of OV for all keys; of logits by OV, by the model, and their difference
    folded = settings.folded_lists * heads * rows * tokens + models * _pass(about, settings.folded_lists)
    passing = max(REAL * models * _pass(about, settings.lists), WIDE * folded)
    return _lists(about.data) + passing + OBJECT * 2 * heads * tokens**2 * shown


def sampling_memory(study: SortingStudy, about: ListSorting) -> float:
    """All models pass at once, with gradients."""
    weights = COPIES * parameters(about.data, about.model) + 2 * _pass(about, study.llc.batch_size)
    return _lists(about.data) + REAL * len(about.training.seeds) * weights


def pruning_memory(study: SortingStudy, about: ListSorting) -> float:
    """One model, and its contexts at the corners of its heads' gates."""
    prune, model = study.prune, about.model
    stored = about.data.length * (4 * model.heads * model.head_width + model.width + about.data.numbers + 1)
    passing = min(BATCH, max(prune.lists, prune.training_lists))
    return _lists(about.data) + REAL * (_pass(about, passing) + 2 * stored * (prune.lists + prune.training_lists))


def _lists(data: Data) -> float:
    """Bytes while all lists are drawn: the numbers that each has left, and some copies of the list."""
    return INT * (data.train_lists + data.held_out_lists) * (data.numbers + 5 * data.length)


def _pass(about: ListSorting, lists: int) -> float:
    """Numbers that one model's pass of some lists holds: of all tokens at all positions, and of the lists."""
    data, model = about.data, about.model
    inner, tokens = model.heads * model.head_width, data.numbers + 1
    keys, attention = 2 * data.length * 2 * inner, 2 * model.heads * data.length * 2 * data.length
    sorted_ = data.length * (inner + model.width + 2 * inner + 2 * model.width + 2 * tokens)
    return 2 * data.length * tokens * (2 * model.width + 3 * inner) + lists * (keys + attention + sorted_)
