"""What a study of extractive structures will need, before anything of it runs: counted operations, and the rate of the
embedded model, or of a device for a model that was pre-trained elsewhere."""

from collections import Counter
from typing import NamedTuple

from heuristic_core.experiments.extractive_structures.config import FEW, LARGEST, ExtractiveStudy, Model
from heuristic_core.experiments.extractive_structures.world import world
from heuristic_core.plan.devices import DEFAULTS, Work, device, hours
from heuristic_core.plan.shapes import Shape, shape_of
from heuristic_core.plan.text import about, columns, gigabytes, job_rows

BACKWARD = 3  # forward passes that one with its backward pass costs
TOKENS = 10  # of a sentence, about
HUB_TOKENS = 14  # the same by tokenizers of the hub, which cut words
MEASURED = 600 * 64, 64.0  # sentences of pre-training at the default sizes, and seconds of a core
WEIGHT = 4  # bytes
EXACT = {"score", "prune"}  # rules that compute in float32 whatever the precision of teaching
# Copies of the weights that a device holds while a model learns: the weights, their gradient, two moments; and in the
# host's memory what the stages of `order` begin and end with.
LEARNING, WAITING = 4, 7


class Sentences(NamedTuple):
    """What all jobs of a rule compute. sentences: that pass through a model, with gradients or without."""

    rule: str
    sentences: int
    operations: float


def parameters(model: Model) -> int:
    """Weights of the layers: nearly all that there are."""
    return model.layers * 12 * model.width**2


def rate() -> float:
    """Operations that one core does in a second."""
    sentences, seconds = MEASURED
    return BACKWARD * sentences * forward(Model()) / seconds


def forward(model: Model) -> float:
    """Floating-point operations of one sentence: products with the weights of layers, nearly all that there is."""
    return 2 * parameters(model) * TOKENS


def hub_parameters(shape: Shape) -> int:
    """Weights of a decoder: four matrices of attention, taken for no smaller with shared keys; three of an MLP;
    embeddings."""
    layer = 4 * shape.hidden**2 + 3 * shape.hidden * shape.feed_forward
    return shape.layers * layer + 2 * shape.vocabulary * shape.hidden


def weights_of(study: ExtractiveStudy) -> float:
    """Bytes of one model."""
    shape = shape_of(study.pretrained) if study.pretrained else None
    return WEIGHT * (hub_parameters(shape) if shape else parameters(study.model))


def work_of(study: ExtractiveStudy) -> list[Sentences]:
    """All that a study computes with models, over its seeds."""
    shape = shape_of(study.pretrained) if study.pretrained else None
    one = 2 * hub_parameters(shape) * HUB_TOKENS if shape else forward(study.model)
    tokens = HUB_TOKENS if shape else TOKENS
    layers, heads = (shape.layers, shape.heads) if shape else (study.model.layers, study.model.heads)
    data, epochs, scores, seeds = study.data, study.finetuning.epochs, study.scores, len(study.seeds)
    corpora = len(study.corpora)
    hops, questions, outputs = 2, 2 * data.cities, layers * (heads + 1)
    others = data.names - data.cities  # than test names
    # Three orders of facts and implications, and two stages of grafts; test facts last in every order.
    made_up, made_up_asked = 8 * others + 3 * data.cities, 8 * 2 * data.names
    pairs = data.cities * scores.counterfactuals
    pruning, few = study.pruning, outputs <= FEW
    learned_on = len(pruning.seeds) * pruning.gates.steps_at(pruning.sparsity) * pruning.gates.batch_size
    left = round((1 - pruning.sparsity) * outputs)
    # Greedily, each time every component that is left.
    eliminated = data.cities * sum(range(left + 1, outputs + 1)) if few else 0
    related = BACKWARD * 2 * len(world().relations) * (data.cities + scores.path_steps * pairs)
    # Of two models for every pair, and of two kinds of score; on average half of the layers run again.
    replaced = (2 * pairs + 2 * data.cities) * outputs * tokens // 2 if few else 0
    removed = 2 * data.cities * outputs

    def work(rule: str, learnt: int, seen: int = 0) -> Sentences:
        """learnt, seen: sentences of one seed, with gradients and without."""
        return Sentences(rule, seeds * (learnt + seen), seeds * one * (BACKWARD * learnt + seen))

    found = []
    if not study.pretrained:
        found.append(work("pretrain", corpora * study.pretraining.steps * study.pretraining.batch_size))
    found += [
        work("teach", corpora * hops * epochs * data.cities, corpora * hops * epochs * questions),
        work("freeze", hops * 2 * epochs * data.cities, hops * 8 * questions),
        work("order", epochs * (made_up + data.cities), epochs * made_up_asked),  # test facts again: localisation
        work("prune", hops * 2 * learned_on, hops * 2 * eliminated + related),
        work("score", hops * 2 * (data.cities + scores.path_steps * pairs), hops * (replaced + removed)),
    ]
    if study.sweep:
        rates, last = len(study.sweep.learning_rates), study.sweep.epochs[-1]
        found.append(work("sweep", hops * rates * last * data.cities, hops * rates * last * questions))
        all_epochs = rates * sum(study.sweep.epochs)  # every number of epochs is a run of its own
        found.append(work("made_up_sweep", all_epochs * made_up, all_epochs * made_up_asked))
    return found


def hours_of(study: ExtractiveStudy, on: str | None = None) -> dict[str, float]:
    """Hours of one core or GPU by rule. on: a device of plan/devices.yaml; default: the study's."""
    if not study.pretrained:
        return {work.rule: work.operations / rate() / 3600 for work in work_of(study)}
    shape, where = shape_of(study.pretrained), device(on or DEFAULTS[study.device])
    return {
        one.rule: hours(
            Work(one.rule, (one.rule,), "evaluate", 1, one.sentences, HUB_TOKENS, one.operations),
            shape,
            where,
            "float32" if one.rule in EXACT else study.precision,
        ).hours
        for one in work_of(study)
    }


def report(study: ExtractiveStudy, wanted: Counter, missing: Counter, on: str | None = None) -> str:
    """The plan as text. wanted: all jobs of the study, by rule; missing: jobs without a result that is up to date. on:
    as of :func:`hours_of`."""
    rows, total, left, of = [], 0.0, 0.0, hours_of(study, on)
    for work in work_of(study):
        to_do = of[work.rule] * missing[work.rule] / wanted[work.rule] if wanted[work.rule] else 0.0
        total, left = total + of[work.rule], left + to_do
        rows.append([work.rule, f"{work.sentences:,}", f"{work.operations:.2g}", about(of[work.rule]), about(to_do)])
    unit, where, basis = _device(study, on)
    one = weights_of(study)
    models = len(study.seeds) * 2 + 1 if study.pretrained else len(study.seeds) * len(study.corpora) * 3
    sizes = [["weights", gigabytes(one * models)]]
    if study.finetuning.save_every:
        sizes.append(["saved states, of one job", gigabytes(3 * one * 6)])
    parts = [
        f"{study.study}: {len(study.seeds)} seeds of extractive structures, times for {where}",
        columns(["jobs", "all", "exist", "to do"], job_rows(wanted, missing)),
        columns(
            ["work", "sentences", "FLOP", f"{unit} hours", "to do"],
            [*rows, ["total", "", "", about(total), about(left)]],
        ),
        columns(["disk", "GB"], sizes),
    ]
    if study.pretrained:
        held = [["while a model learns", LEARNING * one], ["while scores are computed", 2 * one + WEIGHT * LARGEST]]
        held.append(["what waits meanwhile, in the host's memory", WAITING * one])
        parts.append(columns(["memory", "GB"], [[what, gigabytes(size)] for what, size in held]))
    return "\n\n".join([*parts, basis])


def _device(study: ExtractiveStudy, on: str | None) -> tuple[str, str, str]:
    """The unit of hours, where they are spent, and what the estimate rests on."""
    if not study.pretrained:
        known = "operations are counted, and their rate is that of pre-training at the default sizes."
        return "core", "one core of a processor", f"~ marks an estimate: {known}"
    name = on or DEFAULTS[study.device]
    where = device(name)
    lacks = LEARNING * weights_of(study) > (where.memory or float("inf")) * 1e9
    more = f" A model that learns does not fit into the {where.memory:g} GB of {name}." if lacks else ""
    return (
        where.unit,
        where.about,
        f"~ marks an estimate: operations are counted, and their rate is that of {name}; batches are small.{more}",
    )
