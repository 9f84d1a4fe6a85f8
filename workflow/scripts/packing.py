"""How many subnetworks fit into a model side by side: find one, close its heads, and repeat while one is faithful.

Beside every round run random ones: as many heads of the same layers are closed, whichever they are. Interrupted, it
resumes where it saved last.
"""

import shutil
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from heuristic_core.common.draws import numpy_generator
from heuristic_core.common.threads import use_threads
from heuristic_core.experiments.heuristic_core.analysis.closed_sets import matched_set
from heuristic_core.experiments.heuristic_core.analysis.levels import id_accuracy
from heuristic_core.experiments.heuristic_core.analysis.packing import Round, closed_next, packing
from heuristic_core.experiments.heuristic_core.analysis.runs import end_of
from heuristic_core.experiments.heuristic_core.config.analysis import Analysis
from heuristic_core.experiments.heuristic_core.config.mechanism import Mechanism
from heuristic_core.experiments.heuristic_core.jobs.evaluator import Evaluator
from heuristic_core.jobs.arguments import Arguments, identity
from heuristic_core.jobs.pruning_run import Pruner, reads_pruned
from heuristic_core.models.components import kept_count
from heuristic_core.provenance.digests import code_digest
from heuristic_core.provenance.record import recorded
from heuristic_core.pruning.learner import PruningRun
from heuristic_core.pruning.loop import Pruned
from heuristic_core.pruning.subnetwork import FailedRun, load_run
from heuristic_core.tables.parquet import write_table


def main(arguments=None):
    parser = Arguments(__doc__)
    reads_pruned(parser)
    parser.settings("mechanism", Mechanism)
    parser.settings("analysis", Analysis)
    parser.reads(evaluation="encoded evaluation pairs", first="subnetwork of the first round (JSON)")
    parser.writes(packing="where to write the rounds")
    parser.device()
    args = parser.read(arguments)
    use_threads(1)
    part, first = args.mechanism.core_free, load_run(args.first)
    pruner, measure, run = Pruner(args), Measure(args), identity(args)._replace(seed=first.identity.seed)
    unfinished = pruner.unfinished(args.packing, [part, first, args.analysis.seed], code_digest(__file__))
    full, size = measure.full(), kept_count(len(pruner.grid), run.sparsity)
    rounds, number = [measure.judged(1, 0, (), first, None)], 1
    while rounds[-1].faithful(full, part.recovery) and (closed := closed_next(rounds[-1], pruner.grid, size)):
        number += 1
        draw = numpy_generator(args.analysis.seed, "packing", run.ft_seed, number)
        sets = [*(matched_set(closed, pruner.grid, draw) for _ in range(part.packing_controls)), closed]
        runs = [PruningRun(run.sparsity, run.seed, one) for one in sets]
        found = _pruned(pruner, runs, args.prune.together, unfinished / f"round{number}")
        for control, one in enumerate(found, start=1):
            run_ = one.run.closed, pruner.subnetwork(one, run), pd.DataFrame(one.trace)
            rounds.append(measure.judged(number, control % len(sets), *run_))  # 0: the last one
    about = {name: getattr(run, name) for name in ("study", "model", "task", "ft_seed", "step", "sparsity", "seed")}
    write_table("packing", packing(rounds, pruner.grid, full, part.recovery, about), args.packing)
    shutil.rmtree(unfinished)


class Measure:
    """ID accuracy of subnetworks, percent."""

    def __init__(self, args: Namespace):
        self._evaluator, self._analysis, self._controller = Evaluator(args), args.analysis, args.prune.controller

    def full(self) -> float:
        """Of the full model."""
        return self._of(())

    def judged(self, number: int, control: int, closed: Sequence[int], found, trace: pd.DataFrame | None) -> Round:
        """What a pruning run of round `number` has found with the components `closed`: a subnetwork or a failed run.

        trace: of the run; None where it is not known.
        """
        if isinstance(found, FailedRun):
            return Round(number, control, tuple(closed), None, None, found.reason)
        gates, missed = (None, None) if trace is None else end_of(found, trace, self._controller)
        value = self._of(found.removed_from(self._evaluator.model.grid))
        return Round(number, control, tuple(closed), found.kept, value, missed, gates)

    def _of(self, removed: Sequence[int]) -> float:
        return id_accuracy(self._evaluator.without(removed), self._analysis.class_rule, self._analysis.subsets)


def _pruned(pruner: Pruner, runs: Sequence[PruningRun], together: int, state: Path) -> list[Pruned]:
    """What each run learns; `together` of them share a pass. state: path whose name the files of states begin with."""
    found = []
    for k in range(0, len(runs), together):
        found += pruner.prune(runs[k : k + together], state.with_suffix(f".{k}.safetensors"))
    return found


if __name__ == "__main__":
    recorded(main)
