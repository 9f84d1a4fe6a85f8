"""Random subnetworks that contain the core."""

from typing import Annotated

import pandas as pd

from heuristic_core.common.draws import numpy_generator
from heuristic_core.common.progress import Progress
from heuristic_core.common.roles import Fields, Input, Output
from heuristic_core.experiments.subnetworks.analysis.counter_heads import LEARNED, RANDOM
from heuristic_core.experiments.subnetworks.analysis.levels import append_means
from heuristic_core.experiments.subnetworks.analysis.random_masks import build_pool, draw_masks, list_learned_masks
from heuristic_core.experiments.subnetworks.config.mechanism import Mechanism
from heuristic_core.experiments.subnetworks.jobs.evaluated_model import EvaluatedModel
from heuristic_core.stats.frames import make_frame
from heuristic_core.tables.identity import Identity
from heuristic_core.tables.parquet import read_table, write_table


def evaluate_random_masks(
    core: Input,
    components: Input,
    model: EvaluatedModel,
    mechanism: Mechanism,
    run: Annotated[Identity, Fields("ft_seed", "step")],
    masks: Output,
) -> None:
    """Evaluate random subnetworks that contain the core, and the learned subnetworks from whose heads they are drawn.

    Args:
        core: The run's core (Parquet).
        components: Components of the sound mid-sparsity subnetworks (Parquet).
        model: The fine-tuned model and its evaluation pairs.
        mechanism: Settings of analyses that depend on the core.
        run: Identity of the checkpoint.
        masks: Where to write masks and their scores (Parquet).
    """
    analysis = model.analysis
    settings, component_rows = mechanism.masks, read_table(components)
    kept, pool = list_learned_masks(component_rows), build_pool(component_rows, read_table(core))
    rng = numpy_generator(analysis.seed, "random masks", run.ft_seed)
    drawn_masks = draw_masks(pool, settings.count if pool.heads else 0, rng)
    subnetworks = [
        (RANDOM, number, {*pool.core, *pool.mlps, *(h for h, keep in zip(pool.heads, row, strict=True) if keep)})
        for number, row in enumerate(drawn_masks)
    ]
    subnetworks += [(LEARNED, seed, members) for seed, members in kept.items()]

    evaluator = model.load(settings.by_group)
    grid, rows, progress = evaluator.model.grid, [], Progress("evaluate masks", len(subnetworks))
    for kind, number, members in subnetworks:
        scores = evaluator.scores(evaluator.predict_without(set(range(len(grid))) - members))
        heads = sorted(c for c in members - {*pool.core} if c < grid.layers * grid.heads)
        mlps = sorted(c for c in members if c >= grid.layers * grid.heads)
        columns = {"kind": kind, "mask": number, "heads": [heads] * len(scores), "mlps": [mlps] * len(scores)}
        rows.append(scores.assign(**columns))
        progress.update(len(rows))
    table = _append_means(pd.concat(rows), analysis.subsets).assign(**run._asdict()) if rows else []
    write_table("random_masks", make_frame("random_masks", table), masks)


def _append_means(rows: pd.DataFrame, subsets: list[str] | None) -> pd.DataFrame:
    """Append means over groups and families, and J, of every mask."""
    identity = rows.drop_duplicates(["kind", "mask"])[["kind", "mask", "heads", "mlps"]]
    values = append_means(rows.drop(columns=["heads", "mlps"]), ["kind", "mask"], subsets)
    return values.merge(identity, on=["kind", "mask"])
