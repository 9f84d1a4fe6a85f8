"""Disk space of a study's results, estimated from shapes and counts."""

from heuristic_core.experiments.subnetworks.config import Study
from heuristic_core.experiments.subnetworks.config.cells import list_cells, pruned_steps, repeated_cells
from heuristic_core.experiments.subnetworks.config.mechanism import Mechanism
from heuristic_core.experiments.subnetworks.plan.pairs import StudyPairs
from heuristic_core.experiments.subnetworks.plan.work import DONOR_PASSES, FINETUNING_EVALUATION
from heuristic_core.plan.devices import Work
from heuristic_core.plan.shapes import Shape

# Bytes, measured in the miniature study.
PREDICTION_BYTES = 28  # per evaluated pair; most are in two files, of their job and of all jobs
TRACE_ROW_BYTES, TRACE_INTERVAL = 25, 10  # per recorded step of pruning, in three files; every tenth step is recorded
SUBNETWORK_BYTES = 20_000  # the other files of one subnetwork
FIGURES_BYTES = 11e6  # figures, tables, report
RULES_WITHOUT_PREDICTIONS = {*Mechanism.model_fields, "packing"}  # their jobs keep scores instead
SENTENCE_BYTES = 3.5  # per token, of MNLI's sentences in Parquet


def estimate_disk(study: Study, shape: Shape, data: StudyPairs, work: list[Work]) -> dict[str, float]:
    """Return the bytes of results by kind; the last entry is temporary, while one fine-tuning run lasts.

    Args:
        study: The study.
        shape: Sizes of its model.
        data: Sizes of its sets of pairs.
        work: All work with models, from which stored predictions are counted.
    """
    runs, kept = len(study.finetune.seeds), len(study.finetune.checkpoints)
    grid = list_cells(study) + repeated_cells(study)
    pairs, tokens = (a + b for a, b in zip(data.train, data.evaluation, strict=True))
    classes = len(study.task.labels)
    steps = sum(study.prune.total_steps(cell.sparsity) for cell in grid)
    evaluated = [
        part for part in work if part.engine == "evaluate" and part.name not in ("means and logits", DONOR_PASSES)
    ]
    kept_pairs = [part for part in evaluated if not RULES_WITHOUT_PREDICTIONS.intersection(part.rules)]
    rows = sum(part.pairs * (1 if part.name.endswith(FINETUNING_EVALUATION) else 2) for part in kept_pairs)
    return {
        "checkpoints": runs * kept * 4 * shape.parameters,
        "sentences and encoded pairs": tokens * (SENTENCE_BYTES + 6) + pairs * 20,
        "logits for pruning": runs
        * len(pruned_steps(study))
        * (study.prune.pairs_needed or data.train.pairs)
        * classes
        * 4,
        "predictions": rows * PREDICTION_BYTES,
        "subnetworks and traces": runs * (3 * TRACE_ROW_BYTES * steps / TRACE_INTERVAL + SUBNETWORK_BYTES * len(grid)),
        "figures, tables, report": FIGURES_BYTES,
        "while one fine-tuning run lasts": (kept + 3) * 4 * shape.parameters,
    }
