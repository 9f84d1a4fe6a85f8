"""Evaluate random subnetworks that contain the core, and the learned subnetworks from whose heads they are drawn."""

import pandas as pd

from heuristic_core.analysis.frames import frame
from heuristic_core.common.draws import numpy_generator
from heuristic_core.common.progress import Progress
from heuristic_core.common.threads import use_threads
from heuristic_core.experiments.heuristic_core.analysis.counter_heads import LEARNED, RANDOM
from heuristic_core.experiments.heuristic_core.analysis.levels import levels
from heuristic_core.experiments.heuristic_core.analysis.random_masks import drawn, learned, pool_of
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.experiments.heuristic_core.config.mechanism import Mechanism
from heuristic_core.experiments.heuristic_core.jobs.evaluator import Evaluator, reads_checkpoint
from heuristic_core.jobs.arguments import Arguments, identity
from heuristic_core.provenance.record import recorded
from heuristic_core.tables.parquet import read_table, write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("mechanism", Mechanism)
    parser.settings("analysis", Analysis)
    parser.identity("ft_seed", "step")
    parser.reads(
        core="the run's core (Parquet)",
        components="components of the sound mid-sparsity subnetworks",
    )
    reads_checkpoint(parser)
    parser.writes(masks="where to write masks and what they score")
    args = parser.read(arguments)
    use_threads(1)
    run, settings = identity(args), args.mechanism.masks
    components = read_table(args.components)
    kept, pool = learned(components), pool_of(components, read_table(args.core))
    rng = numpy_generator(args.analysis.seed, "random masks", run.ft_seed)
    inside = drawn(pool, settings.count if pool.heads else 0, rng)
    masks = [
        (RANDOM, number, {*pool.core, *pool.mlps, *(h for h, keep in zip(pool.heads, row, strict=True) if keep)})
        for number, row in enumerate(inside)
    ]
    masks += [(LEARNED, seed, components) for seed, components in kept.items()]

    evaluator = Evaluator(args, settings.by_group)
    grid, rows, progress = evaluator.model.grid, [], Progress("evaluate masks", len(masks))
    for kind, number, components in masks:
        scores = evaluator.scores(evaluator.without(set(range(len(grid))) - components))
        heads = sorted(c for c in components - {*pool.core} if c < grid.layers * grid.heads)
        mlps = sorted(c for c in components if c >= grid.layers * grid.heads)
        about = {"kind": kind, "mask": number, "heads": [heads] * len(scores), "mlps": [mlps] * len(scores)}
        rows.append(scores.assign(**about))
        progress.at(len(rows))
    table = _with_means(pd.concat(rows), args.analysis.subsets).assign(**run._asdict()) if rows else []
    write_table("random_masks", frame("random_masks", table), args.masks)


def _with_means(rows: pd.DataFrame, subsets: list[str] | None) -> pd.DataFrame:
    """`rows` and the means of every mask over groups and families, and its J."""
    about = rows.drop_duplicates(["kind", "mask"])[["kind", "mask", "heads", "mlps"]]
    values = levels(rows.drop(columns=["heads", "mlps"]), ["kind", "mask"], subsets)
    return values.merge(about, on=["kind", "mask"])


if __name__ == "__main__":
    recorded(main)
