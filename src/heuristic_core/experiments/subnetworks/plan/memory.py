"""Peak memory of a study's largest jobs, estimated from shapes and counts and fitted to MiniLM on MNLI and HANS.

Jobs without a model use only the host's memory, whatever the device.
"""

from collections import Counter
from typing import NamedTuple

from heuristic_core.experiments.subnetworks.config import Study
from heuristic_core.experiments.subnetworks.config.analysis import MAX_ROWS_IN_MEMORY
from heuristic_core.experiments.subnetworks.config.cells import list_cells, repeated_cells
from heuristic_core.experiments.subnetworks.plan.pairs import StudyPairs
from heuristic_core.experiments.subnetworks.plan.work import count_finetuning_evaluations
from heuristic_core.models.micro_batches import BATCH_TOKENS, pass_tokens
from heuristic_core.plan.shapes import Shape

# Bytes of a process that has loaded torch (and CUDA's libraries); tokenizers; tables; little else.
PROCESS_BYTES, TOKENIZER_BYTES, ANALYSIS_BYTES, READER_BYTES = {"cpu": 0.4e9, "cuda": 2e9}, 0.4e9, 0.3e9, 0.1e9
CUDA_CONTEXT_BYTES = 0.5e9  # on the device
BYTES_PER_VALUE = {"auto": 4, "float32": 4, "bfloat16": 2, "float16": 2}
SENTENCE_BYTES = 2400  # per pair, of all sets
ENCODING_BYTES = 300  # per token of the larger set, in the tokenizer
PREDICTION_ROW_BYTES, GATHER_ROW_BYTES = 115, 245  # bytes per model and pair; rows of `gather` have logits
ABLATION_ROW_BYTES = 45  # the same in rule `ablations`
BOOTSTRAP_BYTES = 16  # per bootstrap draw and pair of the largest subset
# On a CPU oneDNN, which multiplies in bfloat16 and float16, caches up to 1,024 shapes of products. Passes have as many:
# MiniLM in passes of 1,024 tokens grew to 3.2 GB, as if each of this number of shapes kept an input and an output.
CACHED_SHAPES = 650
# Frozen models computed by oneDNN (`models/linear.py`): bytes of compiled code, 0.6 MB per shape of a product, and of
# heap fragmentation among a pass's activations. Measured for MiniLM and BERT-base; small or hooked models need less.
COMPILED_BYTES = {"pruning": 1.4e9, "evaluation": 0.3e9}
WEIGHT_COPIES = {"pruning": 2, "evaluation": 1}  # copies of the weights in oneDNN's layout


class Memory(NamedTuple):
    """Peak memory of one job.

    Attributes:
        name: Kind of job.
        host: Bytes on the host.
        device: Bytes on the GPU; 0 without one.
    """

    name: str
    host: float
    device: float


def estimate_memory(study: Study, shape: Shape, data: StudyPairs) -> list[Memory]:
    """Return the peak memory of the kinds of jobs that need most.

    Args:
        study: The study.
        shape: Sizes of its model.
        data: Sizes of its sets of pairs.
    """
    return [*_model_jobs(study, shape, data), *_table_jobs(study, data)]


def _table_jobs(study: Study, data: StudyPairs) -> list[Memory]:
    """Return the memory of jobs without a model."""
    models = Counter(cell.step for cell in list_cells(study) + repeated_cells(study))
    gathered_rows = min(
        (1 + max(models.values())) * data.evaluation.pairs, max(MAX_ROWS_IN_MEMORY, 2 * data.evaluation.pairs)
    )
    evaluations = count_finetuning_evaluations(study.finetune)
    analysis_bytes = ANALYSIS_BYTES + BOOTSTRAP_BYTES * study.analysis.bootstrap * data.largest_subset
    needs = {
        "sentences": READER_BYTES + SENTENCE_BYTES * (data.train.pairs + data.evaluation.pairs),
        "encode": TOKENIZER_BYTES + ENCODING_BYTES * max(data.train.tokens, data.evaluation.tokens),
        "finetune_accuracy": analysis_bytes + PREDICTION_ROW_BYTES * evaluations * data.evaluation.pairs,
        "gather": analysis_bytes + GATHER_ROW_BYTES * gathered_rows,
    }
    return [Memory(name, host, 0) for name, host in needs.items()]


def _model_jobs(study: Study, shape: Shape, data: StudyPairs) -> list[Memory]:
    """Return the memory of jobs with a model; on a GPU, mostly the GPU's."""
    max_length, weights = study.task.max_length, 4 * shape.parameters
    train, evaluation = 5 * max_length * data.train.pairs, 5 * max_length * data.evaluation.pairs
    sample = 5 * max_length * (study.prune.pairs_needed or data.train.pairs)
    tokens_per_pass = study.finetune.pass_tokens or study.finetune.batch_size * max_length
    tune, prune, evaluate = study.finetune.precision, study.prune.precision, study.precision
    activations = tokens_per_pass * _activation_bytes(shape, max_length, BYTES_PER_VALUE[tune])
    one_layer = (6 * shape.hidden + 2 * shape.feed_forward) * BYTES_PER_VALUE[evaluate]
    needs = {
        # weights, gradients, Adam's two moments, and the copy that is evaluated beside training
        "fine-tuning": 5 * weights + train + evaluation + activations + BATCH_TOKENS[study.device] * one_layer,
        "pruning": weights * BYTES_PER_VALUE[prune] / 4
        + sample
        + pass_tokens(study.device, shape.hidden) * _activation_bytes(shape, max_length, BYTES_PER_VALUE[prune]),
        "evaluation": weights * BYTES_PER_VALUE[evaluate] / 4
        + max(evaluation, sample)
        + BATCH_TOKENS[study.device] * one_layer,
    }
    arrays = 6 * (data.train.tokens + data.evaluation.tokens)
    if study.device == "cpu":
        if study.arithmetic == "native":
            for name, precision in (("pruning", prune), ("evaluation", evaluate)):
                needs[name] += COMPILED_BYTES[name] + WEIGHT_COPIES[name] * weights * BYTES_PER_VALUE[precision] / 4
        needs["fine-tuning"] += activations  # heap fragmentation by passes of many lengths: about as much for MiniLM
        if tune != "float32":
            inputs_and_outputs = (4 * shape.hidden + 2 * shape.feed_forward) / 3  # mean over three kinds of products
            needs["fine-tuning"] += CACHED_SHAPES * tokens_per_pass * inputs_and_outputs * BYTES_PER_VALUE[tune]
        return [Memory(name, PROCESS_BYTES["cpu"] + arrays + bytes_, 0) for name, bytes_ in needs.items()]
    return [
        Memory(name, PROCESS_BYTES["cuda"] + arrays + weights, CUDA_CONTEXT_BYTES + bytes_)
        for name, bytes_ in needs.items()
    ]


def _activation_bytes(shape: Shape, max_length: int, width: int) -> float:
    """Return the bytes of activations per token of a pass with gradients; attention at the maximal length."""
    layer = 16 * shape.hidden + 2 * shape.feed_forward + 2 * shape.heads * max_length
    return shape.layers * layer * width
