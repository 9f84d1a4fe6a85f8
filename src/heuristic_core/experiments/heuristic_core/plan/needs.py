"""What a job of each rule asks of a cluster, from the plan's own estimates.

Every process that reads the Snakefile computes it, so nothing is read but the head of the encoded pairs and, where a
pretrained model is there, its config.json.
"""

import math
from typing import NamedTuple

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.heuristic_core.config import Study
from heuristic_core.experiments.heuristic_core.config.cells import cells, repeats
from heuristic_core.experiments.heuristic_core.plan.memory import ABLATED_ROW, ANALYSES, PASSING_ROW, memory
from heuristic_core.experiments.heuristic_core.plan.pairs import StudyPairs, pairs_of
from heuristic_core.experiments.heuristic_core.plan.work import IN_PASSING, PRETRAINING, ablation_count, work_of
from heuristic_core.plan.devices import DEFAULTS, device, hours
from heuristic_core.plan.shapes import Shape, shape_of

# A pretrained model of which nothing is known before it is fetched is taken for one like BERT-large.
UNKNOWN = Shape(layers=24, heads=16, hidden=1024, feed_forward=4096, vocabulary=50_000, positions=512)
MARGIN = 2  # of everything that is asked for over what is estimated: other processors, other disks
SNAKEMAKE = 0.7e9  # bytes of the processes that start a job
OLDEST = 2  # times longer pre-training takes, as it keeps to old instructions
START = 3  # minutes that any job may take: on a cold shared disk imports alone take one
FURTHER = ("core_free", "packing", "transplant")  # jobs of the block `mechanism` that do all of some work
DRAWS = 1e9  # bootstrapped rows a minute: a tenth of what one core of a server did


class Need(NamedTuple):
    """mem_mb: MB of the host's memory, a GPU's not counted. runtime: minutes. As Snakemake names these resources."""

    mem_mb: int
    runtime: int


def needs(study: Study) -> dict[str, Need]:
    """By rule, one job of each that takes more than a small table does. `prune`: with as many seeds as share a job."""
    shape, data = _shape(study), pairs_of(study, read=False)
    bytes_ = _bytes(study, shape, data)
    return {rule: _need(bytes_[rule], minutes) for rule, minutes in _minutes(study, shape, data).items()}


def _shape(study: Study) -> Shape:
    try:
        return shape_of(study.model)
    except InputError:
        return UNKNOWN


def _need(bytes_: float, minutes: float) -> Need:
    return Need(math.ceil((SNAKEMAKE + MARGIN * bytes_) / 1e8) * 100, math.ceil(START + MARGIN * minutes))


def _bytes(study: Study, shape: Shape, data: StudyPairs) -> dict[str, float]:
    peak = {part.name: part.host for part in memory(study, shape, data)}
    evaluation, ablated = peak["evaluation"], _ablated_rows(study, shape, data)
    return {
        "sentences": peak["sentences"],
        **dict.fromkeys(("encode", "minimal_pairs"), peak["encode"]),
        "pretrain": _pretraining_bytes(study, shape, data),
        "initial_attention": evaluation,
        "finetune": peak["fine-tuning"],
        "lesion": peak["fine-tuning"],
        "full_model": evaluation,
        "prune": peak["pruning"],
        "evaluate": evaluation,
        "attention": evaluation,
        "core": ANALYSES,
        "ablate": evaluation + PASSING_ROW * ablated,
        "evaluate_controls": max(peak["pruning"], evaluation),
        "core_free": peak["gather"] + evaluation,
        "packing": peak["pruning"] + evaluation,
        "transplant": evaluation,
        "masks": evaluation,
        "interpolation": evaluation + PASSING_ROW * _between_pairs(study, shape, data),
        **dict.fromkeys(("mediation", "paths"), evaluation + ANALYSES),
        "finetune_accuracy": peak["finetune_accuracy"],
        "lesion_accuracy": peak["finetune_accuracy"],
        "gather": peak["gather"],
        "ablations": ANALYSES + len(study.finetune.seeds) * ABLATED_ROW * ablated,
    }


def _pretraining_bytes(study: Study, shape: Shape, data: StudyPairs) -> float:
    """As of fine-tuning with its batches, in one pass and float32, on the processor, where it always is."""
    if study.pretraining is None:
        return 0
    likewise = {"batch_size": study.pretraining.batch_size, "pass_tokens": None, "precision": "float32"}
    study = study.model_copy(update={"device": "cpu", "finetune": study.finetune.model_copy(update=likewise)})
    return next(part.host for part in memory(study, shape, data) if part.name == "fine-tuning")


def _minutes(study: Study, shape: Shape, data: StudyPairs) -> dict[str, float]:
    precisions = {"finetune": study.finetune.precision, "prune": study.prune.precision, "evaluate": study.precision}
    on = device(DEFAULTS[study.device])
    work = work_of(study, shape, data)
    pretraining = [part for part in work if part.name == PRETRAINING]
    took = {part.name: 60 * hours(part, shape, on, precisions[part.engine]).hours for part in work}
    runs, models = len(study.finetune.seeds), len(study.finetune.seeds) * len(study.finetune.checkpoints)
    grid = cells(study) + repeats(study)
    steps = [study.prune.steps_at(cell.sparsity) for cell in grid]
    whole = took["full models"] / models
    rows = data.evaluation.pairs * study.analysis.bootstrap
    tuning = (took["fine-tuning"] + took[IN_PASSING]) / runs
    scoring = rows * len(study.finetune.checkpoints) / DRAWS
    return {
        "sentences": data.train.pairs / 1e5,
        "encode": data.train.pairs / 1e5,
        "minimal_pairs": data.evaluation.pairs / 1e4,
        "pretrain": OLDEST
        * sum(60 * hours(part, shape, device(DEFAULTS["cpu"]), "float32").hours for part in pretraining),
        "initial_attention": whole,
        "finetune": tuning,
        "lesion": tuning,
        "full_model": took["means and logits"] / models + whole,
        "prune": study.prune.together * took["pruning"] / runs * max(steps) / sum(steps),
        "evaluate": whole,
        "attention": whole,
        "core": 0,
        "ablate": sum(took[part.name] for part in work if "ablate" in part.rules) / runs,
        "evaluate_controls": took["controls"] / runs + whole,
        **{rule: sum(took[part.name] for part in work if rule in part.rules) / runs + whole for rule in FURTHER},
        **{part: took.get(part, 0) / runs for part in ("masks", "interpolation")},
        **{part: took.get(part, 0) / runs for part in ("mediation", "paths")},
        "finetune_accuracy": scoring,
        "lesion_accuracy": scoring,
        "gather": rows * len(grid) / len(study.grid.checkpoints) / DRAWS,
        "ablations": runs * _ablated_rows(study, shape, data) * study.analysis.bootstrap / DRAWS,
    }


def _between_pairs(study: Study, shape: Shape, data: StudyPairs) -> float:
    """Pairs of all subnetworks of one fine-tuning seed that part `interpolation` evaluates."""
    work = work_of(study, shape, data)
    return sum(part.pairs for part in work if part.name == "interpolation") / len(study.finetune.seeds)


def _ablated_rows(study: Study, shape: Shape, data: StudyPairs) -> int:
    """Pairs of all ablated models of one fine-tuning seed."""
    pairs = data.evaluation.pairs
    return ablation_count(study, shape) * min(pairs, (study.analysis.ablation_pairs or pairs) * data.subsets)
