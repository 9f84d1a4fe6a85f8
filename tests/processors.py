"""All results that are compared between processors, made in one process: their digests, as JSON.

    python tests/processors.py RESULTS.json [--emulated]

Real steps of every job that runs a model, tables with their intervals, and figures. test_processors.py runs it here
and on emulated processors. Single operations are in operations.py.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from heuristic_core.common import arithmetic

if __name__ == "__main__":
    arithmetic.prepare_arithmetic(arithmetic.PORTABLE)  # before numpy and torch are imported
    if "--emulated" in sys.argv:  # QEMU 7.2 returns wrong indices from numpy's argsort of int64 by AVX2
        os.environ["NPY_DISABLE_CPU_FEATURES"] += ",X86_V3"

import pyarrow.parquet as pq
import torch
from operations import digest
from steps import JOBS, RUN, STUDY, Steps
from transformers.utils import logging as hugging_face_logging

from heuristic_core.common.draws import numpy_generator
from heuristic_core.common.threads import use_threads
from heuristic_core.experiments.subnetworks.analysis.core import compute_core, compute_core_null
from heuristic_core.experiments.subnetworks.analysis.core_seeds import compute_core_seeds
from heuristic_core.experiments.subnetworks.analysis.mask_effects import estimate_effects
from heuristic_core.experiments.subnetworks.analysis.rank_correlation import compute_rank_correlation
from heuristic_core.experiments.subnetworks.analysis.scores import compute_accuracies
from heuristic_core.experiments.subnetworks.analysis.stable_core import compute_stable_core
from heuristic_core.experiments.subnetworks.config.context import Context
from heuristic_core.experiments.subnetworks.figures import draw, write
from heuristic_core.figures.targets import target_files
from heuristic_core.models.components import ComponentGrid, kept_count
from heuristic_core.pruning.subnetwork import Subnetwork
from heuristic_core.stats.frames import make_frame
from heuristic_core.stats.means import mean_interval
from heuristic_core.tables.parquet import concatenate, read_table, to_matrix, write_table

CONTEXT = Context.from_study(STUDY).model_copy(update={"early": None})
GRID = ComponentGrid(4, 8)
CELL = RUN._replace(step=CONTEXT.last, sparsity=CONTEXT.mid)
FIGURES = ("figure02", "figure03", "figure05", "figure_core_seeds")  # violins, bars, a heat map, lines
DRAWS = 200


def tables(predictions: dict, folder: Path) -> Iterator[tuple[str, object]]:
    """Predictions of some models, their accuracies, and what random subnetworks share; name and rows of each table."""
    models = [("full", CELL._replace(sparsity=0.0))]
    for sparsity in (CONTEXT.mid, CONTEXT.high):
        identities = (CELL._replace(sparsity=sparsity, seed=seed) for seed in CONTEXT.seeds)
        models += zip(("mean", "zero"), identities, strict=False)
    parts = [folder / f"predictions {number}.parquet" for number in range(len(models))]
    for (kind, identity), path in zip(models, parts, strict=True):
        columns = predictions[kind]
        write_table("predictions", identity.as_columns(len(columns["label"])) | columns, path)
    yield "predictions", concatenate("predictions", parts)
    rows = read_table(folder / "predictions.parquet")
    logits = to_matrix(pq.read_table(folder / "predictions.parquet")["logits"])
    settings = STUDY.analysis
    scored = compute_accuracies(rows, logits, settings.subsets, settings.class_rule, DRAWS, settings.seed)
    yield from zip(("accuracy", "group_accuracy", "family_scores"), scored, strict=True)
    kept = make_frame("components", [row for item in subnetworks() for row in item.rows()])
    yield "components", kept
    yield "core", compute_core(kept, CONTEXT)
    yield "core_seeds", compute_core_seeds(kept, CONTEXT, settings.seed)
    yield "core_null", compute_core_null(kept, CONTEXT, DRAWS, settings.seed)
    yield "stable_core", compute_stable_core(kept, CONTEXT, DRAWS, settings.seed)
    yield "rank_correlation", compute_rank_correlation(kept, CONTEXT, DRAWS, settings.seed)


def subnetworks() -> Iterator[Subnetwork]:
    """One of every cell of the spread, whose components are drawn."""
    for sparsity in (CONTEXT.mid, CONTEXT.high):
        for seed in CONTEXT.seeds:
            order = torch.randperm(len(GRID), generator=torch.Generator().manual_seed(seed)).tolist()
            kept = tuple(sorted(order[: kept_count(len(GRID), sparsity)]))
            identity = CELL._replace(sparsity=sparsity, seed=seed)
            yield Subnetwork(identity, GRID.layers, GRID.heads, kept, (0.0,) * len(GRID), None)


def everything(folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Name of a part, and digests of its results by name."""
    steps = Steps(folder)
    for job in JOBS:
        yield job, {name: digest(value) for name, value in getattr(steps, job)().items()}
    result, made = {}, {}
    for name, rows in tables(steps.predictions, folder):
        path = folder / f"{name}.parquet"
        write_table(name, rows, path)
        result[name], made[name] = digest(path.read_bytes()), read_table(path)
    yield "table", result
    values = made["group_accuracy"]["accuracy"]
    yield "interval", {"accuracy": digest(list(mean_interval(values))), "sd": digest(values.std())}
    rng = numpy_generator(0, "masks")
    of_masks = estimate_effects(rng.random((60, 8)) < 0.4, rng.normal(size=(60, 3)))
    yield "effects of heads in random masks", {"beta": digest(of_masks.beta), "p": digest(of_masks.p)}
    for name in FIGURES:
        settings = getattr(STUDY.figures, name).model_copy(update={"dpi": 50})
        write(folder, name, *draw(name, made, settings, CONTEXT), settings)
        yield "figure", {Path(path).name: digest(Path(path).read_bytes()) for path in target_files(str(folder), name)}


def main(results: str) -> None:
    use_threads(1)
    arithmetic.enforce(arithmetic.PORTABLE, may_restart=False)
    hugging_face_logging.set_verbosity_error()
    hugging_face_logging.disable_progress_bar()
    result, seconds = {}, {"imports": time.process_time()}
    with tempfile.TemporaryDirectory() as folder:
        before = time.process_time()
        for part, values in everything(Path(folder)):
            seconds[part], before = seconds.get(part, 0) + time.process_time() - before, time.process_time()
            result |= {f"{part} {name}": value for name, value in values.items()}
            print(f"{part}: {seconds[part]:.1f} s", file=sys.stderr, flush=True)
    if mismatches := arithmetic.mismatches():  # of what was imported meanwhile
        sys.exit("; ".join(mismatches))
    Path(results).write_text(json.dumps({"digests": result, "seconds": seconds}, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
