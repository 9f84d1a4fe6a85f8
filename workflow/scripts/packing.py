"""How many subnetworks fit into a model side by side: find one, close its heads, and repeat while one is faithful.

Beside every round run random ones: as many heads of the same layers are closed, whichever they are. Interrupted, it
resumes where it saved last.
"""

import shutil

import pandas as pd

from heuristic_core.analysis.closed_sets import matched_set
from heuristic_core.analysis.frames import numpy_generator
from heuristic_core.analysis.levels import levels
from heuristic_core.analysis.packing import Round, packing
from heuristic_core.common.threads import use_threads
from heuristic_core.config.analysis import Analysis
from heuristic_core.config.mechanism import Mechanism
from heuristic_core.jobs.arguments import Arguments, identity
from heuristic_core.jobs.evaluator import Evaluator
from heuristic_core.jobs.pruning_run import Pruner, reads_pruned
from heuristic_core.models.components import kept_count
from heuristic_core.provenance.digests import code_digest
from heuristic_core.provenance.record import recorded
from heuristic_core.pruning.learner import PruningRun
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
    part, analysis, first = args.mechanism.core_free, args.analysis, load_run(args.first)
    pruner, evaluator, run = Pruner(args), Evaluator(args), identity(args)._replace(seed=first.identity.seed)
    unfinished = pruner.unfinished(args.packing, [part, run], code_digest(__file__))
    count = kept_count(len(pruner.grid), run.sparsity)

    def measured(removed) -> float:
        scores = evaluator.scores(evaluator.without(removed)).assign(model=0)
        rows = levels(scores[scores["group"] == "id"], ["model"], _of_id(analysis.subsets, scores))
        return float(rows.loc[rows["subset"].isna() & rows["family"].isna(), "accuracy"].iloc[0])

    def judged(number: int, control: int, closed, found) -> Round:
        if isinstance(found, FailedRun):
            return Round(number, control, closed, None, None, found.reason)
        return Round(number, control, closed, found.kept, measured(found.removed_from(pruner.grid)))

    full = measured([])
    rounds, own, closed = [judged(1, 0, (), first)], first, ()
    while not isinstance(own, FailedRun) and rounds[-1].faithful(full, part.recovery):
        closed = tuple(sorted({*closed, *(head for head in own.kept if head < pruner.grid.layers * pruner.grid.heads)}))
        number = rounds[-1].number + 1
        if len(pruner.grid) - len(closed) < count:
            break
        draw, state = numpy_generator(analysis.seed, "packing", run.ft_seed, number), unfinished / f"round{number}"
        sets = [closed, *(matched_set(closed, pruner.grid, draw) for _ in range(part.packing_controls))]
        found = pruner.prune([PruningRun(run.sparsity, run.seed, one) for one in sets], state)
        subnetworks = [pruner.subnetwork(one, run) for one in found]
        pairs = zip(sets, subnetworks, strict=True)
        of_round = [judged(number, control, one, subnetwork) for control, (one, subnetwork) in enumerate(pairs)]
        rounds += [*of_round[1:], of_round[0]]
        own = subnetworks[0]
    about = {name: getattr(run, name) for name in ("study", "model", "task", "ft_seed", "step", "sparsity", "seed")}
    write_table("packing", packing(rounds, pruner.grid, full, part.recovery, about), args.packing)
    shutil.rmtree(unfinished)


def _of_id(subsets, scores: pd.DataFrame):
    """The ID subsets among those that enter means; None for all."""
    known = set(scores.loc[scores["group"] == "id", "subset"])
    return [name for name in subsets if name in known] if subsets else None


if __name__ == "__main__":
    recorded(main)
