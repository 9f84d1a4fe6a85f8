"""Resources that a job of each rule requests from a cluster, from the estimates of the plan.

Every process of a cluster's run that reads the Snakefile computes them, so this module reads only the header of the
encoded pairs and the config.json of a pretrained model, if they exist.
"""

import math

from heuristic_core.common.errors import InputError
from heuristic_core.experiments.subnetworks.config import Study
from heuristic_core.experiments.subnetworks.config.cells import list_cells, pruned_steps, repeated_cells
from heuristic_core.experiments.subnetworks.plan.memory import (
    ABLATION_ROW_BYTES,
    ANALYSIS_BYTES,
    PREDICTION_ROW_BYTES,
    estimate_memory,
)
from heuristic_core.experiments.subnetworks.plan.pairs import StudyPairs, count_pairs
from heuristic_core.experiments.subnetworks.plan.work import (
    FINETUNING_EVALUATION,
    PRETRAINING,
    ablation_count,
    estimate_work,
)
from heuristic_core.plan.devices import REQUEST_DEVICES, estimate_hours, get_device
from heuristic_core.plan.needs import Need
from heuristic_core.plan.shapes import Shape, read_shape

# Assumed for a pretrained model before it is fetched: BERT-large.
UNKNOWN_SHAPE = Shape(layers=24, heads=16, hidden=1024, feed_forward=4096, vocabulary=50_000, positions=512)
SAFETY_FACTOR = 2  # requested / estimated, for other processors and disks
SNAKEMAKE_BYTES = 0.7e9  # bytes of the processes that start a job
PORTABLE_SLOWDOWN = 2  # of pre-training in portable arithmetic
MIN_MINUTES = 3  # requested by any job: imports from a cold shared disk take one minute
MECHANISM_RULES = ("core_free", "packing", "transplant")  # rules of the block `mechanism` whose work is theirs alone
BOOTSTRAP_ROWS_PER_MINUTE = 1e9  # a tenth of the rate of one server core


def estimate_needs(study: Study) -> dict[str, Need]:
    """Return the needs of one job by rule, for rules that need more than a small table.

    A job of `prune` has ``prune.together`` runs.
    """
    shape, data = _shape(study), count_pairs(study, read=False)
    bytes_ = _bytes(study, shape, data)
    return {rule: _need(bytes_[rule], minutes) for rule, minutes in _minutes(study, shape, data).items()}


def _shape(study: Study) -> Shape:
    """Return the model's shape, or UNKNOWN_SHAPE before it is fetched."""
    try:
        return read_shape(study.model)
    except InputError:
        return UNKNOWN_SHAPE


def _need(bytes_: float, minutes: float) -> Need:
    """Return the request for an estimate."""
    return Need(
        math.ceil((SNAKEMAKE_BYTES + SAFETY_FACTOR * bytes_) / 1e8) * 100,
        math.ceil(MIN_MINUTES + SAFETY_FACTOR * minutes),
    )


def _bytes(study: Study, shape: Shape, data: StudyPairs) -> dict[str, float]:
    """Return the peak host memory of one job, by rule."""
    peak = {part.name: part.host for part in estimate_memory(study, shape, data)}
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
        "core": ANALYSIS_BYTES,
        "ablate": evaluation + PREDICTION_ROW_BYTES * ablated,
        "evaluate_controls": max(peak["pruning"], evaluation),
        "core_free": peak["gather"] + evaluation,
        "packing": peak["pruning"] + evaluation,
        "transplant": evaluation,
        "masks": evaluation,
        "interpolation": evaluation + PREDICTION_ROW_BYTES * _interpolation_pairs(study, shape, data),
        **dict.fromkeys(("mediation", "paths"), evaluation + ANALYSIS_BYTES),
        "finetune_accuracy": peak["finetune_accuracy"],
        "lesion_accuracy": peak["finetune_accuracy"],
        "gather": peak["gather"],
        "ablations": ANALYSIS_BYTES + len(study.finetune.seeds) * ABLATION_ROW_BYTES * ablated,
    }


def _pretraining_bytes(study: Study, shape: Shape, data: StudyPairs) -> float:
    """Return the memory of pre-training: as fine-tuning on the CPU, in one pass and float32."""
    if study.pretraining is None:
        return 0
    changes = {"batch_size": study.pretraining.batch_size, "pass_tokens": None, "precision": "float32"}
    study = study.model_copy(update={"device": "cpu", "finetune": study.finetune.model_copy(update=changes)})
    return next(part.host for part in estimate_memory(study, shape, data) if part.name == "fine-tuning")


def _minutes(study: Study, shape: Shape, data: StudyPairs) -> dict[str, float]:
    """Return the minutes of one job, by rule."""
    precisions = {"finetune": study.finetune.precision, "prune": study.prune.precision, "evaluate": study.precision}
    model_device = get_device(REQUEST_DEVICES[study.device])
    work = estimate_work(study, shape, data)
    pretraining = [part for part in work if part.name == PRETRAINING]
    minutes = {
        part.name: 60 * estimate_hours(part, shape, model_device, precisions[part.engine]).hours for part in work
    }
    runs, checkpoints = len(study.finetune.seeds), len(pruned_steps(study))
    models = runs * checkpoints
    grid = list_cells(study) + repeated_cells(study)
    steps = [study.prune.total_steps(cell.sparsity) for cell in grid]
    full_model = minutes["full models"] / models
    rows = data.evaluation.pairs * study.analysis.bootstrap
    finetuning = (minutes["fine-tuning"] + minutes[FINETUNING_EVALUATION]) / runs
    scoring = rows * checkpoints / BOOTSTRAP_ROWS_PER_MINUTE
    return {
        "sentences": data.train.pairs / 1e5,
        "encode": data.train.pairs / 1e5,
        "minimal_pairs": data.evaluation.pairs / 1e4,
        "pretrain": PORTABLE_SLOWDOWN
        * sum(
            60 * estimate_hours(part, shape, get_device(REQUEST_DEVICES["cpu"]), "float32").hours
            for part in pretraining
        ),
        "initial_attention": full_model,
        "finetune": finetuning,
        "lesion": finetuning,
        "full_model": minutes["means and logits"] / models + full_model,
        "prune": study.prune.together * minutes["pruning"] / runs * max(steps) / sum(steps),
        "evaluate": study.prune.together * full_model,
        "attention": full_model,
        "core": 0,
        "ablate": sum(minutes[part.name] for part in work if "ablate" in part.rules) / runs,
        "evaluate_controls": minutes["controls"] / runs + full_model,
        **{
            rule: sum(minutes[part.name] for part in work if rule in part.rules) / runs + full_model
            for rule in MECHANISM_RULES
        },
        **{part: minutes.get(part, 0) / runs for part in ("masks", "interpolation")},
        **{part: minutes.get(part, 0) / runs for part in ("mediation", "paths")},
        "finetune_accuracy": scoring,
        "lesion_accuracy": scoring,
        "gather": rows * len(grid) / len(study.grid.checkpoints) / BOOTSTRAP_ROWS_PER_MINUTE,
        "ablations": runs * _ablated_rows(study, shape, data) * study.analysis.bootstrap / BOOTSTRAP_ROWS_PER_MINUTE,
    }


def _interpolation_pairs(study: Study, shape: Shape, data: StudyPairs) -> float:
    """Return the pairs that part `interpolation` evaluates for one fine-tuning seed, over all subnetworks."""
    work = estimate_work(study, shape, data)
    return sum(part.pairs for part in work if part.name == "interpolation") / len(study.finetune.seeds)


def _ablated_rows(study: Study, shape: Shape, data: StudyPairs) -> int:
    """Return the pairs evaluated for one fine-tuning seed, over all ablated models."""
    pairs = data.evaluation.pairs
    return ablation_count(study, shape) * min(pairs, (study.analysis.ablation_pairs or pairs) * data.subsets)
