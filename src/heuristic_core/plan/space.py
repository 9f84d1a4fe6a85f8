"""Disk that a study's results take, and memory of its largest jobs. All are estimates from shapes and counts."""

from typing import NamedTuple

from heuristic_core.config import Study
from heuristic_core.config.grid import cells, repeats
from heuristic_core.config.tasks import GeneratedTask
from heuristic_core.plan.pairs import StudyPairs
from heuristic_core.plan.shapes import Shape
from heuristic_core.plan.work import Work

# Bytes that the miniature's files have.
PREDICTION = 28  # per evaluated pair; most predictions stand in a file of their job and in a joined one
TRACE_ROW, EVERY = 25, 10  # per recorded step of pruning, in three files; every tenth step is recorded
SMALL = 20_000  # the other files of one subnetwork
SHOWN = 11e6  # figures, tables, report
SENTENCE = 3.5  # per token, of MNLI's sentences in Parquet
PROCESS = {"cpu": 0.4e9, "cuda": 2e9}  # a process that has loaded torch, and CUDA's libraries
CONTEXT = 0.5e9  # of CUDA, on the device
WIDTH = {"float32": 4, "bfloat16": 2, "float16": 2}


class Memory(NamedTuple):
    """Bytes of one job at its peak. device: on the GPU; 0 without one."""

    name: str
    host: float
    device: float


def disk(study: Study, shape: Shape, data: StudyPairs, work: list[Work]) -> dict[str, float]:
    """Bytes of what is kept, by what it is, and what one run of fine-tuning needs besides until it ends."""
    runs, kept = len(study.finetune.seeds), len(study.finetune.checkpoints)
    grid = cells(study) + repeats(study)
    pairs, tokens = (a + b for a, b in zip(data.train, data.evaluation, strict=True))
    classes = 3 if isinstance(study.task, GeneratedTask) else len(study.task.labels)
    steps = sum(study.prune.steps_at(cell.sparsity) for cell in grid)
    evaluated = [part for part in work if part.engine == "evaluate" and part.name != "means and logits"]
    rows = sum(part.pairs * (1 if part.name == "evaluation in passing" else 2) for part in evaluated)
    return {
        "checkpoints": runs * kept * 4 * shape.parameters,
        "sentences and encoded pairs": tokens * (SENTENCE + 6) + pairs * 20,
        "logits for pruning": runs * kept * (study.prune.pairs_needed or data.train.pairs) * classes * 4,
        "predictions": rows * PREDICTION,
        "subnetworks and traces": runs * (3 * TRACE_ROW * steps / EVERY + SMALL * len(grid)),
        "figures, tables, report": SHOWN,
        "while one fine-tuning run lasts": (kept + 3) * 4 * shape.parameters,
    }


def memory(study: Study, shape: Shape, data: StudyPairs) -> list[Memory]:
    """The peaks of the kinds of jobs that run models."""
    from heuristic_core.evaluate import BATCH_TOKENS
    from heuristic_core.models.batches import PASS_TOKENS

    longest, weights = study.task.max_length, 4 * shape.parameters
    train, evaluation = 5 * longest * data.train.pairs, 5 * longest * data.evaluation.pairs
    sample = 5 * longest * (study.prune.pairs_needed or data.train.pairs)
    passed = study.finetune.pass_tokens or study.finetune.batch_size * longest
    tune, prune, whole = study.finetune.precision, study.prune.precision, study.precision
    one_layer = (6 * shape.hidden + 2 * shape.feed_forward) * WIDTH[whole]
    needs = {
        # weights, gradients and Adam's two moments
        "fine-tuning": 4 * weights + train + evaluation + passed * _kept_for_backward(shape, longest, WIDTH[tune]),
        "pruning": weights * WIDTH[prune] / 4
        + sample
        + PASS_TOKENS[study.device] * _kept_for_backward(shape, longest, WIDTH[prune]),
        "evaluation": weights * WIDTH[whole] / 4 + max(evaluation, sample) + BATCH_TOKENS[study.device] * one_layer,
    }
    arrays = 6 * (data.train.tokens + data.evaluation.tokens)
    if study.device == "cpu":
        return [Memory(name, PROCESS["cpu"] + arrays + bytes_, 0) for name, bytes_ in needs.items()]
    return [Memory(n, PROCESS["cuda"] + arrays + weights, CONTEXT + bytes_) for n, bytes_ in needs.items()]


def _kept_for_backward(shape: Shape, longest: int, width: int) -> float:
    """Bytes of activations per token of a pass with gradients; attention at the longest length."""
    layer = 16 * shape.hidden + 2 * shape.feed_forward + 2 * shape.heads * longest
    return shape.layers * layer * width
