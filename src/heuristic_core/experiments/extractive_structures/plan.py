"""What a study of extractive structures will need, before anything of it runs: counted operations and one measured
rate."""

from collections import Counter
from typing import NamedTuple

from heuristic_core.experiments.extractive_structures.config import ExtractiveStudy, Model
from heuristic_core.experiments.extractive_structures.world import world
from heuristic_core.plan.text import about, columns, gigabytes, job_rows

BACKWARD = 3  # forward passes that one with its backward pass costs
TOKENS = 10  # of a sentence, about
MEASURED = 600 * 64, 64.0  # sentences of pre-training at the default sizes, and seconds of a core (docs/lab-notes.md)
WEIGHT = 4  # bytes


class Work(NamedTuple):
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


def work_of(study: ExtractiveStudy) -> list[Work]:
    """All that a study computes with models, over its seeds."""
    one = forward(study.model)
    data, epochs, scores, seeds = study.data, study.finetuning.epochs, study.scores, len(study.seeds)
    corpora = len(study.pretraining.corpora)
    hops, questions, outputs = 2, 2 * data.cities, study.model.layers * (study.model.heads + 1)
    pretrained = corpora * study.pretraining.steps * study.pretraining.batch_size
    stages = 2 * data.names - data.cities  # facts of all names, and implications of all but the tested ones
    pairs = data.cities * scores.counterfactuals
    pruning, components = study.pruning, outputs
    learned_on = len(pruning.seeds) * pruning.gates.steps_at(pruning.sparsity) * pruning.gates.batch_size
    left = round((1 - pruning.sparsity) * components)
    eliminated = data.cities * sum(range(left + 1, components + 1))  # greedily, each time every component that is left
    related = BACKWARD * 2 * len(world().relations) * (data.cities + scores.path_steps * pairs)
    # Of two models for every pair, and of two kinds of score; on average half of the layers run again.
    replaced = (2 * pairs + 2 * data.cities) * outputs * TOKENS // 2

    def work(rule: str, learnt: int, seen: int = 0) -> Work:
        """learnt, seen: sentences of one seed, with gradients and without."""
        return Work(rule, seeds * (learnt + seen), seeds * one * (BACKWARD * learnt + seen))

    return [
        work("pretrain", pretrained),
        work("teach", corpora * hops * epochs * data.cities, corpora * hops * epochs * questions),
        work("freeze", hops * 2 * epochs * data.cities, hops * 8 * questions),
        work("order", epochs * (3 * stages + data.names), epochs * 5 * 2 * data.names),
        work("prune", hops * 2 * learned_on, hops * 2 * eliminated + related),
        work("score", hops * 2 * (data.cities + scores.path_steps * pairs), hops * replaced),
    ]


def report(study: ExtractiveStudy, wanted: Counter, missing: Counter) -> str:
    """The plan as text. wanted: all jobs of the study, by rule; missing: jobs without a result that is up to date."""
    rows, total, left = [], 0.0, 0.0
    for work in work_of(study):
        hours = work.operations / rate() / 3600
        to_do = hours * missing[work.rule] / wanted[work.rule] if wanted[work.rule] else 0.0
        total, left = total + hours, left + to_do
        rows.append([work.rule, f"{work.sentences:,}", f"{work.operations:.2g}", about(hours), about(to_do)])
    weights = parameters(study.model) * WEIGHT * len(study.seeds) * len(study.pretraining.corpora) * 3
    return "\n\n".join(
        [
            f"{study.study}: {len(study.seeds)} seeds of extractive structures, times for one core of a processor",
            columns(["jobs", "all", "exist", "to do"], job_rows(wanted, missing)),
            columns(
                ["work", "sentences", "FLOP", "core hours", "to do"],
                [*rows, ["total", "", "", about(total), about(left)]],
            ),
            columns(["disk", "GB"], [["weights", gigabytes(weights)]]),
            "~ marks an estimate: operations are counted, and their rate is that of pre-training at the default sizes.",
        ]
    )
