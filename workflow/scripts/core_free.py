"""Evaluate subnetworks without the core, and without random sets of heads in its place: what the core is worth."""

from dataclasses import replace

import numpy as np
import pandas as pd

from heuristic_core.common.threads import use_threads
from heuristic_core.experiments.heuristic_core.analysis.closed_sets import core_heads, sets_beside
from heuristic_core.experiments.heuristic_core.analysis.core_free import (
    CONTROL,
    CORE_FREE,
    core_free,
    core_free_runs,
    levels_of,
)
from heuristic_core.experiments.heuristic_core.analysis.levels import id_accuracy
from heuristic_core.experiments.heuristic_core.analysis.runs import chance, runs
from heuristic_core.experiments.heuristic_core.analysis.scores import accuracies
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.experiments.heuristic_core.config.mechanism import Mechanism
from heuristic_core.experiments.heuristic_core.jobs.evaluator import Evaluator, reads_checkpoint
from heuristic_core.jobs.arguments import Arguments, identity
from heuristic_core.models.components import ComponentGrid
from heuristic_core.provenance.record import recorded
from heuristic_core.pruning.subnetwork import FailedRun, load_run
from heuristic_core.tables.parquet import read_table, write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    parser.settings("mechanism", Mechanism)
    parser.settings("analysis", Analysis)
    parser.identity("ft_seed", "step", "sparsity")
    parser.add_argument("--controller", choices=("sampled", "expected"), default="sampled", help="of pruning")
    reads_checkpoint(parser)
    parser.reads(core="the run's core (Parquet)")
    parser.reads(
        "+",
        subnetworks="subnetworks with the core or a random set closed (JSON)",
        trace_parts="the trace of each one's pruning",
        mid="predictions of subnetworks of the same sparsity with no head closed",
    )
    parser.reads(components="components of the subnetworks whose pruning went well")
    parser.one_each("mechanism.core_free.runs", "subnetworks", "trace_parts")
    parser.writes(
        core_free_runs="where to write what became of each run",
        core_free="where to write the differences",
    )
    args = parser.read(arguments)
    use_threads(1)
    analysis, evaluator = args.analysis, Evaluator(args)
    design, found = _numbered(args, evaluator.model.grid)
    traces = pd.concat([read_table(path).assign(seed=k) for k, path in enumerate(args.trace_parts)])
    frames = [pd.DataFrame(evaluator.edited(None)).assign(**identity(args)._replace(sparsity=0.0)._asdict())]
    frames += [
        pd.DataFrame(evaluator.without(one.removed_from(evaluator.model.grid))).assign(**one.identity._asdict())
        for one in found
        if not isinstance(one, FailedRun)
    ]
    rows = pd.concat(frames, ignore_index=True).astype({"seed": "Int32"})
    failed = [one for one in found if isinstance(one, FailedRun)]
    settings = analysis.subsets, analysis.class_rule, analysis.bootstrap, analysis.seed
    accuracy, groups, families = accuracies(rows, np.stack(rows["logits"]), *settings, failed)
    became = runs(found, traces, groups, chance(rows, analysis.subsets), args.controller)
    by_run = core_free_runs(design, became, groups, _mid(args), analysis.margin)
    write_table("core_free_runs", by_run, args.core_free_runs)
    values = levels_of(accuracy, groups, families, design, analysis.subsets)
    write_table("core_free", core_free(by_run, values), args.core_free)


def _numbered(args, grid: ComponentGrid) -> tuple[pd.DataFrame, list]:
    """What each run closes, and the runs with their number as pruning seed: runs of many sets share a seed."""
    part, core = args.mechanism.core_free, core_heads(read_table(args.core))
    sets = [core, *sets_beside(core, grid, part.control_sets, args.analysis.seed)]
    closed, found, rows = {number: heads for number, heads in enumerate(sets) if heads}, [], []
    for number, (run, path) in enumerate(zip(part.runs, args.subnetworks, strict=True)):
        one = load_run(path)
        role = CONTROL if run.set else CORE_FREE
        rows.append({"number": number, "role": role, "closed": closed.get(run.set)} | run._asdict())
        found.append(replace(one, identity=one.identity._replace(seed=number)))
    return pd.DataFrame(rows), found


def _mid(args) -> float | None:
    """Mean ID accuracy of the sound subnetworks with no head closed, percent; None without any."""
    sound = set(read_table(args.components)["seed"])
    scoring = args.analysis.class_rule, args.analysis.subsets
    found = [read_table(path, without=["logits"]) for path in args.mid]
    values = [id_accuracy(rows, *scoring) for rows in found if sound.issuperset(rows["seed"]) and len(rows)]
    return float(np.mean(values)) if values else None


if __name__ == "__main__":
    recorded(main)
