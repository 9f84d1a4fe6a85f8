"""Find subnetworks of a checkpoint with heads closed: the core, or a random set in its place; runs share every pass.

A run of a set that does not exist, as of an empty core, is written as a failed one. Interrupted, it resumes where it
saved last.
"""

import shutil

from heuristic_core.common.threads import use_threads
from heuristic_core.experiments.heuristic_core.analysis.closed_sets import core_heads, sets_beside, why_no_set
from heuristic_core.jobs.arguments import Arguments
from heuristic_core.jobs.pruning_run import Pruner, reads_pruned
from heuristic_core.provenance.digests import code_digest
from heuristic_core.provenance.record import recorded
from heuristic_core.pruning.learner import PruningRun
from heuristic_core.pruning.loop import Pruned
from heuristic_core.tables.parquet import read_table


def main(arguments=None):
    parser = Arguments(__doc__)
    reads_pruned(parser)
    parser.reads(core="the run's core (Parquet)")
    parser.add_argument("--sets", type=int, nargs="+", required=True, metavar="N", help="0: the core; k: random set k")
    parser.add_argument("--seeds", type=int, nargs="+", required=True, metavar="N", help="pruning seed of each set")
    parser.add_argument("--control-sets", type=int, required=True, metavar="N", help="random sets to draw")
    parser.add_argument("--draw-seed", type=int, required=True, metavar="N", help="seed of the random sets")
    parser.writes(
        "+",
        subnetworks="where to write each run's subnetwork (JSON)",
        traces="where to write the trace of each run's pruning (Parquet)",
    )
    parser.one_each("seeds", "sets", "subnetworks", "traces")
    parser.device(precision=False)
    args = parser.read(arguments)
    use_threads(1)
    pruner, core = Pruner(args), core_heads(read_table(args.core))
    others = sets_beside(core, pruner.grid, args.control_sets, args.draw_seed)
    closed = [dict(enumerate([core, *others])).get(number) or () for number in args.sets]
    runs = [PruningRun(pruner.cell.sparsity, *run) for run in zip(args.seeds, closed, strict=True)]
    unfinished = pruner.unfinished(args.subnetworks[0], runs, code_digest(__file__))
    wanted = [run for run in runs if run.closed]
    found = iter(pruner.prune(wanted, unfinished / "state.safetensors") if wanted else [])
    for run, number, subnetwork, trace in zip(runs, args.sets, args.subnetworks, args.traces, strict=True):
        absent = why_no_set(core, pruner.grid, number, len(others))
        one = next(found) if run.closed else Pruned(run, None, [], absent)
        pruner.save(one, pruner.cell._replace(seed=run.seed), subnetwork, trace)
    shutil.rmtree(unfinished)


if __name__ == "__main__":
    recorded(main)
