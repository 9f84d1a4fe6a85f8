"""Memory of a study's largest jobs at their peaks: estimates from shapes and counts, fitted to MiniLM on MNLI and HANS.

Jobs that run no model stay on the host, whatever the device.
"""

from collections import Counter
from typing import NamedTuple

from heuristic_core.experiments.heuristic_core.config import Study
from heuristic_core.experiments.heuristic_core.config.analysis import GATHERED_ROWS
from heuristic_core.experiments.heuristic_core.config.cells import cells, repeats
from heuristic_core.experiments.heuristic_core.plan.pairs import StudyPairs
from heuristic_core.experiments.heuristic_core.plan.work import evaluations_in_passing
from heuristic_core.models.micro_batches import BATCH_TOKENS, pass_tokens
from heuristic_core.plan.shapes import Shape

# Bytes of a process that has loaded torch, and CUDA's libraries; tokenizers; tables; little else.
PROCESS, TOKENIZES, ANALYSES, READS = {"cpu": 0.4e9, "cuda": 2e9}, 0.4e9, 0.3e9, 0.1e9
CONTEXT = 0.5e9  # of CUDA, on the device
WIDTH = {"auto": 4, "float32": 4, "bfloat16": 2, "float16": 2}
SENTENCES = 2400  # bytes per pair, of all sets
ENCODING = 300  # per token of the larger set: what the tokenizer knows of each
PASSING_ROW, GATHERED_ROW = 115, 245  # per model and pair; gathered ones with their logits
ABLATED_ROW = 45  # the same in the job that compares all ablations
DRAWN = 16  # per bootstrap draw and pair of a subset
# On a CPU oneDNN, which multiplies in bfloat16 and float16, keeps something for each of up to 1,024 shapes of products,
# and passes have as many: MiniLM in passes of 1,024 tokens grew to 3.2 GB, as if these kept an input and an output.
KEPT_SHAPES = 650
# Where frozen models are computed by oneDNN (`models/linear.py`): bytes of what it compiles, 0.6 MB for each shape of a
# product, and of the gaps that this leaves in the heap among a pass's activations. Measured of MiniLM and BERT-base;
# models whose maps are small or hooked need less.
COMPILED = {"pruning": 1.4e9, "evaluation": 0.3e9}
LAYOUTS = {"pruning": 2, "evaluation": 1}  # copies of the weights, laid out for it


class Memory(NamedTuple):
    """Bytes of one job at its peak. device: on the GPU; 0 without one."""

    name: str
    host: float
    device: float


def memory(study: Study, shape: Shape, data: StudyPairs) -> list[Memory]:
    """The peaks of the kinds of jobs that take most."""
    return [*_of_models(study, shape, data), *_of_tables(study, data)]


def _of_tables(study: Study, data: StudyPairs) -> list[Memory]:
    """Jobs on the host alone."""
    models = Counter(cell.step for cell in cells(study) + repeats(study))
    gathered = min((1 + max(models.values())) * data.evaluation.pairs, max(GATHERED_ROWS, 2 * data.evaluation.pairs))
    passing = evaluations_in_passing(study.finetune)
    drawn = ANALYSES + DRAWN * study.analysis.bootstrap * data.largest
    needs = {
        "sentences": READS + SENTENCES * (data.train.pairs + data.evaluation.pairs),
        "encode": TOKENIZES + ENCODING * max(data.train.tokens, data.evaluation.tokens),
        "finetune_accuracy": drawn + PASSING_ROW * passing * data.evaluation.pairs,
        "gather": drawn + GATHERED_ROW * gathered,
    }
    return [Memory(name, host, 0) for name, host in needs.items()]


def _of_models(study: Study, shape: Shape, data: StudyPairs) -> list[Memory]:
    """Jobs that run models: on a GPU, its memory is what counts."""
    longest, weights = study.task.max_length, 4 * shape.parameters
    train, evaluation = 5 * longest * data.train.pairs, 5 * longest * data.evaluation.pairs
    sample = 5 * longest * (study.prune.pairs_needed or data.train.pairs)
    passed = study.finetune.pass_tokens or study.finetune.batch_size * longest
    tune, prune, whole = study.finetune.precision, study.prune.precision, study.precision
    activations = passed * _kept_for_backward(shape, longest, WIDTH[tune])
    one_layer = (6 * shape.hidden + 2 * shape.feed_forward) * WIDTH[whole]
    needs = {
        # weights, gradients and Adam's two moments
        "fine-tuning": 4 * weights + train + evaluation + activations,
        "pruning": weights * WIDTH[prune] / 4
        + sample
        + pass_tokens(study.device, shape.hidden) * _kept_for_backward(shape, longest, WIDTH[prune]),
        "evaluation": weights * WIDTH[whole] / 4 + max(evaluation, sample) + BATCH_TOKENS[study.device] * one_layer,
    }
    arrays = 6 * (data.train.tokens + data.evaluation.tokens)
    if study.device == "cpu":
        if study.arithmetic == "native":
            for name, precision in (("pruning", prune), ("evaluation", whole)):
                needs[name] += COMPILED[name] + LAYOUTS[name] * weights * WIDTH[precision] / 4
        needs["fine-tuning"] += activations  # passes of many lengths leave gaps in the heap: MiniLM's, about as much
        if tune != "float32":
            inputs_and_outputs = (4 * shape.hidden + 2 * shape.feed_forward) / 3  # mean over three kinds of products
            needs["fine-tuning"] += KEPT_SHAPES * passed * inputs_and_outputs * WIDTH[tune]
        return [Memory(name, PROCESS["cpu"] + arrays + bytes_, 0) for name, bytes_ in needs.items()]
    return [Memory(n, PROCESS["cuda"] + arrays + weights, CONTEXT + bytes_) for n, bytes_ in needs.items()]


def _kept_for_backward(shape: Shape, longest: int, width: int) -> float:
    """Bytes of activations per token of a pass with gradients; attention at the longest length."""
    layer = 16 * shape.hidden + 2 * shape.feed_forward + 2 * shape.heads * longest
    return shape.layers * layer * width
